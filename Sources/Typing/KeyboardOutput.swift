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
        case lane(KeyboardLane)
        case other(any KeyboardDevice)
    }

    private let place: Place
    /// Length of the text in the focused field; nil if clients may not delete it.
    private let field: TypedField?

    init(_ device: any KeyboardDevice, field: TypedField?) {
        self.field = field
        place = .other(device)
    }

    /// Uses a shared keyboard, which counts the typed characters of all lanes.
    init(_ lane: KeyboardLane) {
        field = nil
        place = .lane(lane)
    }

    /// Uses the screen if there is one; otherwise creates a keyboard that declares the keys that the settings require.
    ///
    /// The name of the keyboard is that of the first settings.
    init(_ settings: [TypingSettings], screen: TextKeyboard?, field: TypedField?) throws(KeyboardError) {
        self.field = field
        if let screen {
            place = .screen(screen)
            return
        }
        let keys = try TypingSettings.declaredKeys(of: settings)
        // The larger queue suits paces for both: a pace for the smaller one writes fewer events.
        let queue = settings.map(\.pacer.pace.queue).max { $0.size < $1.size }
        do {
            place = .kernel(
                try UInputDevice(
                    name: settings.first?.name ?? VirtualKeyboard.name,
                    keyCodes: keys.codes.map(\.rawValue),
                    axes: queue?.axes ?? [],
                    hasCapsLockLight: settings.contains { $0.capsLock == .auto }
                )
            )
        } catch {
            throw .notMade(error)
        }
    }

    var eventNode: String? {
        switch place {
        case .kernel(let device): device.eventNode
        case .lane(let lane): lane.eventNode
        case .screen: nil
        case .other: nil
        }
    }

    func lights() throws(Errno) -> KeyboardLights? {
        switch place {
        case .kernel(let device): try device.lights()
        case .lane(let lane): try lane.lights()
        case .screen: nil
        case .other: nil
        }
    }

    func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        let result =
            switch place {
            case .kernel(let device): try device.write(events)
            case .lane(let lane): try lane.write(events)
            case .screen(let keyboard): try keyboard.write(events)
            case .other(let keyboard): try keyboard.write(events)
            }
        // Count after the write, so that counting does not delay applications.
        if let field, case .done(let bytes) = result { field.take(events.extracting(first: bytes)) }
        return result
    }
}
