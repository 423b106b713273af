// SPDX-License-Identifier: GPL-2.0-or-later

/// String literals of a Swift file, each with the calls that it is an argument of.
///
/// This is not a full Swift parser: it supports comments, all forms of literals with interpolations, and brackets,
/// which is sufficient for code that compiles.
public struct SourceLiterals {
    /// A string literal.
    public struct Literal: Sendable {
        /// The line on which it starts, counted from 1.
        public let line: Int
        /// The text, with `place` for each interpolation and a space for each escaped character.
        public let text: String
        /// The names of the calls in the same block that it is an argument of, innermost first.
        public let calls: [String]

        /// Creates a literal with that text.
        public init(line: Int, text: String, calls: [String]) {
            self.line = line
            self.text = text
            self.calls = calls
        }
    }

    /// Character that replaces an interpolation.
    public static let place: Character = "\u{FFFC}"

    /// The literals in source order.
    public private(set) var literals: [Literal] = []

    private enum Bracket {
        case call(String)
        case list, block
    }

    private let code: [UInt8]
    private var position = 0
    private var line = 1
    private var open: [Bracket] = []

    /// Finds the literals in the text of a file.
    public init(_ text: String) {
        code = Array(text.utf8)
        readCode(inInterpolation: false)
    }

    private func byte(_ offset: Int = 0) -> UInt8 {
        position + offset < code.count ? code[position + offset] : 0
    }

    private func isNext(_ text: [UInt8]) -> Bool {
        for offset in text.indices where byte(offset) != text[offset] { return false }
        return true
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where position < code.count {
            if code[position] == UInt8(ascii: "\n") { line += 1 }
            position += 1
        }
    }

    /// Reads code up to the end of the file, or up to the bracket that ends an interpolation.
    private mutating func readCode(inInterpolation: Bool) {
        let depth = open.count
        while position < code.count {
            switch code[position] {
            case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"):
                while position < code.count, byte() != UInt8(ascii: "\n") { position += 1 }
            case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"):
                while position < code.count, !isNext(Array("*/".utf8)) { advance() }
                advance(2)
            case UInt8(ascii: "\""): readLiteral()
            case UInt8(ascii: "#") where isRawLiteral: readLiteral()
            case UInt8(ascii: "("):
                open.append(.call(nameBefore()))
                advance()
            case UInt8(ascii: "["):
                open.append(.list)
                advance()
            case UInt8(ascii: "{"):
                open.append(.block)
                advance()
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                advance()
                if inInterpolation, open.count == depth { return }
                _ = open.popLast()
            default: advance()
            }
        }
    }

    /// True if the number signs at the current position begin a raw string literal.
    private var isRawLiteral: Bool {
        var offset = 0
        while byte(offset) == UInt8(ascii: "#") { offset += 1 }
        return byte(offset) == UInt8(ascii: "\"")
    }

    /// Returns the name before the bracket at the current position.
    private func nameBefore() -> String {
        var first = position
        while first > 0, Self.isPartOfName(code[first - 1]) { first -= 1 }
        return String(decoding: code[first..<position], as: UTF8.self)
    }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "@"):
            true
        default: false
        }
    }

    private mutating func readLiteral() {
        let first = line
        let calls = open.reversed().prefix { if case .block = $0 { false } else { true } }.compactMap { bracket in
            if case .call(let name) = bracket { name } else { nil }
        }
        var signs: [UInt8] = []
        while byte() == UInt8(ascii: "#") {
            signs.append(byte())
            advance()
        }
        let quotes = Array((isNext(Array("\"\"\"".utf8)) ? "\"\"\"" : "\"").utf8)
        advance(quotes.count)
        let (end, escape) = (quotes + signs, [UInt8(ascii: "\\")] + signs)
        var text: [UInt8] = []
        while position < code.count, !isNext(end) {
            if isNext(escape) {
                advance(escape.count)
                let isPlace = byte() == UInt8(ascii: "(")
                advance()
                text += Array((isPlace ? String(Self.place) : " ").utf8)
                if isPlace { readCode(inInterpolation: true) }
            } else {
                text.append(byte())
                advance()
            }
        }
        advance(end.count)
        literals.append(Literal(line: first, text: String(decoding: text, as: UTF8.self), calls: calls))
    }
}

extension SourceLiterals.Literal {
    /// True if the literal looks like text for people: it contains two adjacent words, or a word next to an
    /// interpolation.
    public var isSentence: Bool {
        let words = text.split(whereSeparator: \.isWhitespace).map { word -> (isWord: Bool, isPlace: Bool) in
            let core = word.drop { "(`'".contains($0) }.reversed().drop { ",;:.!?)`'".contains($0) }
            let isWord = core.count > 1 && core.allSatisfy { $0.isLetter && $0.isASCII || $0 == "'" }
            return (isWord, core.count == 1 && core.first == SourceLiterals.place)
        }
        return zip(words, words.dropFirst()).contains { one, other in
            one.isWord && (other.isWord || other.isPlace) || one.isPlace && other.isWord
        }
    }
}
