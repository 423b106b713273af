// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Printable
import TestSupport
import Testing
import Texts

@Suite("What of a text from outside is shown", .timeLimit(.minutes(10)))
struct PrintableTextTests {
    /// Parses a text of the vectors: `<202E>` is U+202E, and `?` in displayed text is U+FFFD.
    private func text(_ written: Substring, isShown: Bool = false) throws -> String {
        var result = String.UnicodeScalarView()
        var rest = written.unicodeScalars
        while let scalar = rest.popFirst() {
            if scalar == "?", isShown {
                result.append("\u{FFFD}")
            } else if scalar == "<" {
                let end = try #require(rest.firstIndex(of: ">"))
                let value = try #require(UInt32(String(rest[..<end]), radix: 16))
                result.append(try #require(Unicode.Scalar(value)))
                rest = rest[rest.index(after: end)...]
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    @Test("T11: names in tables, and all text in JSON, have no character that turns, breaks, hides or climbs")
    func vectors() throws {
        for line in try VectorFile.lines("printable-text.txt") {
            let columns = line.text.split(separator: "\t")
            try #require(columns.count == 2, "line \(line.number)")
            let source = try text(columns[0])
            let shown = try text(columns[1], isShown: true)
            #expect(Array(LocalName.printable(source).unicodeScalars) == Array(shown.unicodeScalars), "\(line.number)")
            // JSON contains an escape instead of U+FFFD, and decoding it restores the original text.
            let quoted = JSONObject.quoted(source)
            let value = try? JSONValue(Array(quoted.utf8))
            #expect(value == .string(source) || source.unicodeScalars.contains("\0"), "\(line.number): \(quoted)")
            let plain = shown.unicodeScalars.filter { $0 != "\u{FFFD}" && $0.value > 0x7F }
            let unescaped = quoted.unicodeScalars.filter { $0.value > 0x7F }
            #expect(Array(unescaped) == Array(plain), "\(line.number): \(quoted)")
        }
    }

    @Test("T11: of all characters there are, none of such a category is shown, in a table or in JSON")
    func everyScalar() {
        for value in 0...0x10FFFF as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isHidden =
                switch scalar.properties.generalCategory {
                case .control, .format, .privateUse, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator: true
                default: scalar.properties.isDefaultIgnorableCodePoint
                }
            var scalars = PrintableScalars()
            let isBaseShown = scalars.shows("a")
            if !isBaseShown || scalars.shows(scalar) == isHidden { Issue.record("U+\(String(value, radix: 16))") }
            guard isHidden else { continue }
            let shown = JSONObject.quoted("a\(scalar)").unicodeScalars
            if !shown.allSatisfy({ $0.isASCII && $0.value >= 0x20 && $0.value != 0x7F }) {
                Issue.record("U+\(String(value, radix: 16)) in JSON")
            }
        }
    }

    @Test("T11: TOML, which knows no surrogates, gets eight digits above U+FFFF")
    func toml() {
        #expect(JSONObject.quoted("a\u{202E}\u{E0001}\u{301}b", as: .toml) == #""a\u202e\U000e0001\u0301b""#)
        #expect(JSONObject.quoted("a\u{202E}\u{E0001}\u{301}b") == #""a\u202e\udb40\udc01\u0301b""#)
    }
}
