// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import SystemPackage
import Texts

/// The receiver of the keystrokes: a virtual keyboard of the kernel, or a screen that shows the text that they make.
final class KeyboardOutput: KeyboardDevice {
    private enum Place: ~Copyable {
        case kernel(UInputDevice)
        case screen(TextKeyboard)
    }

    private let place: Place

    /// Takes the screen if there is one; makes a keyboard that declares the keys of the settings otherwise.
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

    /// The path of the keyboard's event node; nil if there is none.
    var eventNode: String? {
        switch place {
        case .kernel(let device): device.eventNode
        case .screen: nil
        }
    }

    /// The lights of the keyboard; nil if it has none.
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
