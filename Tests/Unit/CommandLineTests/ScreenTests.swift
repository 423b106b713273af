// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@testable import blewedge

@Suite("The screen")
struct ScreenTests {
    @Test("Wide characters take two cells, and half of one is never left")
    func wide() {
        var screen = Screen(columns: 6, rows: 2)
        #expect(screen.put("日本語x", row: 0, column: 0) == 6)
        #expect(screen.text == ["日本語", ""])
        screen.put("a", row: 0, column: 1)
        #expect(screen.text[0] == " a本語")
        screen.put("b", row: 0, column: 2)
        #expect(screen.text[0] == " ab 語")
        #expect(screen.put("日", row: 1, column: 5) == 5)
        #expect(screen.text[1].isEmpty)
        screen.put("out", row: 2, column: 0)
        screen.put("out", row: -1, column: 0)
        screen.put("out", row: 0, column: -1)
        screen.fill(row: 0, from: 9, style: .bold)
        screen.fill(row: 9, style: .bold)
        #expect(screen.text[0] == " ab 語" && screen.row(9).isEmpty)
    }

    @Test("Characters that a terminal would interpret, hide or join are replaced or omitted")
    func hostile() {
        #expect(ScreenText.cells(of: "a\u{1B}[2Jb").map(\.character) == ["a", "?", "[", "2", "J", "b"])
        #expect(ScreenText.cells(of: "\u{202E}x\u{200B}\r\n").map(\.character) == ["?", "x", "?", "?"])
        #expect(ScreenText.columns(of: "か\u{3099}") == 2)
        #expect(ScreenText.columns(of: "e" + String(repeating: "\u{301}", count: 1000)) == 1)
        let stacked = ScreenText.cells(of: "e" + String(repeating: "\u{301}", count: 1000)).first?.character
        #expect(stacked?.unicodeScalars.count == 3)
        #expect(ScreenText.columns(of: "👨\u{200D}👩\u{200D}👧") == 2)
    }

    @Test("Lines are broken at spaces, and behind any wide character")
    func wrapping() {
        #expect(ScreenText.wrapped("one two three", columns: 7) == ["one two", "three"])
        #expect(ScreenText.wrapped("one two three", columns: 8) == ["one two", "three"])
        #expect(ScreenText.wrapped("abcdefgh ij", columns: 3) == ["abc", "def", "gh", "ij"])
        #expect(ScreenText.wrapped("日本語です", columns: 5) == ["日本", "語で", "す"])
        #expect(ScreenText.wrapped("", columns: 5) == [""])
        #expect(ScreenText.wrapped("フォーカス、と", columns: 4) == ["フォ", "ーカ", "ス、", "と"])
        #expect(ScreenText.wrapped("フォーカス、と", columns: 6) == ["フォー", "カス、", "と"])
        #expect(ScreenText.wrapped("一二三、四", columns: 6) == ["一二", "三、四"])
        #expect(ScreenText.wrapped("一「二」", columns: 4) == ["一", "「二", "」"])
        #expect(ScreenText.wrapped("日本", columns: 1) == ["日", "本"])
        #expect(ScreenText.wrapped("ab", columns: 0) == ["a", "b"])
        for columns in 2...40 {
            let text = "blewedgeは、バーコードリーダ (scanner) などから 受信したデータを入力します。"
            let lines = ScreenText.wrapped(text, columns: columns)
            #expect(lines.allSatisfy { ScreenText.columns(of: $0) <= columns })
            #expect(lines.joined().filter { $0 != " " } == text.filter { $0 != " " })
        }
    }

    @Test("A frame writes what has changed, and brings every terminal to what is to be shown")
    func frames() {
        var frame = ScreenFrame(hasColors: true, isUnicode: true)
        var screen = Screen(columns: 10, rows: 3)
        screen.put("abc", row: 1, column: 2, style: [.bold, .green])
        let first = frame.update(to: screen)
        #expect(first == "\u{1B}[0m\u{1B}[2J\u{1B}[2;3H\u{1B}[0;1;32mabc\u{1B}[0m")
        #expect(frame.update(to: screen).isEmpty)
        screen.put("x", row: 1, column: 3)
        #expect(frame.update(to: screen) == "\u{1B}[2;4H\u{1B}[0mx\u{1B}[0m")
        frame.invalidate()
        #expect(frame.update(to: screen).hasPrefix("\u{1B}[0m\u{1B}[2J"))
        // A wide character is redrawn from its first cell, even if only its second cell has changed.
        var half = Screen(columns: 10, rows: 3)
        half.put("日", row: 0, column: 0)
        _ = frame.update(to: half)
        half.fill(row: 0, from: 1, style: .bold)
        #expect(frame.update(to: half).hasPrefix("\u{1B}[1;1H"))
        // A screen of another size is redrawn completely.
        #expect(frame.update(to: Screen(columns: 4, rows: 1)) == "\u{1B}[0m\u{1B}[2J")
    }

