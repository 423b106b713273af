// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import TestSupport
import Testing
import Typing

@Suite("Characters that clear deletes")
struct FieldLengthTests {
    @Test("HK-5: clear is End and as many Backspaces as characters are ours, at most 1000; or Ctrl+A and Backspace")
    func sequences() throws {
        let keypad = try Keypad(layout: .jp)
        let (end, backspace) = (
            ByteTable.Step.key(try #require(KeyCode(name: "end")), []), ByteTable.Step.key(.backspace, [])
        )
        #expect(try keypad.clearing(0).steps == [end])
        #expect(try keypad.clearing(-5).steps == [end])
        #expect(try keypad.clearing(3).steps == [end, backspace, backspace, backspace])
        #expect(try keypad.clearing(.max).steps.count == 1 + FieldLength.most)
        let selecting = try Keypad(layout: .jp, clearing: .selectAll)
        #expect(try selecting.clearing(3).steps == [.character("a", .control), backspace])
        #expect(selecting.keys.codes.contains(.leftControl) && !keypad.keys.codes.contains(.leftControl))
    }

    @Test(
        "Whatever was typed, and wherever the cursor is, what stood in the field before stays, and clear twice is once"
    )
    func nothingElse() throws {
        var random = SeededGenerator(seed: 11)
        let keypad = try Keypad(layout: .us)
        for _ in 0..<RunCount.from("BLEWEDGE_CONTROL_RUNS", usual: 2000) {
            var field = Field("before")
            let typed = TypedField(keypad.effects)
            // Keys with which the cursor stays in one field and within the text typed before.
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                guard let key = KeyName.allCases.randomElement(using: &random) else { continue }
                let isForeign = ["left", "home", "enter", "tab", "escape", "backspace", "delete"].contains(
                    key.description
                )
                if isForeign, !(key == .key(.backspace) && typed.characters > 0) { continue }
                let sequence = try keypad.sequence(of: [key])
                sequence.steps.forEach { field.take($0) }
                typed.press(sequence.steps, .us)
            }
            for _ in 0..<2 {
                let clear = try keypad.clearing(typed.characters)
                clear.steps.forEach { field.take($0) }
                typed.press(clear.steps, .us)
                #expect(field.text == "before")
                #expect(typed.characters == 0)
            }
        }
    }

    @Test("Enter, Tab and Escape leave the field, commands make it unknown, and the count has bounds")
    func effects() throws {
        func length(_ steps: [ByteTable.Step]) -> Int {
            var length = FieldLength()
            for step in steps { length.take(FieldLength.Effect(step)) }
            return length.characters
        }
        let abc = "abc".unicodeScalars.map { ByteTable.Step.character($0, []) }
        #expect(length(abc) == 3)
        #expect(length(abc + [.character("D", .shift), .character("@", .altGr)]) == 5)
        for key in ["enter", "tab", "escape", "f8", "up", "pagedown", "insert"] {
            let code = try #require(KeyCode(name: key))
            #expect(length(abc + [.key(code, [])]) == 0, "\(key)")
            #expect(length(abc + [.key(code, [])] + abc) == 3, "\(key)")
        }
        for key in ["left", "right", "home", "end"] {
            #expect(length(abc + [.key(try #require(KeyCode(name: key)), [])]) == 3, "\(key)")
        }
        #expect(length(abc + [.key(.backspace, [])]) == 2)
        #expect(length(abc + [.key(try #require(KeyCode(name: "delete")), [])]) == 2)
        #expect(length([.key(.backspace, [])] + abc) == 3)
        #expect(length(abc + [.character("]", .control)]) == 0)
        #expect(length(abc + [.key(.backspace, .control)]) == 0)
        var much = FieldLength()
        for _ in 0..<10 { much.take(.change(.max)) }
        #expect(much.characters == FieldLength.most)
        much.take(.change(.min))
        #expect(much.characters == 0)
    }

    @Test("Each character that is typed counts once, whatever strokes it takes", arguments: [false, true])
    func received(capsLock: Bool) throws {
        let acute = KeyboardLayout.Stroke(KeyCode(rawValue: 13))
        var strokes = KeyboardLayout.us.strokes
        strokes["é"] = [acute, KeyboardLayout.Stroke(KeyCode(rawValue: 18))]
        strokes["="] = nil
        let layout = KeyboardLayout(name: "dead", strokes: strokes, capsLockStrokes: strokes)
        let field = TypedField(KeyEffects(layout))
        func characters(_ text: String) -> Int {
            field.press(text.unicodeScalars.map { .character($0, []) }, layout, capsLock: capsLock)
            return field.characters
        }
        #expect(characters("aB3") == 3)
        #expect(characters("é") == 4)
        #expect(characters("ée") == 6)
        field.press([.key(.backspace, [])], layout)
        #expect(field.characters == 5)
        field.press([.key(.enter, [])], layout)
        #expect(field.characters == 0)
        #expect(characters("xyz") == 3)
        field.press([.character("a", .control)], layout)
        #expect(field.characters == 0)
    }

    @Test("Keys that are held count once, and what was not written does not count")
    func held() {
        let field = TypedField(KeyEffects(.us))
        let a = KeyCode(rawValue: 30)
        field.take(bytes([.key(a, down: true), .report]).span.bytes)
        #expect(field.characters == 1)
        field.take(bytes([InputEvent(type: InputEvent.key, code: a.rawValue, value: 2), .report]).span.bytes)
        field.take(bytes([.key(a, down: false), .report]).span.bytes)
        #expect(field.characters == 1)
        let next = bytes([.key(a, down: true), .report])
        field.take(next.span.bytes.extracting(first: InputEvent.size - 1))
        #expect(field.characters == 1)
        // After a nonexistent key, the contents of the field are unknown.
        field.take(bytes([InputEvent(type: InputEvent.key, code: .max, value: 1)]).span.bytes)
        #expect(field.characters == 0)
    }
}

/// Returns the events in the format for the keyboard.
private func bytes(_ events: [InputEvent]) -> [UInt8] {
    events.flatMap { event in
        Array(repeating: 0, count: InputEvent.size - 8)
            + withUnsafeBytes(of: (event.type, event.code, event.value)) { Array($0) }
    }
}

extension TypedField {
    /// Presses the keys of the steps one after another.
    fileprivate func press(_ steps: [ByteTable.Step], _ layout: KeyboardLayout, capsLock: Bool = false) {
        for step in steps {
            let strokes: [KeyboardLayout.Stroke] =
                switch step {
                case .key(let key, let modifiers): [KeyboardLayout.Stroke(key, modifiers)]
                case .character(let character, let modifiers):
                    (layout.strokes(for: character, capsLock: capsLock) ?? []).map {
                        KeyboardLayout.Stroke($0.key, $0.modifiers.union(modifiers))
                    }
                }
            for stroke in strokes {
                let down = stroke.modifiers.keys.map { InputEvent.key($0, down: true) }
                let up = stroke.modifiers.keys.map { InputEvent.key($0, down: false) }
                let key = [InputEvent.key(stroke.key, down: true), .report, .key(stroke.key, down: false)]
                take(bytes(down + key + up + [.report]).span.bytes)
            }
        }
    }
}
