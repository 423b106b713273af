// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Keystrokes
import TestSupport
import Testing
import Texts
import Typing

@Suite("The small keyboard and its snippets")
struct KeypadTests {
    @Test("LK-23: digits, signs and keys have names, which are case-insensitive; no other key has a name")
    func names() {
        let documented = "0 1 2 3 4 5 6 7 8 9 + - < > . , space backspace enter tab left right home end delete escape"
        #expect(Set(KeyName.allCases.map(\.description)) == Set(documented.split(separator: " ").map(String.init)))
        for key in KeyName.allCases {
            #expect(KeyName(key.description) == key)
            #expect(KeyName(key.description.uppercased()) == key)
        }
        #expect(KeyName("plus") == .character("+") && KeyName("Period") == .character("."))
        for (name, code) in KeyCode.named where !documented.split(separator: " ").contains(Substring(name)) {
            let alias = KeyName.aliases.first { $0.name == name }
            #expect(KeyName(name) == alias.map { .character($0.character) }, "\(name)")
            #expect(!KeyName.allCases.contains(.key(code)), "\(name)")
        }
        for text in ["", " ", "a", "12", "ctrl+a", "/", "enter ", "1\u{301}"] {
            #expect(KeyName(text) == nil, "\(text)")
        }
    }

    @Test("Shells complete every key by a word that no shell takes for its own")
    func words() {
        #expect(KeyName.words.map(KeyName.init) == KeyName.allCases)
        #expect(KeyName.words.allSatisfy { word in word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } })
    }

    @Test("D-14: the keypad reaches no key that leaves the application or stops the machine")
    func forbidden() throws {
        for layout in [KeyboardLayout.us, .jp, .jpYen] {
            let keypad = try Keypad(layout: layout)
            #expect(keypad.keys.forbidden == nil)
            for name in ["sysrq", "power", "sleep", "f1", "leftalt", "rightalt", "leftmeta"] {
                #expect(KeyCode(name: name).map(keypad.keys.codes.contains) == false, "\(layout.name) \(name)")
            }
            #expect(keypad.canMove)
        }
    }

