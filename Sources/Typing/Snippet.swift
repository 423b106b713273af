// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes

/// A text that a key or a command types, with the position of the cursor after it (HK-1, HK-2).
package struct Snippet: Equatable, Sendable {
    /// The title, by which the snippet is chosen.
    package let title: String
    /// The text: any characters, with a line feed for Enter and a tab for Tab.
    package let text: String
    /// The number of presses of Left after the text.
    package let leftPresses: Int
    /// The bytes of the barcode in whose place the snippet is typed; nil if clients alone type it.
    package let received: [UInt8]?

    /// The most characters of a title.
    package static let longestTitle = 64
    /// The most characters of a text, counted in Unicode scalars.
    package static let longestText = 1024
    /// The most bytes of the barcode.
    package static let longestReceived = 256

    /// The strings after which the cursor is placed, in the order of the search (HK-2).
    private static let inputPoints = ["]", "://", "=\"", ">"]

    /// Makes a snippet of one text.
    ///
    /// The cursor goes to the input point of the text, or stays after the text.
    package init(title: String, text: String, received: [UInt8]? = nil) {
        self.title = title
        self.text = text
        self.received = received
        leftPresses = Self.leftPresses(in: text) ?? 0
    }

    /// Makes a snippet of an opening and a closing text (HK-3).
    ///
    /// The cursor goes to the input point of both together, or else between them.
    package init(title: String, opening: String, closing: String, received: [UInt8]? = nil) {
        self.title = title
        self.received = received
        text = opening + closing
        leftPresses = Self.leftPresses(in: text) ?? Self.presses(over: closing)
    }

    /// The number of presses of Left from the end of the text to its input point; nil for a text without one.
    ///
    /// The input point follows the first of `]`, `://`, `="` and `>`, in this order, that the text contains, at its
    /// first occurrence.
    package static func leftPresses(in text: String) -> Int? {
        // The search is by Unicode scalars, so that a combining mark after a sign does not hide it.
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

    /// The steps that type the text and move the cursor to the input point.
    ///
    /// `canMove` is false for a keyboard without the Left key; the cursor then stays after the text.
    package func steps(canMove: Bool = true) -> [ByteTable.Step] {
        // CR LF is one character, and one press of Enter.
        let typed = text.flatMap { character -> [ByteTable.Step] in
            if ["\n", "\r", "\r\n"].contains(character) { return [.key(.enter, [])] }
            if character == "\t" { return [.key(.tab, [])] }
            return character.unicodeScalars.map { .character($0, []) }
        }
        guard canMove, let left = KeyCode(name: "left") else { return typed }
        return typed + Array(repeating: .key(left, []), count: leftPresses)
    }

    /// The number of presses of Left to pass over a text: one for each character, however many scalars it has.
    private static func presses(over text: String) -> Int { text.count }
}
