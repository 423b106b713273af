// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes

/// A text that one key or command types, and where the cursor stands afterwards (HK-1, HK-2).
package struct Snippet: Equatable, Sendable {
    /// What it is called by.
    package let title: String
    /// What it types: any characters, a line feed for Enter, a tab for Tab.
    package let text: String
    /// How often Left is pressed after the text.
    package let leftPresses: Int
    /// The barcode that types it, in its stead; nil where only people do.
    package let received: [UInt8]?

    /// The most characters of a title, and of a text.
    package static let longestTitle = 64
    /// The most characters of a text.
    package static let longestText = 1024
    /// The most bytes of the barcode that types it.
    package static let longestReceived = 256

    /// Text between or behind which the input goes, in the order in which it is looked for (HK-2).
    private static let inputPoints = ["]", "://", "=\"", ">"]

    /// A snippet of plain text: the cursor goes to the text's input point, or stays behind the text.
    package init(title: String, text: String, received: [UInt8]? = nil) {
        self.title = title
        self.text = text
        self.received = received
        leftPresses = Self.leftPresses(in: text) ?? 0
    }

    /// A snippet of an opening and a closing text (HK-3): the cursor goes to the input point of both together, or else
    /// between them.
    package init(title: String, opening: String, closing: String, received: [UInt8]? = nil) {
        self.title = title
        self.received = received
        text = opening + closing
        leftPresses = Self.leftPresses(in: text) ?? Self.presses(over: closing)
    }

    /// How often Left is pressed to go from the text's end to its input point: behind the first of `]`, `://`, `="` and
    /// `>`, in this order, that the text has, where it has it first; nil for a text without any.
    package static func leftPresses(in text: String) -> Int? {
        // By scalars: a mark behind a sign does not hide it.
        let scalars = Array(text.unicodeScalars)
        for point in inputPoints {
            let wanted = Array(point.unicodeScalars)
            for start in scalars.indices where scalars[start...].starts(with: wanted) {
                var rest = ""
                rest.unicodeScalars.append(contentsOf: scalars[(start + wanted.count)...])
                return presses(over: rest)
            }
        }
        return nil
    }

    /// What is typed: the text, then the way to the input point.
    ///
    /// `canMove` is false for a keyboard that has no Left: then the cursor stays behind the text.
    package func steps(canMove: Bool = true) -> [ByteTable.Step] {
        // CR LF is one character, and one Enter.
        let typed = text.flatMap { character -> [ByteTable.Step] in
            if ["\n", "\r", "\r\n"].contains(character) { return [.key(.enter, [])] }
            if character == "\t" { return [.key(.tab, [])] }
            return character.unicodeScalars.map { .character($0, []) }
        }
        guard canMove, let left = KeyCode(name: "left") else { return typed }
        return typed + Array(repeating: .key(left, []), count: leftPresses)
    }

    /// A press of Left goes over one character, whatever it is made of.
    private static func presses(over text: String) -> Int { text.count }
}