    @Test("D-14: beside a table that needs AltGr the cursor keys are refused with the reason, and the rest is there")
    func beside() throws {
        let altGr = KeySet([.rightAlt])
        let keypad = try Keypad(layout: .us, beside: altGr, snippets: Snippets(.habr))
        #expect(keypad.keys.union(altGr).forbidden == nil)
        #expect(!keypad.canMove)
        for name in ["left", "right", "delete"] {
            let key = try #require(KeyName(name))
            do throws(TypingError) {
                _ = try keypad.sequence(of: [key])
                Issue.record("\(name) is declared beside AltGr")
            } catch {
                let failure = error.failure
                #expect(failure.status == .configuration)
                #expect(failure.cause.english.contains("\(name) are refused together"), "\(failure.cause)")
            }
        }
        let rest = KeyName.allCases.filter { !["left", "right", "delete"].contains($0.description) }
        #expect(try keypad.sequence(of: rest).steps == rest.map(\.step))
        // HK-2: the text is typed without moving the cursor back.
        #expect(
            try keypad.sequence(ofSnippet: "bold").steps == Snippet(title: "", text: "<b></b>").steps(canMove: false)
        )
    }

    @Test("A sequence is bytes of the keypad's table that press what its steps say", arguments: [false, true])
    func bytes(capsLock: Bool) throws {
        for layout in [KeyboardLayout.us, .jp, .jpYen] {
            let keypad = try Keypad(layout: layout, snippets: Snippets(.habr))
            let sequences =
                [try keypad.sequence(of: KeyName.allCases), try keypad.clearing(3)]
                + (try Snippets(.habr).all.map { try keypad.sequence(ofSnippet: $0.title) })
            for sequence in sequences {
                let expected = sequence.steps.flatMap { step -> [KeyboardLayout.Stroke] in
                    switch step {
                    case .key(let key, let modifiers): [KeyboardLayout.Stroke(key, modifiers)]
                    case .character(let character, _): layout.strokes(for: character, capsLock: capsLock) ?? []
                    }
                }
                let pressed = sequence.bytes.flatMap { keypad.table.strokes(of: $0, capsLock: capsLock) }
                #expect(pressed == expected, "\(layout.name)")
            }
        }
    }

    @Test("After a snippet the cursor stands where snippets.txt says")
    func inputPoints() throws {
        let lines = try VectorFile.lines("snippets.txt")
        #expect(lines.count > 15)
        for (number, line) in lines {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(Self.unescaped)
            try #require(parts.count == 2, "line \(number)")
            let snippet = Snippet(title: "x", text: parts[0])
            let halves = parts[1].split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
            try #require(halves.count == 2, "line \(number)")
            #expect(parts[0] == halves.joined(), "line \(number)")
            #expect(snippet.leftPresses == halves[1].count, "line \(number)")
            // The text and the cursor, as an application would have them.
            var field = Field()
            for step in snippet.steps() { field.take(step) }
            #expect(field.text == parts[0], "line \(number)")
            #expect(field.cursor == halves[0].count, "line \(number)")
        }
    }

    @Test("Opening and closing text are the user's, each with a default; the cursor goes between them")
    func halves() throws {
        func snippet(_ title: String, _ json: String) throws -> Snippet? {
            try Snippets(json: Array(json.utf8), over: .habr)[title: title]
        }
        #expect(Snippets(.habr)[title: "sarcasm"]?.text == "<sarcasm></sarcasm>")
        #expect(try snippet("sarcasm", #"{"sarcasm": {"opening": "<irony>"}}"#)?.text == "<irony></sarcasm>")
        #expect(try snippet("bore", #"{"bore": {"closing": "!"}}"#)?.text == "<bore>!")
        let both = try snippet("sarcasm", #"{"sarcasm": {"opening": "*", "closing": "**"}}"#)
        #expect(both?.text == "***" && both?.leftPresses == 2)
        #expect(try snippet("sarcasm", #"{"sarcasm": "just this"}"#)?.text == "just this")
        #expect(try snippet("mine", #"{"mine": {"opening": "("}}"#)?.text == "(")
        #expect(try Snippets(json: Array("{}".utf8), over: .habr) == Snippets(.habr))
        let ordered = try Snippets(json: Array(#"{"b": "1", "bold": "2", "a": "3"}"#.utf8), over: .habr).all.map(
            \.title
        )
        #expect(ordered == Snippets(.habr).all.map(\.title) + ["b", "a"])
    }

    @Test(
        "A file of snippets that is wrong is refused, and says what is wrong and where",
        arguments: [
            ("", "line 1, column"), ("{", "line 1, column"), ("[]", "an object"), ("\"text\"", "an object"),
            ("{\"a\": 1}", "snippet \"a\""), ("{\"a\": null}", "snippet \"a\""), ("{\"a\": [\"b\"]}", "snippet \"a\""),
            ("{\n\"a\": \"b\",\n}", "line 3"), ("{\"a\": \"b\", \"a\": \"c\"}", "duplicate"),
            ("{\"a\": \"b\"} x", "line 1"),
            ("{\"\": \"b\"}", "title"), ("{\"a\": {\"open\": \"b\"}}", "\"open\""),
            ("{\"a\": {\"opening\": 1}}", "\"opening\" is no text"), ("{\"a\": \"\\u001b\"}", "U+1B"),
            ("{\"a\": \"\\u0000\"}", "line 1"), ("{\"a\": \"\\ud800\"}", "line 1"), ("{'a': 'b'}", "line 1"),
        ]
    )
    func wrongFiles(json: String, reason: String) throws {
        do throws(Snippets.Fault) {
            _ = try Snippets(json: Array(json.utf8))
            Issue.record("taken")
        } catch {
            #expect(error.description.contains(reason), "\(error)")
        }
    }

    @Test("Titles, texts, the number of snippets and the file have bounds; every truncation is refused")
    func bounds() throws {
        func isTaken(_ json: String) -> Bool { (try? Snippets(json: Array(json.utf8))) != nil }
        #expect(isTaken("{\"\(String(repeating: "t", count: 64))\": \"\(String(repeating: "x", count: 1024))\"}"))
        #expect(!isTaken("{\"\(String(repeating: "t", count: 65))\": \"x\"}"))
        #expect(!isTaken("{\"t\": \"\(String(repeating: "x", count: 1025))\"}"))
        let many = (0..<200).map { "\"\($0)\": \"x\"" }
        #expect(isTaken("{\(many.joined(separator: ","))}"))
        #expect(!isTaken("{\((many + ["\"200\": \"x\""]).joined(separator: ","))}"))
        #expect(!isTaken("{}" + String(repeating: " ", count: Snippets.largestFile)))
        #expect(!isTaken(String(repeating: "[", count: 100_000)))
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        #expect(!isTaken("{\"a\": \(deep)}"))
        let whole = Array("{\"é\": \"漢\", \"b\": {\"opening\": \"\\u00e9\"}}".utf8)
        #expect(throws: Never.self) { try Snippets(json: whole) }
        for count in 0..<whole.count {
            #expect(throws: Snippets.Fault.self, "\(count) bytes") { try Snippets(json: Array(whole.prefix(count))) }
        }
        #expect(throws: Snippets.Fault.self) {
            try Snippets(json: Array("{\"a\": \"".utf8) + [0xFF] + Array("\"}".utf8))
        }
    }

    @Test("There need be no file; one that cannot be read is a permission or configuration failure with its path")
    func files() throws {
        let directory = try TestDirectory()
        try directory.write("no snippets\n", to: "file")
        #expect(try Snippets(file: directory("none"), over: .habr) == Snippets(.habr))
        #expect(try Snippets(file: directory("none"), over: .none).all.isEmpty)
        #expect(throws: TypingError.self) { try Snippets(file: directory.path, over: .none) }
        do throws(TypingError) {
            _ = try Snippets(file: directory("file"), over: .none)
            Issue.record("taken")
        } catch {
            let failure = error.failure
            #expect(failure.status == .configuration && failure.cause.english.contains("\(directory("file")): line 1"))
        }
    }

    @Test("A snippet that the layout cannot type is rejected by name; other snippets are typed")
    func untypable() throws {
        let snippets = try Snippets(json: Array(#"{"yen": "¥5", "fine": "5"}"#.utf8))
        let keypad = try Keypad(layout: .us, snippets: snippets)
        #expect(try keypad.sequence(ofSnippet: "fine").steps == [.character("5", [])])
        for (title, words) in [("yen", ["yen", "us", "¥"]), ("none", ["none", "fine", "yen"])] {
            do throws(TypingError) {
                _ = try keypad.sequence(ofSnippet: title)
                Issue.record("\(title) is typed")
            } catch {
                let said = "\(error.failure.cause) \(error.failure.remedy?.english ?? "")"
                for word in words { #expect(said.contains(word), "\(error)") }
            }
        }
        let yen = try Keypad(layout: .jpYen, snippets: snippets)
        #expect(try yen.sequence(ofSnippet: "yen").steps.count == 2)
    }

    private static func unescaped(_ text: Substring) -> String {
        text.split(separator: "\\n", omittingEmptySubsequences: false).joined(separator: "\n")
    }
}

/// Text field of an application that receives the keystrokes.
struct Field {
    private var characters: [Character] = []
    private(set) var cursor = 0

    init(_ text: String = "") {
        characters = Array(text)
        cursor = characters.count
    }

    var text: String { String(characters) }

    mutating func take(_ step: ByteTable.Step) {
        switch step {
        case .character(let character, _): insert(Character(character))
        case .key(let key, _):
            switch key.name {
            case "enter": insert("\n")
            case "tab": insert("\t")
            case "left": cursor = max(0, cursor - 1)
            case "right": cursor = min(characters.count, cursor + 1)
            case "home": cursor = 0
            case "end": cursor = characters.count
            case "backspace" where cursor > 0:
                cursor -= 1
                characters.remove(at: cursor)
            case "delete" where cursor < characters.count: characters.remove(at: cursor)
            default: break
            }
        }
    }

    private mutating func insert(_ character: Character) {
        characters.insert(character, at: cursor)
        cursor += 1
    }
}
