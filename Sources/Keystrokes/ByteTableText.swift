// SPDX-License-Identifier: GPL-2.0-or-later

// The text form of a byte table, one line a rule:
//
//     # what follows a number sign is a comment
//     base = linble                 the meaning of bytes not named here: linble (if not said), strict, discard
//     0x41 = text "b"
//     0x0d = key enter
//     0x00-0x1f = discard           a run of bytes; later lines stand above earlier ones

extension ByteTable {
    /// Why a table's text was refused.
    public struct TextError: Error, Equatable, Sendable, CustomStringConvertible {
        /// The line, counted from 1.
        public var line: Int
        /// The column of the fault, counted in characters from 1.
        public var column: Int
        /// What is wrong, in words.
        public var reason: String

        /// Line, column and reason: `line 3, column 8: unknown key "entr"`.
        public var description: String { "line \(line), column \(column): \(reason)" }
    }

    /// The most bytes of a table's text.
    public static let largestText = 64 * 1024

    /// Reads a table from its text, UTF-8 of at most `largestText` bytes.
    public init(text: String) throws(TextError) {
        guard text.utf8.count <= Self.largestText else {
            throw TextError(line: 1, column: 1, reason: "longer than \(Self.largestText) bytes")
        }
        self = .linble
        var isFirst = true
        var number = 0
        for line in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false) {
            number += 1
            var words = LineWords(line, number: number)
            guard !words.isAtEnd else { continue }
            try read(&words, isFirst: isFirst)
            isFirst = false
        }
    }

    /// The table's text, which reads as the same table: its difference from `discard`, runs of bytes joined.
    public var text: String {
        var lines = ["base = discard"]
        var first = 0
        while first < 256 {
            let action = self[UInt8(truncatingIfNeeded: first)]
            var last = first
            while last < 255, self[UInt8(truncatingIfNeeded: last + 1)] == action { last += 1 }
            let left = Self.written(UInt8(truncatingIfNeeded: first))
            let right = Self.written(UInt8(truncatingIfNeeded: last))
            if action != .discard {
                lines.append("\(first == last ? left : "\(left)-\(right)") = \(Self.written(action))")
            }
            first = last + 1
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A byte as the text has it: `0x0d`.
    static func written(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return "0x" + (digits.utf8.count == 1 ? "0" : "") + digits
    }

    private static func written(_ action: Action) -> String {
        switch action {
        case .discard: return "discard"
        case .key(let key): return "key \(key)"
        case .text("\""): return #"text "\"""#
        case .text("\\"): return #"text "\\""#
        case .text(let character) where character.value < 0x20 || character.value >= 0x7F:
            return #"text "\u{"# + String(character.value, radix: 16) + #"}""#
        case .text(let character): return "text \"\(character)\""
        }
    }

    private mutating func read(_ words: inout LineWords, isFirst: Bool) throws(TextError) {
        let subject = words.word()
        if subject.text == "base" {
            guard isFirst else { throw words.error(at: subject, "base must come before every other line") }
            try words.sign("=")
            let name = words.word()
            guard let table = ByteTable(named: name.text) else {
                let names = Self.builtIn.map(\.name).joined(separator: ", ")
                throw words.error(at: name, "unknown base \(name.quoted); known are \(names)")
            }
            self = table
        } else {
            let first = try words.byte(subject)
            var last = (subject, first)
            if words.takes("-") {
                let word = words.word()
                last = (word, try words.byte(word))
            }
            guard first <= last.1 else { throw words.error(at: last.0, "the run ends before it begins") }
            try words.sign("=")
            let action = try Self.action(&words)
            for byte in first...last.1 { self[byte] = action }
        }
        guard words.isAtEnd else { throw words.error(at: words.word(), "nothing may follow here but a comment") }
    }

    private static func action(_ words: inout LineWords) throws(TextError) -> Action {
        let verb = words.word()
        switch verb.text {
        case "discard": return .discard
        case "text": return .text(try words.character())
        case "key":
            let name = words.word()
            guard let key = KeyCode(name: name.text) else { throw words.error(at: name, "unknown key \(name.quoted)") }
            return .key(key)
        default: throw words.error(at: verb, "\(verb.quoted) is none of discard, text, key")
        }
    }
}

/// The words of one line of a table's text, taken one by one.
private struct LineWords {
    /// A word and where it stands; empty where another sign or the line's end stands.
    struct Word {
        var text: String
        var column: Int
        var quoted: String { text.isEmpty ? "nothing" : "\"\(text)\"" }
    }

    private let characters: [Unicode.Scalar]
    private let number: Int
    private var index = 0

    init(_ line: Substring.UnicodeScalarView, number: Int) {
        characters = Array(line)
        self.number = number
    }

    /// True when only spaces and a comment are left.
    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return index == characters.count || characters[index] == "#"
        }
    }

    /// The next run of letters and digits; empty if there is none.
    mutating func word() -> Word {
        skipSpace()
        let start = index
        while index < characters.count, Self.isWord(characters[index]) { index += 1 }
        return Word(text: text(start..<index), column: start + 1)
    }

    /// Takes a sign if it comes next.
    mutating func takes(_ sign: Unicode.Scalar) -> Bool {
        skipSpace()
        guard index < characters.count, characters[index] == sign else { return false }
        index += 1
        return true
    }

    /// Takes a sign that must come next.
    mutating func sign(_ sign: Unicode.Scalar) throws(ByteTable.TextError) {
        guard !takes(sign) else { return }
        throw error(column: index + 1, "\"\(sign)\" expected")
    }

    /// A byte's value: `0x` and one or two hexadecimal digits.
    func byte(_ word: Word) throws(ByteTable.TextError) -> UInt8 {
        let digits = word.text.dropFirst(2)
        guard word.text.hasPrefix("0x"), 1...2 ~= digits.utf8.count, let byte = UInt8(digits, radix: 16) else {
            throw error(at: word, "\(word.quoted) is no byte; write it as 0x0d")
        }
        return byte
    }

    /// One character in quotation marks; `\"`, `\\` and `\u{…}` stand for what cannot be written itself.
    mutating func character() throws(ByteTable.TextError) -> Unicode.Scalar {
        try sign("\"")
        let column = index + 1
        guard index < characters.count, characters[index] != "\"" else {
            throw error(column: column, "one character expected")
        }
        var character = characters[index]
        index += 1
        if character == "\\" { character = try escaped(column: column) }
        guard index < characters.count, characters[index] == "\"" else {
            throw error(column: index + 1, "exactly one character and then \" expected")
        }
        index += 1
        return character
    }

    private mutating func escaped(column: Int) throws(ByteTable.TextError) -> Unicode.Scalar {
        guard index < characters.count else { throw error(column: column, "a character expected after \\") }
        let kind = characters[index]
        index += 1
        if kind == "\"" || kind == "\\" { return kind }
        guard kind == "u", takes("{") else { throw error(column: column, "unknown escape; known are \\\" \\\\ \\u{…}") }
        let digits = word().text
        guard digits.utf8.count <= 6, let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value),
            takes("}")
        else { throw error(column: column, "no character has this number") }
        return scalar
    }

    /// An error where a word stands.
    func error(at word: Word, _ reason: String) -> ByteTable.TextError { error(column: word.column, reason) }

    private func error(column: Int, _ reason: String) -> ByteTable.TextError {
        ByteTable.TextError(line: number, column: column, reason: reason)
    }

    private mutating func skipSpace() {
        while index < characters.count, [" ", "\t", "\r"].contains(characters[index]) { index += 1 }
    }

    private func text(_ range: Range<Int>) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: characters[range])
        return text
    }

    private static func isWord(_ character: Unicode.Scalar) -> Bool {
        switch character {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }
}
