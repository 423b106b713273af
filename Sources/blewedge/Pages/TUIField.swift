// SPDX-License-Identifier: GPL-2.0-or-later

/// A field to type into: it shows what a keyboard types, and where its cursor stands.
struct TUIField: Equatable {
    /// The most characters; the first ones leave for more.
    static let most = 4096

    private(set) var text: [Character] = []
    /// Before which character the cursor stands.
    private(set) var cursor = 0

    var isEmpty: Bool { text.isEmpty }

    /// Does what the key does in a field; false for a key that does nothing there.
    mutating func take(_ key: TUIKey) -> Bool {
        switch key {
        case .character(let character): insert(character)
        case .enter: insert("\n")
        case .tab: insert("\t")
        case .paste(let text):
            for character in text { insert(character == "\r" || character == "\r\n" ? "\n" : character) }
        case .backspace:
            guard cursor > 0 else { break }
            cursor -= 1
            text.remove(at: cursor)
        case .delete: if text.indices.contains(cursor) { text.remove(at: cursor) }
        case .left: cursor = max(0, cursor - 1)
        case .right: cursor = min(text.count, cursor + 1)
        case .home: cursor = (text[..<cursor].lastIndex(of: "\n") ?? -1) + 1
        case .end: cursor = text[cursor...].firstIndex(of: "\n") ?? text.count
        default: return false
        }
        return true
    }

    private mutating func insert(_ character: Character) {
        if text.count == Self.most {
            text.removeFirst()
            cursor = max(0, cursor - 1)
        }
        text.insert(character, at: cursor)
        cursor += 1
    }

    /// The lines of so many columns around the cursor, with the cursor's cell marked.
    func lines(columns: Int, most: Int) -> [PageLine] {
        let columns = max(1, columns)
        var lines: [PageLine] = [PageLine()]
        var used = 0
        var cursorLine = 0
        for (index, character) in (text + [" "]).enumerated() {
            let isCursor = index == cursor
            let isEnd = index == text.count
            // A line's end takes a cell where the cursor stands on it.
            let shown = character == "\n" || character == "\t" ? " " : String(character)
            let width = ScreenText.columns(of: shown)
            if used + width > columns {
                lines.append(PageLine())
                used = 0
            }
            if isCursor { cursorLine = lines.count - 1 }
            if isCursor || !(isEnd || character == "\n") {
                lines[lines.count - 1].add(shown, isCursor ? .reverse : [])
                used += width
            }
            if character == "\n" {
                lines.append(PageLine())
                used = 0
            }
        }
        let first = max(0, min(cursorLine - most / 2, lines.count - most))
        return Array(lines[first...].prefix(max(1, most)))
    }
}
