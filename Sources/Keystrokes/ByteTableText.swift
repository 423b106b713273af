// SPDX-License-Identifier: GPL-2.0-or-later

// Text format of a byte table, one rule per line:
//
//     # text after a number sign is a comment
//     base = linble                 the table for all other bytes: a built-in table, by default linble
//     0x41 = text "b"               one character or several
//     0x0d = key enter
//     0x1d = key ctrl+rightbrace    with shift+, altgr+, ctrl+, alt+, meta+, before a key or a character: ctrl+"]"
//     gs = text "<GS>"              gs is 0x1d, the group separator of GS1 codes; all names are in `ByteName.all`
//     0x02 = macro key f9 text "a"  several of these, one after the other
//     0x00-0x1f = discard           a range of bytes; later lines override earlier ones

extension ByteTable {
    /// Error in the text of a table.
    public struct TextError: Error, Equatable, Sendable, CustomStringConvertible {
        /// Line number, counted from 1.
        public var line: Int
        /// Column of the error, in characters, counted from 1.
        public var column: Int
        /// Description of the error.
        public var reason: String

        /// Line, column and reason: `line 3, column 8: unknown key "entr"`.
        public var description: String { "line \(line), column \(column): \(reason)" }
    }

    /// Maximum size of a table's text, in bytes.
    public static let largestText = 64 * 1024

    /// Parses a table from UTF-8 text of at most `largestText` bytes.
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

    /// Returns a byte as it is written in table files: `0x0d`.
    static func written(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return "0x" + (digits.utf8.count == 1 ? "0" : "") + digits
    }

    private mutating func read(_ words: inout LineWords, isFirst: Bool) throws(TextError) {
        let subject = words.word()
        if subject.text == "base" {
            guard isFirst else { throw words.error(at: subject, "base must come before every other line") }
            try words.sign("=")
            let name = words.name()
            guard let table = ByteTable(named: name.text) else {
                let names = BuiltIn.allCases.map { $0.rawValue }.joined(separator: ", ")
                throw words.error(at: name, "unknown base \(name.quoted); known are \(names)")
            }
            self = table
        } else {
            let first = try words.subject(subject)
            var last = (subject, first)
            if words.takes("-") {
                let word = words.word()
                last = (word, try words.subject(word))
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
        case "text", "key": return .type(try steps(verb, &words, 0))
        case "macro":
            var all: [Step] = []
            repeat {
                let verb = words.word()
                guard ["text", "key"].contains(verb.text) else {
                    throw words.error(at: verb, "\(verb.quoted) is none of text, key")
                }
                all += try steps(verb, &words, all.count)
            } while !words.isAtEnd
            return .type(all)
        default: throw words.error(at: verb, "\(verb.quoted) is none of discard, text, key, macro")
        }
    }

    /// Parses the steps after the word `text` or `key`; `before` is the number of steps that precede them.
    private static func steps(_ verb: LineWords.Word, _ words: inout LineWords, _ before: Int) throws(TextError)
        -> [Step]
    {
        let place = words.place
        let steps: [Step]
        if verb.text == "text" {
            steps = try words.characters().map { .character($0, []) }
        } else {
            steps = [try key(&words)]
        }
        guard before + steps.count <= mostSteps else {
            throw words.error(at: place, "more than \(mostSteps) characters and keys for one byte")
        }
        for step in steps { if let fault = step.fault { throw words.error(at: place, fault) } }
        return steps
    }

    /// Parses a key or a quoted character, preceded by the names of its modifiers.
    private static func key(_ words: inout LineWords) throws(TextError) -> Step {
        var modifiers = KeyModifiers()
        while true {
            if words.isAtQuote {
                let place = words.place
                let characters = try words.characters()
                guard characters.count == 1 else { throw words.error(at: place, "exactly one character expected") }
                return .character(characters[0], modifiers)
            }
            let name = words.word()
            guard words.takes("+") else {
                guard let key = KeyCode(name: name.text) else {
                    throw words.error(at: name, "unknown key \(name.quoted)\(KeyCode.suggestion(for: name.text))")
                }
                return .key(key, modifiers)
            }
            guard let modifier = KeyModifiers(name: name.text) else {
                let names = KeyModifiers.all.map { $0.name }.joined(separator: ", ")
                throw words.error(at: name, "unknown modifier \(name.quoted); known are \(names)")
            }
            guard modifiers.isDisjoint(with: modifier) else {
                throw words.error(at: name, "\(name.text) is there twice")
            }
            modifiers.insert(modifier)
        }
    }
}

extension ByteTable.Action: CustomStringConvertible {
    /// The action as it is written in table files: `text "<GS>"`.
    public var description: String {
        guard case .type(let steps) = self, !steps.isEmpty else { return "discard" }
        var parts: [String] = []
        var text = ""
        for step in steps {
            if case .character(let character, []) = step {
                text += Self.escaped(character)
                continue
            }
            if !text.isEmpty { parts.append("text \"\(text)\"") }
            text = ""
            switch step {
            case .character(let character, let modifiers):
                parts.append("key \(modifiers.prefix)\"\(Self.escaped(character))\"")
            case .key(let key, let modifiers): parts.append("key \(modifiers.prefix)\(key)")
            }
        }
        if !text.isEmpty { parts.append("text \"\(text)\"") }
        return (parts.count == 1 ? "" : "macro ") + parts.joined(separator: " ")
    }

