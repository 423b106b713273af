// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import Link
import Testing

@Suite("Barcodes of simulated devices")
struct BarcodesTests {
    @Test("Check digits are those of EAN-13, as printed on known books and pencils")
    func checkDigits() {
        #expect(Barcodes.ean13("978014044926") == "9780140449266")
        #expect(Barcodes.ean13("400638133393") == "4006381333931")
        #expect(Barcodes.ean13("12") == "12")
        #expect(Barcodes.ean13("97801404492x") == "97801404492x")
    }

    @Test("Numbered ones are 13 digits and differ")
    func numbered() {
        let some = (0..<1000).map(Barcodes.numbered)
        #expect(Set(some).count == 1000)
        #expect(some.allSatisfy { $0.utf8.count == 13 })
        #expect(Barcodes.numbered(-1).utf8.count == 13)
        // The weights are 1 and 3 in turn: 2 + 8 = 10, and 2 + 3 * 9 + 1 = 30.
        let numbers = [0, 9, 10_000_000_009].map(Barcodes.numbered)
        #expect(numbers == ["2000000000008", "2000000000091", "2000000000091"])
    }
}
