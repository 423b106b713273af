// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
import LinuxIO
import Synchronization

/// What the keys that were pressed have left in the field that has the focus, whoever asked for them: the device, or a client
/// (HK-5).
///
/// It reads the events that the keyboard has taken, so what was refused, dropped or never sent is not in it. One thread at a
/// time types; any may ask.
package final class TypedField: Sendable {
    private struct State: Sendable {
        var length = FieldLength()
        var held = KeyModifiers()
    }

    private let effects: KeyEffects
    private let state = Mutex(State())

    /// An empty field before readers for whom keys do that.
    package init(_ effects: KeyEffects) {
        self.effects = effects
    }

    /// How many characters in it are ours.
    package var characters: Int { state.withLock { $0.length.characters } }

    /// Takes events that the keyboard has taken.
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

/// What each key does to a field where the reader uses a certain layout.
package struct KeyEffects: Sendable {
    /// The keys that keyboards here may declare have less.
    private static let codes = 256
    private static let modifiers: [KeyModifiers] = [.shift, .altGr, .control, .alt, .meta]

    /// By the modifiers, and for each by the key.
    private var effects: [FieldLength.Effect]
    private let held: [UInt16: KeyModifiers]

    /// The effects for readers who use `layout`.
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
        // A dead key shows nothing before the next key has come.
        for strokes in typed { for stroke in strokes.dropLast() { set(stroke, .change(0)) } }
    }

    /// What a press of the key does while those are held; one that is not known leaves the field.
    package subscript(code: UInt16, held: KeyModifiers) -> FieldLength.Effect {
        Self.index(code, held).map { effects[$0] } ?? .leave
    }

    /// The modifier whose key this is; nil for any other.
    package func modifier(_ code: UInt16) -> KeyModifiers? { held[code] }

    private mutating func set(_ stroke: KeyboardLayout.Stroke, _ effect: FieldLength.Effect) {
        if let index = Self.index(stroke.key.rawValue, stroke.modifiers) { effects[index] = effect }
    }

    private static func index(_ code: UInt16, _ held: KeyModifiers) -> Int? {
        guard code < codes, held.rawValue < 1 << modifiers.count else { return nil }
        return Int(held.rawValue) * codes + Int(code)
    }
}
