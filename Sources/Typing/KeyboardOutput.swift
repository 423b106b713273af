// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import SystemPackage

/// Destination of the keystrokes: a virtual keyboard of the kernel, or a screen that shows the resulting text.
///
/// It counts the typed characters if clients may delete them.
final class KeyboardOutput: KeyboardDevice {

    private enum Place: ~Copyable {
        case kernel(UInputDevice)
        case screen(TextKeyboard)
        case other(any KeyboardDevice)
    }

    private let place: Place
    /// Length of the text in the focused field; nil if clients may not delete it.
    private let field: TypedField?

    init(_ device: any KeyboardDevice, field: TypedField?) {
        self.field = field
        place = .other(device)
    }

    /// Uses the screen if there is one; otherwise creates a keyboard that declares the keys that the settings require.
    init(_ settings: TypingSettings, screen: TextKeyboard?, field: TypedField?) throws(KeyboardError) {
        self.field = field
        if let screen {
            place = .screen(screen)
            return
        }
        let keys = try settings.declaredKeys()
        do {
            place = .kernel(
                try UInputDevice(
                    name: VirtualKeyboard.name,
                    keyCodes: keys.codes.map(\.rawValue),
                    axes: settings.pacer.pace.queue.axes,
                    hasCapsLockLight: settings.capsLock == .auto
                )
            )
        } catch {
            throw .notMade(error)
        }
    }

    var eventNode: String? {
        switch place {
        case .kernel(let device): device.eventNode
        case .screen: nil
        case .other: nil
        }
    }

    func lights() throws(Errno) -> KeyboardLights? {
        switch place {
        case .kernel(let device): try device.lights()
        case .screen: nil
        case .other: nil
        }
    }

    func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        let result =
            switch place {
            case .kernel(let device): try device.write(events)
            case .screen(let keyboard): try keyboard.write(events)
            case .other(let keyboard): try keyboard.write(events)
            }
        // Count after the write, so that counting does not delay applications.
        if let field, case .done(let bytes) = result { field.take(events.extracting(first: bytes)) }
        return result
    }
}
