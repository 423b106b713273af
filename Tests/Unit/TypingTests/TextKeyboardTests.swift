// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import SystemPackage
import Testing
import Typing

@Suite("The keyboard that shows text")
struct TextKeyboardTests {
    @Test(
        "What the linble table types is seen as text, in the US and Japanese layouts",
        arguments: [KeyboardLayout.us, .jp, .jpYen]
    )
    func readsBack(layout: KeyboardLayout) throws {
        let keyboard = try TextKeyboard(layout: layout)
        var encoder = ByteEncoder(try CompiledTable(ByteTable(.linble), layout: layout))
        let text = "aAbB 019 !@#$%^&*()_+-=[]{};':\",./<>?|~`zZ\tEnd\r\n"
        var bytes = Array(text.utf8)
        while !bytes.isEmpty {
            let taken = encoder.encode(bytes.span)
            bytes.removeFirst(taken)
            guard case .done(let count) = try keyboard.write(encoder.output) else {
                Issue.record("not taken")
                return
            }
            #expect(count == encoder.output.byteCount)
        }
        #expect(keyboard.screen.takeText() == "aAbB 019 !@#$%^&*()_+-=[]{};':\",./<>?|~`zZ\tEnd\n")
        #expect(keyboard.screen.takeText() == "")
    }

    @Test("Characters of AltGr are seen as text, and a key with Ctrl by its name")
    func seesModifiers() throws {
        let layout = try LayoutSource.layout("de")
        let keyboard = try TextKeyboard(layout: layout)
        var encoder = ByteEncoder(try CompiledTable(ByteTable(text: "0x01 = key ctrl+a\n"), layout: layout))
        let bytes = Array("a@[]{}\\|z\u{1}A".utf8)
        #expect(encoder.encode(bytes.span) == bytes.count)
        _ = try keyboard.write(encoder.output)
        #expect(keyboard.screen.takeText() == "a@[]{}\\|z[ctrl+a]A")
    }

    @Test("A key without a character is shown by its name")
    func namesKeys() throws {
        let keyboard = try TextKeyboard(layout: .us)
        var encoder = ByteEncoder(try CompiledTable(ByteTable(.linble), layout: .us))
        let backspace: [UInt8] = [8]
        _ = encoder.encode(backspace.span)
        _ = try keyboard.write(encoder.output)
        #expect(keyboard.screen.takeText() == "[backspace]")
        #expect(keyboard.screen.counts == (4, 1))
    }
}
