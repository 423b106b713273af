// SPDX-License-Identifier: GPL-2.0-or-later

import Testing

@testable import Keystrokes

@Suite("LK-21: bytes become keystrokes")
struct TypistTests {
    @Test("LK-21: a barcode is typed, whole, in one write")
    func barcode() throws {
        var path = try Path(stall: 100_000_000)
        path.receive("4901234567894\r\n".bytes)
        #expect(try path.typeDue() == .sleep)
        #expect(path.keyboard.text == "4901234567894\n")
        #expect(path.writes.map(\.events) == [56])
        let account = path.ledger.snapshot()
        #expect(account.received == 15 && account.typed == 15 && account.waiting == 0)
    }
}
