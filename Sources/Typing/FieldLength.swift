// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes

/// The number of characters that this program has typed into the field with the focus, which `clear` may delete
/// (HK-5).
///
/// It never exceeds the number of this program's characters in the field, as far as its keys tell: after Enter, Tab
/// or Escape it is 0, because the next field may hold other text. It is too small after keys that may delete.
package struct FieldLength: Equatable, Sendable {
    /// The most characters that are counted, and so the most Backspaces of one `clear`.
    package static let most = 1000

    /// The number of characters.
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

    /// Applies the effect of a key.
    package mutating func take(_ effect: Effect) {
        switch effect {
        case .change(let count):
            characters = max(0, min(Self.most, characters &+ max(-Self.most, min(Self.most, count))))
        case .leave: characters = 0
        }
    }
}

extension FieldLength.Effect {
    /// The effect of a step.
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
