// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import TestSupport
import Testing

@testable import HIDReports

@Suite("Device layouts")
struct DeviceLayoutTests {
    /// Line of Tests/Vectors/hid-layouts.txt: usages from `first` on.
    private struct Row {
        var number: Int
        var head: [Substring]
        var first: UInt16
        var words: [Substring]
    }

    private static func rows() throws -> [Row] {
        try VectorFile.lines("hid-layouts.txt").map { line in
            let end = try #require(line.text.firstIndex(of: ":"), "line \(line.number)")
            let head = line.text[..<end].split(separator: " ")
            let words = line.text[line.text.index(after: end)...].split(separator: " ")
            let first = try #require(head.last.flatMap { UInt16($0, radix: 16) }, "line \(line.number)")
            return Row(number: line.number, head: head.dropLast(), first: first, words: words)
        }
    }

    private static func shown(_ output: KeyboardLayout.Level.Output?) -> String {
        switch output {
        case .character(let character): String(character)
        case .dead(let mark): "◌" + String(DeadKey.spacing(mark))
        case nil: "·"
        }
    }

    @Test("The kernel's keys, and no others")
    func kernelKeys() throws {
        var usages: [KeyCode: [UInt16]] = [:]
        for row in try Self.rows() where row.head == ["kernel"] {
            for (offset, word) in row.words.enumerated() {
                let key = KeyCode(rawValue: try #require(UInt16(word)))
                usages[key, default: []].append(row.first + UInt16(offset))
            }
        }
        #expect(usages.count == 51)
        #expect(DeviceLayout.usages == usages)
    }

    @Test("Characters of the keys of five layouts")
    func characters() throws {
        for row in try Self.rows() where row.head.count == 2 {
            let layout = DeviceLayout(try #require(BuiltInLayout(rawValue: String(row.head[0]))))
            let level = row.head[1]
            #expect(["plain", "shift", "altgr", "caps"].contains(level))
            for (offset, word) in row.words.enumerated() {
                let usage = row.first + UInt16(offset)
                let output = layout.output(
                    of: usage,
                    shift: level == "shift",
                    altGr: level == "altgr",
                    capsLock: level == "caps",
                    numLock: true
                )
                #expect(Self.shown(output) == word, "line \(row.number), usage \(usage)")
            }
        }
    }

    @Test("Every level of every layout, without and with CapsLock", arguments: BuiltInLayout.allCases)
    func levels(_ builtIn: BuiltInLayout) throws {
        let layout = DeviceLayout(builtIn)
        #expect(layout.layout == builtIn)
        var wrong: [KeyboardLayout.Level] = []
        var checked = 0
        for capsLock in [false, true] {
            for level in builtIn.levels(capsLock: capsLock) {
                let modifiers = level.stroke.modifiers
                for usage in try #require(DeviceLayout.usages[level.stroke.key]) {
                    let output = layout.output(
                        of: usage,
                        shift: modifiers.contains(.shift),
                        altGr: modifiers.contains(.altGr),
                        capsLock: capsLock,
                        numLock: true
                    )
                    if output != level.output { wrong.append(level) }
                    checked += 1
                }
            }
        }
        #expect(wrong == [])
        #expect(checked > 180)
        #expect(layout.hasAltGr == ![.us, .jp, .jpYen].contains(builtIn))
    }

    @Test("Letters whose capital is disputed are the same with CapsLock")
    func disputedLetters() {
        let layout = DeviceLayout(.de)
        for capsLock in [false, true] {
            let output = layout.output(of: 0x2D, shift: false, altGr: false, capsLock: capsLock, numLock: true)
            #expect(output == .character("ß"))
        }
    }

    @Test("Keys without a character in any layout", arguments: BuiltInLayout.allCases)
    func keysWithoutCharacters(_ builtIn: BuiltInLayout) {
        let layout = DeviceLayout(builtIn)
        let others = Set(DeviceLayout.usages.values.joined())
        let fixed = Set<UInt16>(
            [0x28, 0x29, 0x2A, 0x2B, 0x4C, 0x67, 0x85, 0x86, 0x9F, 0xB6, 0xB7] + Array(0x54...0x63)
        )
        var wrong: [UInt16] = []
        for usage in (UInt16(0)...0x1FF) + [0xFFFF] {
            for level in 0..<16 {
                let output = layout.output(
                    of: usage,
                    shift: level & 1 != 0,
                    altGr: level & 2 != 0,
                    capsLock: level & 4 != 0,
                    numLock: level & 8 != 0
                )
                if fixed.contains(usage) {
                    let isCursorKey = level & 8 == 0 && (0x59...0x62).contains(usage)
                    if (output == nil) != isCursorKey { wrong.append(usage) }
                } else if !others.contains(usage), output != nil {
                    wrong.append(usage)
                }
            }
        }
        #expect(wrong == [])
    }

    @Test("The keypad's decimal sign")
    func decimalSign() {
        let commas: [BuiltInLayout] = [.de, .dk, .fi, .no, .se]
        for builtIn in BuiltInLayout.allCases {
            let layout = DeviceLayout(builtIn)
            let sign = layout.output(of: 0x63, shift: false, altGr: false, capsLock: false, numLock: true)
            #expect(sign == .character(commas.contains(builtIn) ? "," : "."))
            #expect(
                layout.output(of: 0x63, shift: false, altGr: false, capsLock: false, numLock: false)
                    == .character("\u{7F}")
            )
        }
    }

