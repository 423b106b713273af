// SPDX-License-Identifier: GPL-2.0-or-later

/// The string literals of a file of Swift, with what each is an argument of.
///
/// No parser of Swift: it knows comments, the forms of literals with what is interpolated into them, and brackets, which
/// is enough for code that the compiler takes.
public struct SourceLiterals {
    /// One literal.
    public struct Literal: Sendable {
        /// The line where it begins, from 1 on.
        public let line: Int
        /// Its text; what is interpolated is one `place`, and an escaped character one space.
        public let text: String
        /// What it is an argument of, the innermost first, within its block.
        public let calls: [String]
    }

    /// What stands for something interpolated.
    public static let place: Character = "\u{FFFC}"

    /// The literals in the file's order.
    public private(set) var literals: [Literal] = []

    private enum Bracket {
        case call(String)
        case list, block
    }

    private let code: [Character]
    private var position = 0
    private var line = 1
    private var open: [Bracket] = []

    /// Reads a file's text.
    public init(_ text: String) {
        code = Array(text)
        readCode(inInterpolation: false)
    }

    private func isNext(_ text: String) -> Bool {
        code[position...].starts(with: text)
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where position < code.count {
            if code[position].isNewline { line += 1 }
            position += 1
        }
    }

    /// Reads code to the end of the file, or behind the bracket that ends what is interpolated.
    private mutating func readCode(inInterpolation: Bool) {
        let depth = open.count
        while position < code.count {
            switch code[position] {
            case "/" where isNext("//"):
                while position < code.count, !code[position].isNewline { advance() }
            case "/" where isNext("/*"):
                while position < code.count, !isNext("*/") { advance() }
                advance(2)
            case "\"": readLiteral()
            case "#" where isRawLiteral: readLiteral()
            case "(", "[", "{":
                switch code[position] {
                case "(": open.append(.call(name(before: position)))
                case "[": open.append(.list)
                default: open.append(.block)
                }
                advance()
            case ")", "]", "}":
                advance()
                if inInterpolation, open.count == depth { return }
                _ = open.popLast()
            default: advance()
            }
        }
    }

    /// Whether these number signs are those of a literal.
    private var isRawLiteral: Bool { code[position...].first { $0 != "#" } == "\"" }

    private func name(before end: Int) -> String {
        let name = code[..<end].reversed().prefix { $0.isLetter || $0.isNumber || "._@".contains($0) }
        return String(name.reversed())
    }

    private mutating func readLiteral() {
        let first = line
        let calls = open.reversed().prefix { if case .block = $0 { false } else { true } }.compactMap { bracket in
            if case .call(let name) = bracket { name } else { nil }
        }
        let signs = String(code[position...].prefix { $0 == "#" })
        advance(signs.count)
        let quotes = isNext("\"\"\"") ? "\"\"\"" : "\""
        advance(quotes.count)
        var text = ""
        while position < code.count, !isNext(quotes + signs) {
            if isNext("\\" + signs + "(") {
                advance(2 + signs.count)
                text.append(Self.place)
                readCode(inInterpolation: true)
            } else if isNext("\\" + signs) {
                advance(2 + signs.count)
                text.append(" ")
            } else {
                text.append(code[position])
                advance()
            }
        }
        advance(quotes.count + signs.count)
        literals.append(Literal(line: first, text: text, calls: calls))
    }
}

extension SourceLiterals.Literal {
    /// Whether it reads as a text for people: two words beside each other, or a word beside what is interpolated.
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
