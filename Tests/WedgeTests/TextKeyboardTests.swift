// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import LinuxIO
import SystemPackage
import Testing
import Wedge

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

@Suite("Barcodes of simulated devices")
struct BarcodesTests {
    @Test("LK-21: check digits are those of EAN-13, as printed on known books and pencils")
    func checkDigits() {
        #expect(Barcodes.ean13("978014044926") == "9780140449266")
        #expect(Barcodes.ean13("400638133393") == "4006381333931")
        #expect(Barcodes.ean13("12") == "12")
        #expect(Barcodes.ean13("97801404492x") == "97801404492x")
    }

    @Test("LK-21: numbered ones are 13 digits and differ")
    func numbered() {
        let some = (0..<1000).map(Barcodes.numbered)
        #expect(Set(some).count == 1000)
        #expect(some.allSatisfy { $0.utf8.count == 13 })
        #expect(Barcodes.numbered(-1).utf8.count == 13)
    }
}