    @Test("Ctrl makes all 32 control characters in every layout", arguments: BuiltInLayout.allCases)
    func controlCharacters(_ builtIn: BuiltInLayout) {
        let layout = DeviceLayout(builtIn)
        var found: Set<UInt32> = []
        for usage in UInt16(0)...0x1FF {
            for level in 0..<4 {
                let (shift, altGr) = (level & 1 != 0, level & 2 != 0)
                guard let control = layout.control(of: usage, shift: shift, altGr: altGr) else { continue }
                found.insert(control.value)
            }
        }
        #expect(found == Set(0..<32))
    }

    @Test("With AltGr, a control character is that of the key's own character", arguments: BuiltInLayout.allCases)
    func controlWithAltGr(_ builtIn: BuiltInLayout) {
        let layout = DeviceLayout(builtIn)
        for usage in UInt16(0)...0xFF {
            for shift in [false, true] {
                let output = layout.output(of: usage, shift: shift, altGr: true, capsLock: false, numLock: false)
                var wanted: UInt32?
                if case .character(let character)? = output, ("@"..."z").contains(character), character != "`" {
                    wanted = character.value & 0x1F
                }
                #expect(layout.control(of: usage, shift: shift, altGr: true)?.value == wanted, "\(usage)")
            }
        }
    }

    @Test("Spacing forms of the dead keys, and of no other mark")
    func spacingForms() {
        let forms: [(Unicode.Scalar, Unicode.Scalar)] = [
            ("\u{300}", "\u{60}"), ("\u{301}", "\u{B4}"), ("\u{302}", "\u{5E}"), ("\u{303}", "\u{7E}"),
            ("\u{304}", "\u{AF}"), ("\u{306}", "\u{2D8}"), ("\u{307}", "\u{2D9}"), ("\u{308}", "\u{A8}"),
            ("\u{30A}", "\u{2DA}"), ("\u{30B}", "\u{2DD}"), ("\u{30C}", "\u{2C7}"), ("\u{327}", "\u{B8}"),
            ("\u{328}", "\u{2DB}"), ("\u{323}", "\u{323}"),
        ]
        for (mark, spacing) in forms {
            #expect(DeadKey.spacing(mark) == spacing)
            #expect(DeadKey.composed(mark, " ") == spacing)
        }
        let marks = Set(forms.map(\.0).dropLast())
        for builtIn in BuiltInLayout.allCases {
            for case .dead(let mark) in builtIn.levels(capsLock: false).map(\.output) {
                #expect(marks.contains(mark))
            }
        }
    }

    @Test("A dead key and a letter compose to the canonically equivalent letter, or not at all")
    func compositions() {
        var count = 0
        for mark in (0x300...0x328).compactMap(Unicode.Scalar.init) {
            for base in (0x21...0x7E).compactMap(Unicode.Scalar.init) {
                guard let composed = DeadKey.composed(mark, base) else { continue }
                var text = String(base)
                text.unicodeScalars.append(mark)
                #expect(String(composed) == text)
                count += 1
            }
        }
        #expect(count == 251)
        #expect(DeadKey.composed("\u{301}", "e") == "é")
        #expect(DeadKey.composed("\u{301}", "x") == nil)
    }
}
