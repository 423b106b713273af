// SPDX-License-Identifier: GPL-2.0-or-later

/// Text of a configuration file in which single lines are changed.
///
/// Comments and all other lines stay as they are.
struct ConfigurationText {
    private var lines: [String]
    private let lineEnd: String

    init(_ text: String) {
        // Split the text by scalars, because CR LF is a single Character.
        lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        lineEnd = lines.first?.unicodeScalars.last == "\r" ? "\r" : ""
    }

    var text: String { lines.joined(separator: "\n") }

    /// Returns the text with a key of a table set to a value; a nil value removes the key's line.
    ///
    /// The value replaces the one in the key's line; if there is no such line, one is added at the beginning of the
    /// table. An empty `section` is the top level.
    func setting(_ key: String, in section: String = "", to value: String?) -> ConfigurationText {
        var changed = self
        let heads = lines.indices.filter { isHead(lines[$0]) }
        var range = 0..<(heads.first ?? lines.count)
        if !section.isEmpty {
            guard let head = heads.first(where: { isHead(lines[$0], of: section) }) else {
                guard let value else { return self }
                // The last line may have no line ending.
                let last = changed.lines.popLast() ?? ""
                if !last.isEmpty { changed.lines.append(last + lineEnd) }
                changed.lines += ["[\(section)]\(lineEnd)", "\(key) = \(value)\(lineEnd)", ""]
                return changed
            }
            range = head + 1..<(heads.first { $0 > head } ?? lines.count)
        }
        let place = lines[range].firstIndex { line in
            let words = line.split(separator: "=", maxSplits: 1)
            return words.count == 2 && words[0].filter { $0 != " " && $0 != "\t" } == key
        }
        switch (place, value) {
        case (let place?, let value?):
            changed.lines[place] = "\(key) = \(value)\(Self.comment(in: lines[place]))\(lineEnd)"
        case (let place?, nil): changed.lines.remove(at: place)
        case (nil, let value?): changed.lines.insert("\(key) = \(value)\(lineEnd)", at: range.lowerBound)
        case (nil, nil): break
        }
        return changed
    }

    /// Returns the comment after the value in a line, with the spaces before the comment; empty if there is no comment.
    private static func comment(in line: String) -> String {
        var quote: Character?
        var isEscaped = false
        for index in line.indices {
            let character = line[index]
            if let mark = quote {
                if character == mark, !isEscaped { quote = nil }
                isEscaped = mark == "\"" && character == "\\" && !isEscaped
            } else if character == "\"" || character == "'" {
                quote = character
            } else if character == "#" {
                let space = line[..<index].reversed().prefix { $0 == " " || $0 == "\t" }
                return String(space) + line[index...].filter { $0 != "\r" }
            }
        }
        return ""
    }

    /// Returns true if the line is the header of a table; with `section`, only if it is the header of that table.
    private func isHead(_ line: String, of section: String? = nil) -> Bool {
        let text = line.prefix { $0 != "#" }.filter { $0 != " " && $0 != "\t" && $0 != "\r" }
        guard text.hasPrefix("[") else { return false }
        return section.map { text == "[\($0)]" } ?? true
    }
}
