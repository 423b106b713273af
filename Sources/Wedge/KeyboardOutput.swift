// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import SystemPackage

/// Where the keystrokes go: a keyboard of the kernel, or a screen that shows what a reader would see of one.
enum KeyboardOutput: ~Copyable, KeyboardDevice {
    case kernel(UInputDevice)
    case screen(TextKeyboard)

    /// The screen, where there is one; else a keyboard with the keys that the settings reach.
    init(_ settings: KeyboardSettings, screen: TextKeyboard?) throws(CommandFailure) {
        if let screen {
            self = .screen(screen)
            return
        }
        let keys: KeySet
        do {
            keys = try settings.table.keys.union(settings.scans?.keys ?? KeySet())
                .union(settings.keypad?.keys ?? KeySet()).declared(asKeyboard: true)
        } catch {
            throw CommandFailure(
                .configuration,
                KeyboardFaultText.keysForbidden,
                "\(error)"
            )
        }
        do {
            self = .kernel(
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
        switch self {
        case .kernel(let device): device.eventNode
        case .screen: nil
        }
    }

    /// What the keyboard's lights say; nil where it has none.
    func lights() throws(Errno) -> KeyboardLights? {
        switch self {
        case .kernel(let device): try device.lights()
        case .screen: nil
        }
    }

    func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        switch self {
        case .kernel(let device): try device.write(events)
        case .screen(let keyboard): try keyboard.write(events)
        }
    }
}
