// SPDX-License-Identifier: GPL-2.0-or-later

/// A text in every language of the program.
///
/// `{1}`, `{2}` and so on are placeholders for its arguments: names, numbers, or other messages.
package struct LocalText: Equatable, Sendable {
    package let english: String
    package let japanese: String

    package init(_ english: String, _ japanese: String) {
        self.english = english
        self.japanese = japanese
    }

    package subscript(language: Language) -> String {
        switch language {
        case .english: english
        case .japanese: japanese
        }
    }

    /// Returns the text in one language, with the arguments inserted.
    ///
    /// An argument within a command (between backquotes and after a space) is quoted for the shell if necessary,
    /// because a device can choose its own name.
    func filled(_ language: Language, with arguments: [String]) -> String {
        var isInCommand = false
        var isWord = false
        return Self.parts(of: self[language]).map { part in
            switch part {
            case .text(let text):
                if !text.count(where: { $0 == "`" }).isMultiple(of: 2) { isInCommand.toggle() }
                isWord = isInCommand && text.hasSuffix(" ")
                return String(text)
            case .place(let number):
                let argument = arguments.indices.contains(number - 1) ? arguments[number - 1] : ""
                return isWord ? Self.shellWord(argument) : argument
            }
        }.joined()
    }

    /// Returns a text in a form that a shell reads as a single word.
    private static func shellWord(_ text: String) -> String {
        let isPlain = text.allSatisfy { $0.isLetter || $0.isNumber || "_@%+=:,./-".contains($0) }
        guard !isPlain || text.isEmpty else { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }

    package static func places(in text: String) -> Set<Int> {
        Set(parts(of: text).compactMap { if case .place(let number) = $0 { number } else { nil } })
    }

    /// Returns a text after removing its placeholders.
    package static func outside(_ text: String) -> String {
        parts(of: text).map { if case .text(let text) = $0 { String(text) } else { "" } }.joined()
    }

    private enum Part {
        case text(Substring)
        case place(Int)
    }

    private static func parts(of text: String) -> [Part] {
        var parts: [Part] = []
        var rest = text[...]
        while let start = rest.firstIndex(of: "{") {
            let tail = rest[start...].dropFirst()
            guard let number = tail.first?.wholeNumberValue, tail.dropFirst().first == "}" else {
                parts.append(.text(rest[...start]))
                rest = tail
                continue
            }
            parts += [.text(rest[..<start]), .place(number)]
            rest = tail.dropFirst(2)
        }
        return parts + [.text(rest)]
    }
}
