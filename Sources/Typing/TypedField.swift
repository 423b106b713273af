// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
import LinuxIO
import Synchronization

/// The length of this program's text in the field with the focus, for the device and for clients (HK-5).
///
/// It reads the events that the keyboard has taken, so that refused, dropped and unsent keys do not count. One thread
/// at a time types; any thread may read the length.
package final class TypedField: Sendable {
    private struct State: Sendable {
        var length = FieldLength()
        var held = KeyModifiers()
    }

    private let effects: KeyEffects
    private let state = Mutex(State())

    package init(_ effects: KeyEffects) {
        self.effects = effects
    }

    /// The number of this program's characters in the field.
    package var characters: Int { state.withLock { $0.length.characters } }

    package func take(_ events: RawSpan) {
        state.withLock { state in
            EventNode.forEach(in: events) { event in
                guard event.type == InputEvent.key else { return }
                if let modifier = effects.modifier(event.code) {
                    if event.value == 0 { state.held.remove(modifier) } else { state.held.insert(modifier) }
                } else if event.value == 1 {
                    state.length.take(effects[event.code, state.held])
                }
            }
        }
    }
}

/// The effect of each key on a field, in a certain layout.
package struct KeyEffects: Sendable {
    /// The number of key codes in the table; the keys that a keyboard here may declare have smaller codes.
    private static let codes = 256
    private static let modifiers: [KeyModifiers] = [.shift, .altGr, .control, .alt, .meta]

    /// The effects, indexed by the held modifiers and then by the key.
    private var effects: [FieldLength.Effect]
    private let held: [UInt16: KeyModifiers]

    /// Makes the effects for readers who use `layout`.
    package init(_ layout: KeyboardLayout) {
        held = Dictionary(
            uniqueKeysWithValues: Self.modifiers.flatMap { modifier in
                modifier.keys.map { ($0.rawValue, modifier) }
            }
        )
        let combinations = 1 << Self.modifiers.count
        effects = (0..<combinations * Self.codes).map { index in
            let key = KeyCode(rawValue: UInt16(index % Self.codes))
            return FieldLength.Effect(.key(key, KeyModifiers(rawValue: UInt8(index / Self.codes))))
        }
        let typed = Array(layout.strokes.values) + Array(layout.capsLockStrokes.values)
        for strokes in typed { if let last = strokes.last { set(last, .change(1)) } }
        // A dead key shows nothing before the next key.
        for strokes in typed { for stroke in strokes.dropLast() { set(stroke, .change(0)) } }
    }

    /// The effect of a key pressed while these modifiers are held; an unknown key leaves the field.
    package subscript(code: UInt16, held: KeyModifiers) -> FieldLength.Effect {
        Self.index(code, held).map { effects[$0] } ?? .leave
    }

    /// The modifier of a key; nil for a key that is none.
    package func modifier(_ code: UInt16) -> KeyModifiers? { held[code] }

    private mutating func set(_ stroke: KeyboardLayout.Stroke, _ effect: FieldLength.Effect) {
        if let index = Self.index(stroke.key.rawValue, stroke.modifiers) { effects[index] = effect }
    }

    private static func index(_ code: UInt16, _ held: KeyModifiers) -> Int? {
        guard code < codes, held.rawValue < 1 << modifiers.count else { return nil }
        return Int(held.rawValue) * codes + Int(code)
    }
}

/// The number of characters that this program has typed into the field, which `clear` may delete (HK-5).
///
/// It never exceeds the number of this program's characters in the field, as far as its keys tell: after Enter, Tab
/// or Escape it is 0, because the next field may hold other text. It is too small after keys that may delete.
package struct FieldLength: Equatable, Sendable {
    /// The most characters that are counted, and so the most Backspaces of one `clear`.
    package static let most = 1000

    package private(set) var characters = 0

    /// Makes the length of an empty field, or of one whose contents are not this program's.
    package init() {}

    /// The effect of a key on the field.
    package enum Effect: Equatable, Sendable {
        /// Adds so many characters, or removes them if negative.
        case change(Int)
        /// Leaves the field, or changes it in an unknown way.
        case leave
    }

    package mutating func take(_ effect: Effect) {
        switch effect {
        case .change(let count):
            characters = max(0, min(Self.most, characters &+ max(-Self.most, min(Self.most, count))))
        case .leave: characters = 0
        }
    }
}

extension FieldLength.Effect {
    package init(_ step: ByteTable.Step) {
        switch step {
        case .character(_, let modifiers):
            // With Ctrl, Alt or Meta it is a command, whose effect is unknown.
            self = modifiers.isSubset(of: [.shift, .altGr]) ? .change(1) : .leave
        case .key(.enter, _), .key(.tab, _): self = .leave
        case .key(.backspace, []): self = .change(-1)
        case .key(let key, []):
            switch key.name {
            case "delete": self = .change(-1)
            case "left", "right", "home", "end": self = .change(0)
            default: self = .leave
            }
        case .key: self = .leave
        }
    }
}
