// SPDX-License-Identifier: GPL-2.0-or-later

/// One text in every language of the program.
///
/// `{1}`, `{2}` and so on are the places of its arguments: names, numbers, other messages.
package struct LocalText: Equatable, Sendable {
    /// The English text.
    package let english: String
    /// The Japanese text.
    package let japanese: String

    /// Makes a text from its two languages.
    package init(_ english: String, _ japanese: String) {
        self.english = english
        self.japanese = japanese
    }

    /// The text in one language, with its places unfilled.
    package subscript(language: Language) -> String {
        switch language {
        case .english: english
        case .japanese: japanese
        }
    }

    /// The text in one language, with the arguments in its places.
    func filled(_ language: Language, with arguments: [String]) -> String {
        Self.parts(of: self[language]).map { part in
            switch part {
            case .text(let text): String(text)
            case .place(let number): arguments.indices.contains(number - 1) ? arguments[number - 1] : ""
            }
        }.joined()
    }

    /// The numbers of the places in a text.
    package static func places(in text: String) -> Set<Int> {
        Set(parts(of: text).compactMap { if case .place(let number) = $0 { number } else { nil } })
    }

    /// A text without its places.
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
