// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import SystemPackage
import Texts

/// Where the keystrokes go: a keyboard of the kernel, or a screen that shows what a reader would see of one.
final class KeyboardOutput: KeyboardDevice {
    private enum Place: ~Copyable {
        case kernel(UInputDevice)
        case screen(TextKeyboard)
    }

    private let place: Place

    /// The screen, where there is one; else a keyboard with the keys that the settings reach.
    init(_ settings: TypingSettings, screen: TextKeyboard?) throws(CommandFailure) {
        if let screen {
            place = .screen(screen)
            return
        }
        let keys = try settings.declaredKeys()
        do {
            place = .kernel(
                try UInputDevice(
                    name: "blewedge keyboard",
                    keyCodes: keys.codes.map(\.rawValue),
                    hasCapsLockLight: settings.capsLock == .auto
                )
            )
        } catch {
            throw CommandFailure(makingKeyboard: error)
        }
    }

    /// The event node where readers find it; nil where there is none.
    var eventNode: String? {
        switch place {
        case .kernel(let device): device.eventNode
        case .screen: nil
        }
    }

    /// What the keyboard's lights say; nil where it has none.
    func lights() throws(Errno) -> KeyboardLights? {
        switch place {
        case .kernel(let device): try device.lights()
        case .screen: nil
        }
    }

    func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        switch place {
        case .kernel(let device): try device.write(events)
        case .screen(let keyboard): try keyboard.write(events)
        }
    }
}
