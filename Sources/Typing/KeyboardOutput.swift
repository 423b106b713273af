// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import SystemPackage
import Texts

/// Where the keystrokes go: a keyboard of the kernel, or a screen that shows what a reader would see of one.
///
/// The characters are counted where somebody may want to delete them.
final class KeyboardOutput: KeyboardDevice {
    private enum Place: ~Copyable {
        case kernel(UInputDevice)
        case screen(TextKeyboard)
    }

    private let place: Place
    /// What the keys leave in a field; nil where nobody asks.
    private let field: TypedField?

    /// The screen, where there is one; else a keyboard with the keys that the settings reach.
    init(_ settings: TypingSettings, screen: TextKeyboard?, field: TypedField?) throws(CommandFailure) {
        self.field = field
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
        let result =
            switch place {
            case .kernel(let device): try device.write(events)
            case .screen(let keyboard): try keyboard.write(events)
            }
        // After the write, which readers wait for.
        if let field, case .done(let bytes) = result { field.take(events.extracting(first: bytes)) }
        return result
    }
}
