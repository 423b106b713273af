// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import SystemPackage

/// The reader of the keyboard's lights on the event loop, which tells the typist if CapsLock is on.
final class LightWatch {
    /// The state of the CapsLock light, which the typist reads.
    let capsLock = CapsLockLight()

    private let loop: EventLoop
    private var lights: KeyboardLights
    private var registration: EventLoop.Registration?

    /// Reads the changes since the keyboard was made, and watches for more.
    init(_ lights: consuming KeyboardLights, on loop: EventLoop) throws(Errno) {
        self.loop = loop
        self.lights = lights
        registration = try loop.watch(self.lights.descriptor, for: .readable) { [unowned self] _ in read() }
        read()
    }

    /// Watches the lights of another keyboard instead, which begin dark.
    func follow(_ lights: consuming KeyboardLights) throws(Errno) {
        end()
        self.lights = lights
        capsLock.set(false)
        registration = try loop.watch(self.lights.descriptor, for: .readable) { [unowned self] _ in read() }
        read()
    }

    func end() {
        if let registration { loop.unwatch(registration, lights.descriptor) }
        registration = nil
    }

    private func read() {
        do throws(Errno) {
            if let isOn = try lights.readCapsLock() { capsLock.set(isOn) }
        } catch {
            // The keyboard was removed: no more changes follow.
            end()
        }
    }
}

/// The handling of letters while CapsLock is on.
package enum CapsLockPolicy: String, CaseIterable, Sendable {
    /// The keyboard has a CapsLock light; while the light is on, letters are typed with Shift inverted.
    case auto
    /// The keyboard has no light, and CapsLock is taken to be off.
    case ignore
}
