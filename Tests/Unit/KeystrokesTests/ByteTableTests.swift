// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@testable import Keystrokes

@Suite("LK-21: tables")
struct ByteTableTests {
    @Test("A table knows a byte by every name, and by its number, in letters of either case")
    func byteNames() throws {
        for (name, byte) in ByteName.all + [("0x1d", 0x1D), ("0X7", 0x07), ("0xfF", 0xFF)] {
            for text in [name, name.uppercased()] {
                let table = try ByteTable(text: "base = strict\n\(text) = key f8\n")
                var expected = ByteTable(.strict)
                expected[byte] = .key(.f8)
                #expect(table == expected, "\(text)")
                #expect(ByteName.byte(text) == byte)
            }
        }
        let run = try ByteTable(text: "base = strict\nfs-US = discard\n")
        #expect((0x1C...0x1F).allSatisfy { run[$0] == .discard })
        for text in ["", "0x", "0x100", "0x+1", "0x-1", "1d", "cr ", "tabs"] { #expect(ByteName.byte(text) == nil) }
    }

    @Test("Meaning of the built-in tables")
    func builtIn() {
        for byte in UInt8.min...UInt8.max {
            let printable = (0x20...0x7E).contains(byte)
            switch byte {
            case 10, 13:
                #expect(ByteTable.linble[byte] == .key(.enter) && ByteTable.strict[byte] == .key(.enter))
            case 9: #expect(ByteTable.linble[byte] == .key(.tab) && ByteTable.strict[byte] == .discard)
            case 8: #expect(ByteTable.linble[byte] == .key(.backspace) && ByteTable.strict[byte] == .discard)
            case _ where printable:
                #expect(ByteTable.linble[byte] == .text(Unicode.Scalar(byte)))
                #expect(ByteTable.strict[byte] == .text(Unicode.Scalar(byte)))
            default: #expect(ByteTable.linble[byte] == .discard && ByteTable.strict[byte] == .discard)
            }
            #expect(ByteTable.discard[byte] == .discard)
        }
        #expect(ByteTable(named: "nothing") == nil)
    }

    @Test("A table's text: base, runs, text, keys, escapes, comments")
    func text() throws {
        let text = """
            # a table
            base = strict   # and nothing else

            0x41 = text "b"\r
            0x1d=text"]"
            \t0x00 - 0x1F = discard
            0x0d = key enter # CR
            0x23 = text "#"
            0x22 = text "\\""
            0x5c = text "\\\\"
            0xa5 = text "\\u{7e}"
            0xFF = text "é"
            0x7f = key left
            gs = text "<GS>"
            0x01 = key ctrl+rightbrace
            0x02 = key ctrl + shift + "]"
            0x03 = macro text "a b" key f8 key alt+"x" text "#" # a comment
            """
        var table = ByteTable.strict
        for byte in UInt8(0)...0x1F { table[byte] = .discard }
        table[0x41] = .text("b")
        table[0x0D] = .key(.enter)
        for byte in [UInt8(0x22), 0x23, 0x5C] { table[byte] = .text(Unicode.Scalar(byte)) }
        table[0x41] = .text("b")
        table[0xA5] = .text("~")
        table[0xFF] = .text("é")
        table[0x7F] = .key(KeyCode(rawValue: 105))
        table[0x1D] = .text("<GS>")
        table[0x01] = .key(KeyCode(rawValue: 27), .control)
        table[0x02] = .type([.character("]", [.control, .shift])])
        table[0x03] = .type(
            "a b".unicodeScalars.map { .character($0, []) } + [
                .key(.f8, []), .character("x", .alt), .character("#", []),
            ]
        )
        #expect(try ByteTable(text: text) == table)
        #expect(try ByteTable(text: "") == .linble)
        #expect(try ByteTable(text: "base = discard") == .discard)
    }

    @Test("The group separator in the built-in tables")
    func groupSeparator() throws {
        for base in ByteTable.BuiltIn.allCases {
            let meant: ByteTable.Action =
                switch base {
                case .gs1Text: .text("<GS>")
                case .gs1F8: .key(.f8)
                case .gs1Control: .type([.character("]", .control)])
                default: .discard
                }
            #expect(ByteTable(base)[0x1D] == meant)
            guard base.rawValue.hasPrefix("gs1") else { continue }
            for byte in UInt8.min...UInt8.max where byte != 0x1D {
                #expect(ByteTable(base)[byte] == ByteTable.strict[byte])
            }
        }
        let control = try CompiledTable(ByteTable(.gs1Control))
        #expect(control.strokes(of: 0x1D) == [KeyboardLayout.Stroke(KeyCode(rawValue: 27), .control)])
        let japanese = try CompiledTable(ByteTable(.gs1Control), layout: .jp)
        #expect(japanese.strokes(of: 0x1D) == [KeyboardLayout.Stroke(KeyCode(rawValue: 43), .control)])
    }

    @Test("Written actions of a table are parsed as the same actions")
    func roundTrip() throws {
        for (_, table) in ByteTable.builtIn { try Self.readsAsTheSame(table) }
        var random = SeededGenerator(seed: 11)
        for _ in 0..<50 {
            var table = ByteTable(ByteTable.BuiltIn.allCases.randomElement(using: &random) ?? .strict)
            for byte in UInt8.min...UInt8.max {
                switch Int.random(in: 0...4, using: &random) {
                case 0: break
                case 1: table[byte] = .discard
                default:
                    let count = Int.random(in: 1...ByteTable.mostSteps, using: &random)
                    table[byte] = .type((0..<count).map { _ in Self.step(&random) })
                }
            }
            try Self.readsAsTheSame(table)
        }
    }

    /// Checks that a table can be parsed from its actions as printed by `blewedge table show`.
    private static func readsAsTheSame(_ table: ByteTable) throws {
        let bytes = UInt8.min...UInt8.max
        let lines = bytes.map { "0x\(String($0 >> 4, radix: 16))\(String($0 & 15, radix: 16)) = \(table[$0])" }
        let read = try ByteTable(text: lines.joined(separator: "\n"))
        for byte in bytes { #expect(read[byte] == table[byte]) }
    }

    /// Returns a random step that tables may contain.
    private static func step(_ random: inout SeededGenerator) -> ByteTable.Step {
        let modifiers: [KeyModifiers] = [[], [], .shift, .control, [.alt, .shift], [.altGr, .control], .meta]
        while true {
            let held = modifiers.randomElement(using: &random) ?? []
            let value = UInt32.random(in: 0...0x10FFFF, using: &random)
            let character = Bool.random(using: &random) ? "\"" : Unicode.Scalar(value) ?? "\\"
            let key = KeyCode.named.randomElement(using: &random)?.code ?? .enter
            let step: ByteTable.Step = Bool.random(using: &random) ? .character(character, held) : .key(key, held)
            if step.fault == nil { return step }
        }
    }

    struct Fault: CustomTestStringConvertible {
        var text: String
        var line: Int
        var column: Int
        var reason: String
        var testDescription: String { text }
    }

    static let faults: [Fault] = [
        Fault(text: "0x41", line: 1, column: 5, reason: "\"=\" expected"),
        Fault(text: "\n\n  0x41 text \"a\"", line: 3, column: 8, reason: "\"=\" expected"),
        Fault(text: "41 = discard", line: 1, column: 1, reason: "\"41\" is no byte; write it as 0x0d or cr"),
        Fault(text: "0x = discard", line: 1, column: 1, reason: "\"0x\" is no byte; write it as 0x0d or cr"),
        Fault(text: "0x100 = discard", line: 1, column: 1, reason: "\"0x100\" is no byte; write it as 0x0d or cr"),
        Fault(text: "0x+1 = discard", line: 1, column: 1, reason: "\"0x\" is no byte; write it as 0x0d or cr"),
        Fault(text: "0x05- = discard", line: 1, column: 7, reason: "nothing is no byte; write it as 0x0d or cr"),
        Fault(text: "0x05-0x04 = discard", line: 1, column: 6, reason: "the run ends before it begins"),
        Fault(text: "= discard", line: 1, column: 1, reason: "nothing is no byte; write it as 0x0d or cr"),
        Fault(text: "0x41 = drop", line: 1, column: 8, reason: "\"drop\" is none of discard, text, key, macro"),
        Fault(text: "0x41 =", line: 1, column: 7, reason: "nothing is none of discard, text, key, macro"),
        Fault(text: "0x41 = key", line: 1, column: 11, reason: "unknown key nothing"),
        Fault(text: "0x41 = key entr", line: 1, column: 12, reason: "unknown key \"entr\": is \"enter\" meant?"),
        Fault(text: "0x41 = key enter enter", line: 1, column: 18, reason: "nothing may follow here but a comment"),
        Fault(text: "0x41 = discard \"", line: 1, column: 16, reason: "nothing may follow here but a comment"),
        Fault(text: "0x41 = text a", line: 1, column: 13, reason: "\"\"\" expected"),
        Fault(text: "0x41 = text \"\"", line: 1, column: 14, reason: "a character expected"),
        Fault(text: "0x41 = text \"", line: 1, column: 14, reason: "the text has no end: \" expected"),
        Fault(text: "0x41 = text \"ab\" x", line: 1, column: 18, reason: "nothing may follow here but a comment"),
        Fault(text: "0x41 = text \"a", line: 1, column: 15, reason: "the text has no end: \" expected"),
        Fault(
            text: "0x41 = text \"abcdefghijklm\"",
            line: 1,
            column: 26,
            reason: "more than 12 characters and keys for one byte"
        ),
        Fault(text: "0x41 = text \"\\u{7}\"", line: 1, column: 13, reason: "U+7 is no text; name a key"),
        Fault(text: "0x41 = macro", line: 1, column: 13, reason: "nothing is none of text, key"),
        Fault(text: "0x41 = macro discard", line: 1, column: 14, reason: "\"discard\" is none of text, key"),
        Fault(text: "0x41 = macro key enter macro", line: 1, column: 24, reason: "\"macro\" is none of text, key"),
        Fault(
            text: "0x41 = macro text \"abcdefghijkl\" key enter",
            line: 1,
            column: 38,
            reason: "more than 12 characters and keys for one byte"
        ),
        Fault(text: "0x41 = key ctrl+", line: 1, column: 17, reason: "unknown key nothing"),
        Fault(text: "0x41 = key ctrl+ctrl+a", line: 1, column: 17, reason: "ctrl is there twice"),
        Fault(
            text: "0x41 = key control+a",
            line: 1,
            column: 12,
            reason: "unknown modifier \"control\"; known are shift, altgr, ctrl, alt, meta"
        ),
        Fault(text: "0x41 = key ctrl+shift+alt+a", line: 1, column: 12, reason: "more than 2 modifiers for one key"),
        Fault(
            text: "0x41 = key leftctrl",
            line: 1,
            column: 12,
            reason:
                "key leftctrl is never pressed by itself; write shift+, altgr+, ctrl+, alt+ or meta+ before another key"
        ),
        Fault(
            text: "0x41 = key shift+capslock",
            line: 1,
            column: 12,
            reason:
                "key capslock is never pressed by itself; write shift+, altgr+, ctrl+, alt+ or meta+ before another key"
        ),
        Fault(text: "0x41 = key ctrl+\"ab\"", line: 1, column: 17, reason: "exactly one character expected"),
        Fault(text: "gs = drop", line: 1, column: 6, reason: "\"drop\" is none of discard, text, key, macro"),
        Fault(text: "gs-0x1c = discard", line: 1, column: 4, reason: "the run ends before it begins"),
        Fault(text: "enter = discard", line: 1, column: 1, reason: "\"enter\" is no byte; write it as 0x0d or cr"),
        Fault(text: "0x41 = text \"\\", line: 1, column: 14, reason: "a character expected after \\"),
        Fault(text: "0x41 = text \"\\n\"", line: 1, column: 14, reason: "unknown escape; known are \\\" \\\\ \\u{…}"),
        Fault(text: "0x41 = text \"\\u{d800}\"", line: 1, column: 14, reason: "no character has this number"),
        Fault(text: "0x41 = text \"\\u{110000}\"", line: 1, column: 14, reason: "no character has this number"),
        Fault(text: "0x41 = text \"\\u{}\"", line: 1, column: 14, reason: "no character has this number"),
        Fault(text: "0x41 = text \"\\u{41\"", line: 1, column: 14, reason: "no character has this number"),
        Fault(
            text: "base = us",
            line: 1,
            column: 8,
            reason: "unknown base \"us\"; known are linble, strict, gs1, gs1-text, gs1-f8, gs1-ctrl, discard"
        ),
        Fault(text: "base", line: 1, column: 5, reason: "\"=\" expected"),
        Fault(
            text: "0x41 = discard\nbase = strict",
            line: 2,
            column: 1,
            reason: "base must come before every other line"
        ),
        Fault(text: String(repeating: "#", count: 65537), line: 1, column: 1, reason: "longer than 65536 bytes"),
    ]

    @Test("A wrong table names line, column and fault", arguments: faults)
    func wrongText(fault: Fault) {
        let place = (line: fault.line, column: fault.column)
        let error = #expect(
            throws: ByteTable.TextError(line: place.line, column: place.column, reason: fault.reason)
        ) {
            try ByteTable(text: fault.text)
        }
        #expect(error?.description.hasPrefix("line \(place.line), column \(place.column): ") == true)
    }

    @Test("Random text never traps")
    func noise() {
        var random = SeededGenerator(seed: 5)
        let pieces = [
            "0x", "41", "base", "=", " ", "\n", "\"", "\\", "u{", "}", "text", "key", "-", "#", "é", "\u{0}", "\t",
        ]
        var refused = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...12, using: &random))
                .map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            do { _ = try ByteTable(text: text) } catch { refused += 1 }
        }
        #expect(refused > 10_000)
    }

    @Test("A character that the layout cannot type is refused, with byte and character")
    func untypable() throws {
        var table = ByteTable.linble
        table[0xA5] = .text("¥")
        let error = #expect(throws: CompiledTable.Failure.untypable(byte: 0xA5, character: "¥", layout: "us")) {
            try CompiledTable(table)
        }
        let text = try #require(error?.description)
        #expect(text.contains("0xa5") && text.contains("U+A5"))
    }

    @Test("A character that CapsLock alone keeps from being typed is rejected while it is on; the table stands")
    func untypableWithCapsLock() throws {
        let sharpS = KeyboardLayout.Stroke(KeyCode(rawValue: 12))
        let german = KeyboardLayout(name: "some", strokes: ["ß": [sharpS]], capsLockStrokes: [:])
        var table = ByteTable.discard
        table[0xDF] = .text("ß")
        let compiled = try CompiledTable(table, layout: german)
        #expect(compiled.rows[0xDF].marks == 0 && compiled.rows[0xDF].count == 1)
        #expect(compiled.rows[0x1DF].marks == CompiledTable.isRejected)
    }

    @Test("The US layout types printable ASCII, each character by a stroke of its own")
    func us() {
        let strokes = (0x20...0x7E).compactMap { KeyboardLayout.us.strokes(for: Unicode.Scalar(UInt8($0))) }
        #expect(strokes.count == 95 && Set(strokes).count == 95 && strokes.allSatisfy { $0.count == 1 })
        #expect(KeyboardLayout.us.strokes.count == 95)
        #expect(KeyboardLayout.us.strokes(for: "A") == [KeyboardLayout.Stroke(KeyCode(rawValue: 30), .shift)])
    }
}

