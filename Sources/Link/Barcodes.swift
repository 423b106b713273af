// SPDX-License-Identifier: GPL-2.0-or-later

/// Barcodes as a scanner would send them, for simulated devices.
package enum Barcodes {
    /// The barcodes of the demo: books, food, a parcel, a serial number and an address on the web.
    package static let samples = [
        ean13("490277802014"), ean13("978014044926"), ean13("400638133393"), ean13("501234567890"),
        "LOT-2026/11-A7", "SN:LT01 BC000120", ean13("307560000135"), "https://example.org/t?id=4711",
    ]

    /// Twelve digits with the check digit that makes them an EAN-13.
    ///
    /// Anything but twelve digits comes back as it is. ISO/IEC 15420: weights 1 and 3 in turn, the sum rounded up to a ten.
    package static func ean13(_ digits: String) -> String {
        let values = digits.utf8.map { Int($0) - 0x30 }
        guard values.count == 12, values.allSatisfy({ (0...9).contains($0) }) else { return digits }
        let sum = values.enumerated().reduce(0) { $0 + $1.element * ($1.offset.isMultiple(of: 2) ? 1 : 3) }
        return digits + String((10 - sum % 10) % 10)
    }

    /// The `index`-th of an endless row of EAN-13, none twice within ten thousand million.
    package static func numbered(_ index: Int) -> String {
        // 20 to 29 are for a shop's own numbers.
        let number = String(UInt(bitPattern: index) % 10_000_000_000)
        return ean13("20" + String(repeating: "0", count: 10 - number.count) + number)
    }
}
