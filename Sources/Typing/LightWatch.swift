// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import SystemPackage

/// Watcher of the keyboard's lights on the event loop, which tracks the CapsLock state for the typist.
final class LightWatch {
    /// CapsLock state, as read by the typist.
    let capsLock: CapsLockLight

    /// True if other watchers set the same state, each for the events that it reads.
    private let isShared: Bool
    private let loop: EventLoop
    private var lights: KeyboardLights
    private var registration: EventLoop.Registration?

    /// Creates a watcher, which applies the changes since the keyboard was created and waits for more.
    ///
    /// `shared` is the state that several watchers of one keyboard set; they must use the same loop.
    init(_ lights: consuming KeyboardLights, on loop: EventLoop, shared: CapsLockLight? = nil) throws(Errno) {
        self.loop = loop
        capsLock = shared ?? CapsLockLight()
        isShared = shared != nil
        self.lights = lights
        registration = try loop.watch(self.lights.descriptor, for: .readable) { [unowned self] _ in read() }
        read()
    }

    /// Switches to the lights of a replacement keyboard, which are initially off.
    ///
    /// A shared state is not reset, because another watcher may already have read an event of the replacement.
    func follow(_ lights: consuming KeyboardLights) throws(Errno) {
        end()
        self.lights = lights
        if !isShared { capsLock.set(false) }
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
            // The keyboard was removed, so there will be no more changes.
            end()
        }
    }
}

/// Handling of letters while CapsLock is on.
package enum CapsLockPolicy: String, CaseIterable, Sendable {
    /// The keyboard has a CapsLock light; while the light is on, letters are typed with Shift inverted.
    case auto
    /// The keyboard has no light, and CapsLock is assumed to be off.
    case ignore
}
