// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
import LinuxIO
import Synchronization

/// Length of the text that was typed into the focused field for the device and for clients (HK-5).
///
/// It is computed from the events that the keyboard accepted, so rejected, discarded and unsent keys do not count. Only
/// one thread at a time types; any thread may read the length.
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

    /// Number of characters in the field that were typed by this program.
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

/// Effect of each key on a field, for a given layout.
package struct KeyEffects: Sendable {
    /// Number of key codes in the table; the code of every key that the keyboard may declare is smaller.
    private static let codes = 256
    private static let modifiers: [KeyModifiers] = [.shift, .altGr, .control, .alt, .meta]

    /// Effects, indexed by the held modifiers and then by the key.
    private var effects: [FieldLength.Effect]
    private let held: [UInt16: KeyModifiers]

    /// Creates a table of the effects of all keys under `layout`.
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
        // A dead key inserts nothing until the next key.
        for strokes in typed { for stroke in strokes.dropLast() { set(stroke, .change(0)) } }
    }

    /// Effect of a key pressed while these modifiers are held; `leave` for an unknown key.
    package subscript(code: UInt16, held: KeyModifiers) -> FieldLength.Effect {
        Self.index(code, held).map { effects[$0] } ?? .leave
    }

    /// Returns the modifier of a key; nil if the key is not a modifier.
    package func modifier(_ code: UInt16) -> KeyModifiers? { held[code] }

    private mutating func set(_ stroke: KeyboardLayout.Stroke, _ effect: FieldLength.Effect) {
        if let index = Self.index(stroke.key.rawValue, stroke.modifiers) { effects[index] = effect }
    }

    private static func index(_ code: UInt16, _ held: KeyModifiers) -> Int? {
        guard code < codes, held.rawValue < 1 << modifiers.count else { return nil }
        return Int(held.rawValue) * codes + Int(code)
    }
}

/// Number of characters that this program has typed into the field, which `clear` may delete (HK-5).
///
/// It never exceeds the number of this program's characters in the field, as far as the typed keys show. After Enter,
/// Tab or Escape it is 0, because the next field may contain other text. After keys that might delete text, it may be
/// too small.
package struct FieldLength: Equatable, Sendable {
    /// Maximum count, and therefore the maximum number of Backspaces in one `clear`.
    package static let most = 1000

    package private(set) var characters = 0

    /// Creates the length of a field that contains no text from this program.
    package init() {}

    /// Effect of a key on the field.
    package enum Effect: Equatable, Sendable {
        /// Adds this number of characters, or removes them if negative.
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
            // With Ctrl, Alt or Meta, the key is a command, whose effect is unknown.
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
