// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import SystemPackage

/// The keyboard's lights on the event loop: says to the typist whether CapsLock is on.
///
/// To be used on the loop's thread.
final class LightWatch {
    /// Where it is said.
    let capsLock = CapsLockLight()

    private let loop: EventLoop
    private var lights: KeyboardLights
    private var registration: EventLoop.Registration?

    /// Begins to watch, and takes what was told since the keyboard was made.
    init(_ lights: consuming KeyboardLights, on loop: EventLoop) throws(Errno) {
        self.loop = loop
        self.lights = lights
        registration = try loop.watch(self.lights.descriptor, for: .readable) { [unowned self] _ in read() }
        read()
    }

    /// Stops watching: the keyboard is gone.
    func end() {
        if let registration { loop.unwatch(registration, lights.descriptor) }
        registration = nil
    }

    private func read() {
        do throws(Errno) {
            if let isOn = try lights.readCapsLock() { capsLock.set(isOn) }
        } catch {
            // The keyboard is gone: nothing more comes.
            end()
        }
    }
}
