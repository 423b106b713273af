// SPDX-License-Identifier: GPL-2.0-or-later

import Testing

@testable import Keystrokes

@Suite("X-12: a barcode with a byte that cannot be typed is rejected before its first key")
struct UntypableBarcodeTests {
    /// US layout without the number sign, and with the tilde only while CapsLock is off.
    static let layout: KeyboardLayout = {
        var strokes = KeyboardLayout.us.strokes
        strokes["#"] = nil
        var capsLockStrokes = KeyboardLayout.us.capsLockStrokes
        capsLockStrokes["#"] = nil
        capsLockStrokes["~"] = nil
        return KeyboardLayout(name: "without", strokes: strokes, capsLockStrokes: capsLockStrokes)
    }()

    @Test("An untypable byte at any position rejects and counts the whole barcode; the next one is typed")
    func rejected() throws {
        for stall in [0, 100_000_000] as [Int64] {
            for place in 0...13 {
                let path = try Path(
                    layout: Self.layout,
                    stall: stall,
                    barcodes: try BarcodeRules(prefix: try BarcodeAffix("p"), duplicateWindow: 1_000_000_000)
                )
                var barcode = "490123456789\u{1}4".bytes
                barcode.insert(0x23, at: place)
                // Byte by byte, followed by a carriage return and a line feed.
                for byte in barcode + [13, 10] {
                    path.receive([byte])
                    #expect(try path.typeDue() == .sleep || byte != 13)
                }
                #expect(path.recorded.isEmpty)
                #expect(path.ledger.snapshot().rejected(.untypable) == UInt64(barcode.count + 2))
                path.receive("next\r".bytes)
                try path.typeAll()
                let account = path.ledger.snapshot()
                #expect(path.keyboard.text == "pnext\n")
                #expect(account.typed == 5 && account.discarded == 0 && account.waiting == 0)
                #expect(account.rejected == UInt64(barcode.count + 2))
            }
        }
    }

    @Test("The terminator counts where it is typed, and not where a suffix is typed in its stead")
    func terminators() throws {
        for (suffix, text) in [(nil, ""), (try BarcodeAffix("{tab}"), "ab\t")] {
            let path = try Path(
                layout: Self.layout,
                barcodes: try BarcodeRules(terminators: [0x23], suffix: suffix)
            )
            path.receive("ab#".bytes)
            try path.typeAll()
            let account = path.ledger.snapshot()
            #expect(path.keyboard.text == text)
            #expect(account.rejected(.untypable) == (suffix == nil ? 3 : 0))
            #expect(account.typed == (suffix == nil ? 0 : 2) && account.discarded == (suffix == nil ? 0 : 1))
        }
    }

    @Test("Bytes that the table discards reject nothing")
    func discarded() throws {
        let path = try Path(layout: Self.layout, barcodes: try BarcodeRules())
        path.receive("a\u{1}b\u{0}\r".bytes)
        try path.typeAll()
        #expect(path.keyboard.text == "ab\n")
        #expect(path.ledger.snapshot().discarded == 2)
    }

    @Test("The state of CapsLock at the check of a barcode decides if it can be typed")
    func light() throws {
        let light = CapsLockLight()
        let path = try Path(layout: Self.layout, barcodes: try BarcodeRules(), light: light)
        for isOn in [false, true, false] {
            light.set(isOn)
            path.keyboard.capsLock = isOn
            path.receive("a~B\r".bytes)
            try path.typeAll()
        }
        #expect(path.keyboard.text == "a~B\na~B\n")
        #expect(path.ledger.snapshot().rejected(.untypable) == 4)
    }

    @Test("A byte that becomes untypable in the middle of a paced barcode is rejected by itself")
    func lightInTheMiddle() throws {
        let light = CapsLockLight()
        let path = try Path(
            layout: Self.layout,
            pace: try Pace(.scanner, queue: .small),
            barcodes: try BarcodeRules(),
            light: light
        )
        path.receive("aa~aa\r".bytes)
        guard case .wait(let time) = try path.typeDue() else {
            Issue.record("not paced")
            return
        }
        path.now = time
        light.set(true)
        path.keyboard.capsLock = true
        try path.typeAll()
        let account = path.ledger.snapshot()
        #expect(path.keyboard.text == "aaaa\n")
        #expect(account.typed == 5 && account.rejected(.untypable) == 1 && account.waiting == 0)
    }
}
