// SPDX-License-Identifier: GPL-2.0-or-later

/// Ids of Tests/Vectors/requirements.txt that a text cites: one or two capital letters, a hyphen, a number and an
/// optional lowercase letter, or a `T` with a number.
///
/// For ranges such as `HK-1 … HK-5`, `HK-1 to HK-5` and `T17-T21`, only both ends are found.
struct CitedIdentifiers {
    /// Occurrence of an id in the text.
    struct Citation: Hashable {
        /// The id, such as `D-1a` or `T14`.
        let identifier: String
        /// The number of its line, counted from 1.
        let line: Int
    }

    /// Prefixes of other identifiers: test cases of the Bluetooth SIG (`BV-01-C`, `BI-05-C`), a module (HM-10), a table
    /// (G-1).
    static let foreignKinds: Set<String> = ["BI", "BV", "G", "HM"]

    /// The citations in the order of the text.
    private(set) var citations: [Citation] = []

    /// Finds the citations in a text.
    init(_ text: [UInt8]) {
        var line = 1
        var position = 0
        while position < text.count {
            let byte = text[position]
            if byte == UInt8(ascii: "\n") { line += 1 }
            guard Self.isWordByte(byte) else {
                position += 1
                continue
            }
            let word = Self.word(text, at: position)
            position += word.count
            let kind = String(decoding: word, as: UTF8.self)
            if Self.isAttack(word) {
                citations.append(Citation(identifier: kind, line: line))
            } else if Self.isKind(word), !Self.foreignKinds.contains(kind), position < text.count,
                text[position] == UInt8(ascii: "-"),
                let number = Self.number(Self.word(text, at: position + 1))
            {
                citations.append(Citation(identifier: kind + "-" + number, line: line))
            }
        }
    }

    private static func word(_ text: [UInt8], at position: Int) -> ArraySlice<UInt8> {
        text[min(position, text.count)...].prefix(while: isWordByte)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || isCapital(byte) || isSmall(byte) || byte == UInt8(ascii: "_")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private static func isCapital(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") }

    private static func isSmall(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") }

    private static func isKind(_ word: ArraySlice<UInt8>) -> Bool { word.count <= 2 && word.allSatisfy(isCapital) }

    private static func isAttack(_ word: ArraySlice<UInt8>) -> Bool {
        word.first == UInt8(ascii: "T") && (2...3).contains(word.count) && word.dropFirst().allSatisfy(isDigit)
    }

    /// Returns a number of one or two digits with an optional lowercase letter; nil for anything else.
    private static func number(_ word: ArraySlice<UInt8>) -> String? {
        let digits = word.prefix(while: isDigit)
        let rest = word.dropFirst(digits.count)
        guard (1...2).contains(digits.count), rest.count <= 1, rest.allSatisfy(isSmall) else { return nil }
        return String(decoding: word, as: UTF8.self)
    }
}