    @Test("Without colours and UTF-8, the screen has the same contents in ASCII")
    func plain() {
        var screen = Screen(columns: 10, rows: 1)
        screen.put("日a", row: 0, column: 0, style: [.reverse, .red])
        var frame = ScreenFrame(hasColors: false, isUnicode: false)
        #expect(frame.update(to: screen) == "\u{1B}[0m\u{1B}[2J\u{1B}[1;1H\u{1B}[0;7m??a\u{1B}[0m")
    }

    @Test("Any sequence of screens, drawn by differences, ends in the same cells as drawn whole")
    func random() {
        var generator = SeededGenerator(seed: 32)
        let words = ["a", "日本", "bc", " ", "ｶﾞ", "が", "x日"]
        var frame = ScreenFrame(hasColors: true, isUnicode: true)
        var terminal = TerminalModel(columns: 12, rows: 4)
        for _ in 0..<2000 {
            var screen = Screen(columns: 12, rows: 4)
            for _ in 0..<Int.random(in: 0...6, using: &generator) {
                screen.put(
                    words.randomElement(using: &generator) ?? "",
                    row: Int.random(in: 0..<4, using: &generator),
                    column: Int.random(in: 0..<12, using: &generator),
                    style: ScreenStyle(rawValue: UInt8.random(in: 0...31, using: &generator))
                )
            }
            terminal.take(frame.update(to: screen))
            #expect(terminal.screen == screen)
            if terminal.screen != screen { break }
        }
    }
}

/// Terminal model that interprets a frame: CUP, CUU, ED, EL and SGR, and characters of one or two cells.
///
/// It ignores modes and the saved cursor, and does not scroll.
struct TerminalModel {
    private(set) var screen: Screen
    private var row = 0
    private var column = 0
    private var style: ScreenStyle = []

    init(columns: Int, rows: Int) {
        screen = Screen(columns: columns, rows: rows)
    }

    mutating func take(_ text: String) {
        var rest = text[...]
        while let character = rest.popFirst() {
            guard character == "\u{1B}" else {
                put(character)
                continue
            }
            guard rest.first == "[" else {
                _ = rest.popFirst()
                continue
            }
            let sequence = rest.prefix { !$0.isLetter }
            rest = rest.dropFirst(sequence.count)
            let numbers = sequence.dropFirst().split(separator: ";").compactMap { Int($0) }
            switch rest.popFirst() {
            case "H": (row, column) = ((numbers.first ?? 1) - 1, (numbers.last ?? 1) - 1)
            case "A": row = max(0, row - (numbers.first ?? 1))
            case "J" where numbers.isEmpty: erase(from: row * screen.columns + column, to: screen.columns * screen.rows)
            case "J": screen = Screen(columns: screen.columns, rows: screen.rows)
            case "K": erase(from: row * screen.columns + column, to: (row + 1) * screen.columns)
            case "h", "l": break
            case "m":
                style = []
                for number in numbers {
                    switch number {
                    case 1: style.insert(.bold)
                    case 7: style.insert(.reverse)
                    case 31: style.insert(.red)
                    case 32: style.insert(.green)
                    case 33: style.insert(.yellow)
                    default: break
                    }
                }
            default: Issue.record("an unknown sequence")
            }
        }
    }

    private mutating func put(_ character: Character) {
        switch character {
        case "\r": column = 0
        case "\n": row += 1
        case "\r\n": (row, column) = (row + 1, 0)
        default: column = screen.put(String(character), row: row, column: column, style: style)
        }
    }

    private mutating func erase(from first: Int, to end: Int) {
        for cell in first..<max(first, min(end, screen.cells.count)) where screen.cells[cell] != .empty {
            screen.put(" ", row: cell / screen.columns, column: cell % screen.columns)
        }
    }
}