@Suite("X-4, D-14: which keys are declared")
struct KeySetTests {
    @Test("The keys that a table reaches, and no others")
    func reached() throws {
        #expect(try CompiledTable(.discard).keys.codes == [])
        #expect(try CompiledTable(.strict).keys.codes.count == 47 + 1 + 1 + 1)
        let linble = try CompiledTable(.linble).keys
        for name in ["enter", "tab", "backspace", "leftshift", "space", "a"] {
            #expect(linble.codes.contains(try #require(KeyCode(name: name))))
        }
        for name in [
            "leftalt", "rightalt", "leftctrl", "rightctrl", "escape", "f1", "delete", "sysrq", "left", "power",
        ] {
            #expect(!linble.codes.contains(try #require(KeyCode(name: name))))
        }
        var digits = ByteTable.discard
        for byte in UInt8(0x30)...0x39 { digits[byte] = .text(Unicode.Scalar(byte)) }
        #expect(try CompiledTable(digits).keys.codes.map(\.rawValue) == Array(2...11))
    }

    @Test("D-14: codes 1 to 31 are added where udev is to see a keyboard")
    func keyboard() throws {
        let keys = KeySet([.leftShift, .enter])
        #expect(try keys.declared(asKeyboard: false).codes == [.enter, .leftShift])
        #expect(try keys.declared(asKeyboard: true).codes.map(\.rawValue) == Array(1...31) + [42])
    }

