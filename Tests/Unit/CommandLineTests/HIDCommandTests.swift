// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import TestSupport
import Testing
import Texts

@Suite("blewedge hid try", .timeLimit(.minutes(5)))
struct HIDCommandTests {
    /// A keyboard with an array of three slots and a modifier byte, unnumbered.
    private static let map = "0501 0906 A101 0507 19E0 29E7 2501 7501 9508 8102 1900 2965 2565 7508 9503 8100 C0"

    @Test("The items of a map, its reports, and the keys and the text of each input report")
    func keyboard() throws {
        let reports = ["02040000", "00000000", "02040506", "00010101", "0004", "0000000000"]
        let outcome = try run(["hid", "try", Self.map] + reports)
        #expect(outcome.status == 0 && outcome.error.isEmpty)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        #expect(
            lines.prefix(5) == [
                "   0  Usage Page (Generic Desktop)", "   2  Usage (06 Keyboard)", "   4  Collection (Application)",
                "   6    Usage Page (Keyboard)", "   8    Usage Minimum (E0 Left Control)",
            ]
        )
        #expect(
            lines.suffix(8) == [
                "  32  End Collection", "input report 0: 4 bytes, with keys",
                #"02040000: held E1 Left Shift, 04 A; text "A""#, "00000000: no key held; key released",
                #"02040506: held E1 Left Shift, 04 A, 05 B, 06 C; text "ABC""#,
                "00010101: held 04 A, 05 B, 06 C; roll-over: too many keys held",
                "0004: held 04 A; key released (shorter than declared)",
                "0000000000: no key held; key released (longer than declared)",
            ]
        )
    }

    @Test("Reports with ids: the first byte is the id")
    func ids() throws {
        let map = "0507 8501 19002965 2565 7508 9502 8100 8502 050C 09E2 8100 8101 0508 0901 9102 B102"
        let outcome = try run(["hid", "try", map, "01 04 05", "0200 00 00", "03"], environment: ["BLEWEDGE_LANG=ja"])
        let lines = outcome.output.split(separator: "\n").suffix(7)
        #expect(
            Array(lines) == [
                "入力レポート 1: 2バイト、キーあり", "入力レポート 2: 4バイト、キーなし", "出力レポート 2: 2バイト",
                "フィーチャレポート 2: 2バイト", #"010405: 押下中 04 A, 05 B、文字 "ab""#,
                "02000000: 押下中 04 A, 05 B、キーのないレポート(宣言より短い)",
                "03: 押下中 04 A, 05 B、マップにないレポート",
            ]
        )
    }

    @Test("The device layout decides on the text")
    func layout() throws {
        let outcome = try run(["hid", "try", Self.map, "02350000", "001C1D00", "--device-layout", "de"])
        #expect(outcome.output.contains(#"text "°""#) && outcome.output.contains(#"text "zy""#), "\(outcome.output)")
    }

    @Test("One JSON object with items, reports and readings")
    func json() throws {
        let outcome = try run(["hid", "try", "0507 19002965 2565 7508 9501 8100 9100", "04", "--json"])
        #expect(outcome.status == 0)
        let value = try JSONValue(Array(outcome.output.utf8))
        #expect(value["items"]?.array?.count == 8)
        #expect(
            outcome.output.hasPrefix(#"{"items":[{"offset":0,"depth":0,"text":"Usage Page (Keyboard)"},"#)
                && outcome.output.hasSuffix(
                    #""reports":[{"kind":"input","id":0,"bits":8,"keys":true},{"kind":"output","id":0,"bits":8,"keys":false}],"#
                        + #""readings":[{"report":"04","outcome":"typed","length":"asDeclared","held":["04"],"text":"a"}]}"#
                        + "\n"
                ),
            "\(outcome.output)"
        )
    }

    @Test("A map from a file of digits, from one of bytes, and from standard input")
    func files() throws {
        let home = try TestDirectory()
        try home.write("0x05, 0x07,\n 0x85 0x01\n", to: "digits")
        try home.write("\u{05}\u{07}\u{25}\u{01}", to: "bytes")
        let expected = "   0  Usage Page (Keyboard)\n   2  Report ID (1)\n"
        #expect(try run(["hid", "try", home("digits")]).output == expected)
        #expect(try run(["hid", "try", "-"], prelude: "exec <\(home("digits"))").output == expected)
        #expect(try run(["hid", "try", home("bytes")]).output.contains("   2  Logical Maximum (1)"))
        try home.write(String(repeating: " ", count: 1 << 16), to: "longest")
        try home.write(String(repeating: " ", count: 1 << 16 + 1), to: "long")
        #expect(try run(["hid", "try", home("longest")]).error.contains("the map is empty"))
        for arguments in [[home("long")], [home.path]] {
            let outcome = try run(["hid", "try"] + arguments)
            #expect(outcome.status == 74 && outcome.error.contains("cannot read"), "\(outcome.error)")
        }
        let outcome = try run(["hid", "try", "-"], prelude: "exec <\(home("long"))")
        #expect(outcome.status == 74 && outcome.error.contains("cannot read -"))
    }

    @Test(
        "A refused map: the items up to the refused one, its position and the reason",
        arguments: [
            ("0507 A101 75FF 760101 0904", "byte 6: Report Size 257 exceeds 256 bits", 4),
            ("0507 960130", "byte 2: Report Count 12289 exceeds 12288", 2),
            ("0507 8500", "byte 2: Report ID 0 is not from 1 to 255", 2),
            ("0507 25", "byte 2: the last item is incomplete", 1),
            ("0507 FE0000", "byte 2: long items are not supported", 1),
            ("0507 C501", "byte 2: unknown global item C", 2),
            ("A4A4A4A4A4", "byte 4: more than 4 levels of Push", 5), ("B4", "byte 0: Pop without Push", 1),
            ("C0", "byte 0: End Collection without Collection", 1), ("A901 A901", "byte 2: nested delimiters", 2),
            ("A8", "byte 0: closing delimiter without an opening one", 1),
            ("1900 2AFF2F 0904", "byte 5: a field has more than 12288 usages", 3),
            ("1505 2504 0904 8102", "byte 6: Logical Maximum 4 is below Logical Minimum 5", 4),
            ("75FF 96FF00 8101", "byte 5: a report of 65025 bits exceeds 32760 bits", 3),
            ("A101", "byte 2: a collection has no end", 1), ("A901", "byte 2: a delimiter has no end", 1),
        ]
    )
    func refused(map: String, reason: String, lines: Int) throws {
        let outcome = try run(["hid", "try", map])
        #expect(outcome.status == 74)
        #expect(outcome.output.split(separator: "\n").count == lines, "\(outcome.output)")
        #expect(outcome.error.contains("report map refused at \(reason)\n"), "\(outcome.error)")
        #expect(outcome.error.contains("fix: check that the map is complete and unchanged"))
        let json = try run(["hid", "try", map, "--json"])
        #expect(json.status == 74 && json.output.isEmpty)
    }

    @Test("A map beyond 4,096 bytes is refused")
    func tooLong() throws {
        let outcome = try run(["hid", "try", String(repeating: "04", count: 4097)])
        #expect(outcome.status == 74 && outcome.error.contains("byte 4096: the map has more than 4096 bytes"))
        #expect(outcome.output.split(separator: "\n").count == 4096)
    }

    @Test(
        "Wrong arguments: one cause and one remedy",
        arguments: [
            (["none"], "none is neither a file nor pairs of hexadecimal digits"),
            (["0507", "0"], "report 0 is not made of pairs of hexadecimal digits"),
            (["8501 2501 7508 9501 8101", ""], "an empty report has no id byte"),
            (["0507", "--device-layout", "xx"], "unknown device layout xx"),
        ]
    )
    func wrong(arguments: [String], cause: String) throws {
        let outcome = try run(["hid", "try"] + arguments)
        #expect(outcome.status == 64 && outcome.output.isEmpty)
        #expect(outcome.error.contains(cause) && outcome.error.contains("fix: "), "\(outcome.error)")
        #expect(outcome.error.split(separator: "\n").count == 2)
    }
}
