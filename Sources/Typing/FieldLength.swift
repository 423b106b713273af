// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes

/// How many characters this program has typed into the field that has the focus: what `clear` may delete (HK-5).
///
/// Never more than there are of ours, as far as keys tell: Enter, Tab and Escape leave the field, so what stands in it then
/// is somebody else's. Fewer where a key may have deleted something.
package struct FieldLength: Equatable, Sendable {
    /// The most that are counted, and so the most Backspaces of one `clear`.
    package static let most = 1000

    /// The characters so far.
    package private(set) var characters = 0

    /// An empty field, or one whose contents are not ours.
    package init() {}

    /// What a key does to the field.
    package enum Effect: Equatable, Sendable {
        /// So many characters more, or fewer.
        case change(Int)
        /// The field is left, or nothing is known of it any more.
        case leave
    }

    /// Takes what was typed.
    package mutating func take(_ effect: Effect) {
        switch effect {
        case .change(let count):
            characters = max(0, min(Self.most, characters &+ max(-Self.most, min(Self.most, count))))
        case .leave: characters = 0
        }
    }
}

extension FieldLength.Effect {
    /// What a step does.
    package init(_ step: ByteTable.Step) {
        switch step {
        case .character(_, let modifiers):
            // With Ctrl, Alt or Meta it is a command, and what that does is not known.
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