    @Test("D-14: Alt with function keys, arrows or Delete, and keys of the whole machine, are refused")
    func forbidden() throws {
        for name in ["sysrq", "power", "sleep", "suspend"] {
            let key = try #require(KeyCode(name: name))
            #expect(KeySet([.enter, key]).forbidden == .alone(key))
            var table = ByteTable.linble
            table[0] = .key(key)
            #expect(throws: CompiledTable.Failure.forbidden(.alone(key))) { try CompiledTable(table) }
        }
        let others = (1...24).map { "f\($0)" } + ["up", "down", "left", "right", "delete"]
        for alt in [KeyCode.leftAlt, .rightAlt] {
            #expect(KeySet([alt, .enter]).forbidden == nil)
            for name in others {
                let key = try #require(KeyCode(name: name))
                #expect(KeySet([key]).forbidden == nil)
                #expect(throws: ForbiddenKeys.together(alt, key)) {
                    try KeySet([key, alt]).declared(asKeyboard: false)
                }
            }
        }
        #expect(ForbiddenKeys.together(.leftAlt, .enter).description.contains("leftalt"))
    }

    @Test("Names and numbers of keys are the kernel's, each once")
    func names() {
        #expect(Set(KeyCode.named.map(\.name)).count == KeyCode.named.count)
        #expect(Set(KeyCode.named.map(\.code)).count == KeyCode.named.count)
        // Independent transcription of linux/input-event-codes.h.
        let numbers: [(String, UInt16)] = [
            ("escape", 1), ("1", 2), ("0", 11), ("backspace", 14), ("tab", 15), ("q", 16), ("p", 25), ("enter", 28),
            ("leftctrl", 29), ("a", 30), ("l", 38), ("apostrophe", 40), ("grave", 41), ("leftshift", 42),
            ("backslash", 43),
            ("z", 44), ("m", 50), ("slash", 53), ("rightshift", 54), ("leftalt", 56), ("space", 57), ("capslock", 58),
            ("f1", 59), ("f10", 68), ("kp7", 71), ("kp0", 82), ("kpdot", 83), ("f11", 87), ("f12", 88), ("kpenter", 96),
            ("rightctrl", 97), ("kpslash", 98), ("sysrq", 99), ("rightalt", 100), ("home", 102), ("up", 103),
            ("pageup", 104),
            ("left", 105), ("right", 106), ("end", 107), ("down", 108), ("pagedown", 109), ("insert", 110),
            ("delete", 111),
            ("power", 116), ("leftmeta", 125), ("rightmeta", 126), ("sleep", 142), ("f13", 183), ("f24", 194),
            ("suspend", 205),
        ]
        for (name, number) in numbers { #expect(KeyCode(name: name)?.rawValue == number, "\(name)") }
        #expect(KeyCode(rawValue: 700).description == "700" && KeyCode.tab.description == "tab")
        #expect(KeyCode(name: "Enter") == nil && KeyCode(name: "") == nil)
    }
}

@Suite("D-19: the event's layout")
struct InputEventTests {
    @Test("D-19: 24 bytes where a word has 64 bits, 16 where it has 32; type, code and value at the end")
    func layout() {
        #expect(InputEvent.size == (MemoryLayout<Int>.size == 8 ? 24 : 16))
        for event in [
            InputEvent(type: 1, code: 0x1234, value: 1), InputEvent(type: 0xFFFF, code: 0, value: -1), .report,
        ] {
            #expect(InputEvent(word: event.word) == event)
        }
        #expect(InputEvent.key(.enter, down: true) == InputEvent(type: 1, code: 28, value: 1))
        #expect(InputEvent.key(.enter, down: false) == InputEvent(type: 1, code: 28, value: 0))
    }
}
