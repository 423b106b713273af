// SPDX-License-Identifier: GPL-2.0-or-later

import HIDReports
import TestSupport
import Testing

@Suite("Alt codes")
struct AltCodeTests {
    /// Returns the reports that type these keys of the keypad while Alt is held.
    private static func reports(_ keys: String) -> [BootReport] {
        let usages: [Character: UInt8] = [
            "+": 0x57, "1": 0x59, "2": 0x5A, "3": 0x5B, "4": 0x5C, "5": 0x5D, "6": 0x5E, "7": 0x5F, "8": 0x60,
            "9": 0x61, "0": 0x62, "a": 0x04, "b": 0x05, "c": 0x06, "d": 0x07, "e": 0x08, "f": 0x09,
        ]
        let held = keys.flatMap { [BootReport(modifiers: 4, keys: [usages[$0] ?? 0]), BootReport(modifiers: 4)] }
        return held + [BootReport()]
    }

    /// Decoder for one test; every code is typed from the beginning.
    private final class Typed {
        private var decoder = KeyDecoder()

        func callAsFunction(_ keys: String) -> String {
            var text: [UInt8] = []
            for report in AltCodeTests.reports(keys) { _ = decoder.decode(report.reading, into: &text) }
            return String(decoding: text, as: UTF8.self)
        }
    }

    private static func digits(_ code: Int, _ count: Int) -> String {
        let digits = String(code)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }

    @Test("Both code pages, whole")
    func codePages() throws {
        let text = Typed()
        var lines = 0
        for line in try VectorFile.lines("hid-code-pages.txt") {
            let words = line.text.split(separator: " ")
            let first = try #require(Int(words[1]))
            for (offset, word) in words.dropFirst(2).enumerated() {
                let character = try #require(UInt32(word, radix: 16).flatMap(Unicode.Scalar.init))
                let keys = Self.digits(first + offset, words[0] == "437" ? 3 : 4)
                #expect(text(keys) == String(character), "Alt+\(keys)")
            }
            #expect(words.count == 18)
            lines += 1
        }
        #expect(lines == 16)
        for code in 0..<128 {
            let character = String(Unicode.Scalar(UInt8(code)))
            #expect(text(Self.digits(code, 3)) == character)
            #expect(text(Self.digits(code, 4)) == character)
        }
        #expect((256..<1000).filter { !text(Self.digits($0, 3)).isEmpty } == [])
        #expect((256..<10000).filter { !text(Self.digits($0, 4)).isEmpty } == [])
    }

    @Test("Hexadecimal numbers of characters")
    func unicode() {
        let text = Typed()
        for value in [0, 9, 10, 0x1D, 0xAF, 0xF0, 0x3042, 0xD7FF, 0xE000, 0xFFFD, 0x10000, 0x1F640, 0x10FFFF]
            as [UInt32]
        {
            let character = Unicode.Scalar(value).map { String($0) } ?? ""
            let digits = String(value, radix: 16)
            #expect(text("+" + digits) == character)
            #expect(text("+" + String(repeating: "0", count: 6 - digits.count) + digits) == character)
        }
        for value in [0xD800, 0xDFFF, 0x110000, 0xFFFFFF] as [UInt32] {
            #expect(text("+" + String(value, radix: 16)).isEmpty)
        }
        #expect(text("+0000041").isEmpty)
        #expect(text("++041").isEmpty)
        #expect(text("0+41").isEmpty)
    }
}
