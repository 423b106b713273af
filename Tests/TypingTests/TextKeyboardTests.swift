// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import SystemPackage
import Testing
import Typing

@Suite("The keyboard that shows text")
struct TextKeyboardTests {
    @Test(
        "LK-21, X-1: what the linble table types is seen as text, in every built-in layout",
        arguments: KeyboardLayout.builtIn
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

    @Test("LK-21: a key without a character is shown by its name")
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