    private static func escaped(_ character: Unicode.Scalar) -> String {
        switch character {
        case "\"": #"\""#
        case "\\": #"\\"#
        case " "..."~": String(character)
        default: #"\u{"# + String(character.value, radix: 16) + "}"
        }
    }
}

/// Scanner for the words in one line of a table's text.
private struct LineWords {
    /// Word and its column; the word is empty if another sign or the end of the line follows.
    struct Word {
        var text: String
        var column: Int
        var quoted: String { text.isEmpty ? "nothing" : "\"\(text)\"" }
    }

    private let scalars: [Unicode.Scalar]
    private let number: Int
    private var index = 0

    init(_ line: Substring.UnicodeScalarView, number: Int) {
        scalars = Array(line)
        self.number = number
    }

    /// Position of the next word, as an empty word for error messages.
    var place: Word {
        mutating get {
            skipSpace()
            return Word(text: "", column: index + 1)
        }
    }

    /// True if the next character is a quotation mark.
    var isAtQuote: Bool {
        mutating get {
            skipSpace()
            return index < scalars.count && scalars[index] == "\""
        }
    }

    /// True if only spaces and a comment remain.
    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return index == scalars.count || scalars[index] == "#"
        }
    }

    /// Consumes the next run of letters, digits and underscores; returns an empty word if there is none.
    mutating func word() -> Word {
        skipSpace()
        let start = index
        while index < scalars.count, Self.isWord(scalars[index]) { index += 1 }
        return Word(text: text(start..<index), column: start + 1)
    }

    /// Consumes the next run of words joined by hyphens.
    mutating func name() -> Word {
        var name = word()
        while takes("-") { name.text += "-" + word().text }
        return name
    }

    /// Consumes `sign` if it is the next character; returns false otherwise.
    mutating func takes(_ sign: Unicode.Scalar) -> Bool {
        skipSpace()
        guard index < scalars.count, scalars[index] == sign else { return false }
        index += 1
        return true
    }

    /// Consumes `sign`; throws an error if it is not the next character.
    mutating func sign(_ sign: Unicode.Scalar) throws(ByteTable.TextError) {
        guard !takes(sign) else { return }
        throw error(column: index + 1, "\"\(sign)\" expected")
    }

    /// Returns the byte that a name or number denotes.
    func subject(_ word: Word) throws(ByteTable.TextError) -> UInt8 {
        guard let byte = ByteName.byte(word.text) else {
            throw error(at: word, "\(word.quoted) is no byte; write it as 0x0d or cr")
        }
        return byte
    }

    /// Consumes characters in quotation marks, with the escapes `\"`, `\\` and `\u{…}`.
    mutating func characters() throws(ByteTable.TextError) -> [Unicode.Scalar] {
        try sign("\"")
        var text: [Unicode.Scalar] = []
        while index < scalars.count, scalars[index] != "\"" {
            let column = index + 1
            guard text.count < ByteTable.mostSteps else {
                throw error(column: column, "more than \(ByteTable.mostSteps) characters and keys for one byte")
            }
            var character = scalars[index]
            index += 1
            if character == "\\" { character = try escaped(column: column) }
            text.append(character)
        }
        guard index < scalars.count else { throw error(column: index + 1, "the text has no end: \" expected") }
        guard !text.isEmpty else { throw error(column: index + 1, "a character expected") }
        index += 1
        return text
    }

    private mutating func escaped(column: Int) throws(ByteTable.TextError) -> Unicode.Scalar {
        guard index < scalars.count else { throw error(column: column, "a character expected after \\") }
        let kind = scalars[index]
        index += 1
        if kind == "\"" || kind == "\\" { return kind }
        guard kind == "u", takes("{") else { throw error(column: column, "unknown escape; known are \\\" \\\\ \\u{…}") }
        let digits = word().text
        guard digits.utf8.count <= 6, let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value),
            takes("}")
        else { throw error(column: column, "no character has this number") }
        return scalar
    }

    func error(at word: Word, _ reason: String) -> ByteTable.TextError { error(column: word.column, reason) }

    private func error(column: Int, _ reason: String) -> ByteTable.TextError {
        ByteTable.TextError(line: number, column: column, reason: reason)
    }

    private mutating func skipSpace() {
        while index < scalars.count, [" ", "\t", "\r"].contains(scalars[index]) { index += 1 }
    }

    private func text(_ range: Range<Int>) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars[range])
        return text
    }

    private static func isWord(_ character: Unicode.Scalar) -> Bool {
        switch character {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        default: false
        }
    }
}
