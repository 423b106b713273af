// SPDX-License-Identifier: GPL-2.0-or-later

import HIDReports
import TestSupport
import Testing

@Suite("Tree of a report descriptor")
struct ReportMapTreeTests {
    /// Returns the lines of a map, each indented and after its offset.
    private func lines(_ hexadecimal: String) throws -> [String] {
        try ReportMapTree(#require(VectorFile.bytes(hexadecimal))).lines.map {
            "\($0.offset) " + String(repeating: "  ", count: $0.depth) + $0.text
        }
    }

    @Test("The keyboard of HID 1.11 as a tree")
    func keyboard() throws {
        let map = """
            05010906a101050719e029e715002501750195088102950175088101950575010508190129059102
            050715002665007508950619002a65008100c0
            """
        #expect(
            try lines(map.split(separator: "\n").joined()) == [
                "0 Usage Page (Generic Desktop)", "2 Usage (06 Keyboard)", "4 Collection (Application)",
                "6   Usage Page (Keyboard)", "8   Usage Minimum (E0 Left Control)",
                "10   Usage Maximum (E7 Right GUI)", "12   Logical Minimum (0)", "14   Logical Maximum (1)",
                "16   Report Size (1)", "18   Report Count (8)", "20   Input (Data, Variable, Absolute)",
                "22   Report Count (1)", "24   Report Size (8)", "26   Input (Constant, Array, Absolute)",
                "28   Report Count (5)", "30   Report Size (1)", "32   Usage Page (LEDs)",
                "34   Usage Minimum (01 Num Lock)", "36   Usage Maximum (05 Kana)",
                "38   Output (Data, Variable, Absolute)", "40   Usage Page (Keyboard)", "42   Logical Minimum (0)",
                "44   Logical Maximum (101)", "47   Report Size (8)", "49   Report Count (6)",
                "51   Usage Minimum (00)", "53   Usage Maximum (65 Application)", "56   Input (Data, Array, Absolute)",
                "58 End Collection",
            ]
        )
    }

    @Test("Usages have the page that the main item gives them")
    func pages() throws {
        // A page after its usages, but not where a later usage has it.
        #expect(
            try lines("0508 0904 0507 8102") == [
                "0 Usage Page (LEDs)", "2 Usage (04 A)", "4 Usage Page (Keyboard)",
                "6 Input (Data, Variable, Absolute)",
            ]
        )
        #expect(
            try lines("0507 0904 0508 0901 8102 0902 0507 C0")[1...] == [
                "2 Usage (04 A)", "4 Usage Page (LEDs)", "6 Usage (01 Num Lock)", "8 Input (Data, Variable, Absolute)",
                "10 Usage (02 POST Fail)", "12 Usage Page (Keyboard)", "14 End Collection",
            ]
        )
        #expect(
            try lines("0507 0B01008400 1B30008C00 2AFE00 81")[1...3] == [
                "2 Usage (Power: 01)", "7 Usage Minimum (Barcode Scanner: 30)", "12 Usage Maximum (FE)",
            ]
        )
        // A usage of two bytes is resolved too, but not one of four, which has its page.
        #expect(try lines("0508 0A0400 0507 8102")[1] == "2 Usage (04 A)")
        #expect(try lines("0508 0B01008400 0507 8102")[1] == "2 Usage (Power: 01)")
        #expect(try lines("058C A4 0507 B4 09FE")[4] == "6 Usage (FE Decoded Data)")
        #expect(try lines("0507 0508 B4 0901")[3] == "5 Usage (01 Num Lock)")
        #expect(try lines("0501 A4 0507 A4 0508 A4 0509 A4 050C A4 0584 B4 09E2").last == "18 Usage (E2)")
    }

    @Test(
        "Names of pages, and of usages",
        arguments: [
            ("0502 0901", "Simulation Controls", "01"), ("0505 0901", "Game Controls", "01"),
            ("050A 0901", "Ordinal", "01"), ("050B 0901", "Telephony", "01"), ("050D 0901", "Digitizers", "01"),
            ("050F 0901", "Physical Input Device", "01"), ("0520 0901", "Sensors", "01"), ("058D 0901", "Scales", "01"),
            ("0501 0902", "Generic Desktop", "02 Mouse"), ("0506 0920", "Generic Device Controls", "20"),
            ("0507 091D", "Keyboard", "1D Z"), ("0507 0927", "Keyboard", "27 0"), ("0507 091E", "Keyboard", "1E 1"),
            ("0507 0926", "Keyboard", "26 9"), ("0507 093A", "Keyboard", "3A F1"), ("0507 0945", "Keyboard", "45 F12"),
            ("0507 0973", "Keyboard", "73 F24"), ("0507 0959", "Keyboard", "59 Keypad 1"),
            ("0507 0961", "Keyboard", "61 Keypad 9"), ("0507 0987", "Keyboard", "87 International 1"),
            ("0507 098F", "Keyboard", "8F International 9"), ("0507 0990", "Keyboard", "90 LANG 1"),
            ("0507 0998", "Keyboard", "98 LANG 9"), ("0507 0999", "Keyboard", "99"),
            ("0508 0902", "LEDs", "02 Caps Lock"), ("0509 0901", "Button", "01"),
            ("050C 0AE900", "Consumer", "E9 Volume Up"), ("050C 0A3802", "Consumer", "238 AC Pan"),
            ("0584 0904", "Power", "04 UPS"), ("0585 0966", "Battery System", "66 Remaining Capacity"),
            ("058C 0902", "Barcode Scanner", "02 Barcode Scanner"), ("0600FF 0901", "Vendor-defined FF00", "01"),
            ("06FFFF 0AF1D8", "Vendor-defined FFFF", "D8F1"), ("06FFFE 0901", "FEFF", "01"), ("0599 0901", "99", "01"),
        ]
    )
    func names(map: String, page: String, usage: String) throws {
        let lines = try ReportMapTree(#require(VectorFile.bytes(map))).lines.map(\.text)
        #expect(lines == ["Usage Page (\(page))", "Usage (\(usage))"])
    }

    @Test(
        "Usages with a name, by page",
        arguments: [
            (0x01, [1, 2, 4, 5, 6, 7, 0x30, 0x31, 0x32, 0x38, 0x48, 0x80, 0x81, 0x82, 0x83]),
            (0x07, Array(1...0x73) + Array(0x87...0x98) + Array(0xE0...0xE7)),
            (0x08, [1, 2, 3, 4, 5]),
            (0x0C, [0x01, 0x30, 0xB5, 0xB6, 0xB7, 0xCD, 0xE2, 0xE9, 0xEA, 0x238]),
            (0x84, [0x04, 0x24, 0x30, 0x44, 0x65, 0x66]), (0x85, [0x04, 0x24, 0x30, 0x44, 0x65, 0x66]),
            (0x8C, [1, 2, 3, 4, 5, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF]), (0x09, []),
        ] as [(UInt16, [UInt16])]
    )
    func namedUsages(page: UInt16, ids: [UInt16]) {
        let named = (0...0x300 as ClosedRange<UInt16>).filter {
            HIDUsage(page: page, id: $0).name.utf8.firstIndex(of: UInt8(ascii: " ")) != nil
        }
        #expect(named == ids)
    }

    @Test("Numbers have the sign that Linux gives them")
    func numbers() throws {
        #expect(
            try lines("15FF 25FE 1500 25FE 35FF 46FEFF 34 46FEFF 55FF 550E 16FFFF 26FFFF 27FFFFFFFF 14 27FFFFFFFF")
                .map { String($0.drop { $0 != " " }.dropFirst()) } == [
                    "Logical Minimum (-1)", "Logical Maximum (-2)", "Logical Minimum (0)", "Logical Maximum (254)",
                    "Physical Minimum (-1)", "Physical Maximum (-2)", "Physical Minimum (0)",
                    "Physical Maximum (65534)", "Unit Exponent (-1)", "Unit Exponent (14)", "Logical Minimum (-1)",
                    "Logical Maximum (-1)", "Logical Maximum (-1)", "Logical Minimum (0)",
                    "Logical Maximum (4294967295)",
                ]
        )
        #expect(
            try lines("6514 671100F0E1 75FF 960030 85FF") == [
                "0 Unit (14)", "2 Unit (E1F00011)", "7 Report Size (255)", "9 Report Count (12288)",
                "12 Report ID (255)",
            ]
        )
    }

    @Test("Names of collections and flags")
    func flags() throws {
        let collections = try lines("A100 C0 A101 C0 A102 C0 A103 C0 A104 C0 A105 C0 A106 C0 A107 C0 A1FF C0 A0 C0")
        #expect(
            collections.filter { !$0.hasSuffix("End Collection") }.map { String($0.drop { $0 != "(" }) } == [
                "(Physical)", "(Application)", "(Logical)", "(Report)", "(Named Array)", "(Usage Switch)",
                "(Usage Modifier)", "(07)", "(FF)", "(Physical)",
            ]
        )
        #expect(
            try lines("82FF01") == [
                "0 Input (Constant, Variable, Relative, Wrap, Nonlinear, No Preferred State, Null State, Volatile, Buffered Bytes)"
            ]
        )
        #expect(
            try lines("80 90 B0") == [
                "0 Input (Data, Array, Absolute)", "1 Output (Data, Array, Absolute)",
                "2 Feature (Data, Array, Absolute)",
            ]
        )
        #expect(
            try lines("9142 B140 B108") == [
                "0 Output (Data, Variable, Absolute, Null State)", "2 Feature (Data, Array, Absolute, Null State)",
                "4 Feature (Data, Array, Absolute, Wrap)",
            ]
        )
    }

    @Test("Other items are shown by their tag")
    func others() throws {
        #expect(
            try lines("A901 A8 3901 4A0203 0C D10E C502 E702000000 A4 B4 8502") == [
                "0 Delimiter (Open)", "2 Delimiter (Close)", "3 Local 3 (01)", "5 Local 4 (0302)", "8 Reserved 0 ()",
                "9 Main D (0E)", "11 Global C (02)", "13 Global E (00000002)", "18 Push", "19 Pop", "20 Report ID (2)",
            ]
        )
    }

    @Test("The tree ends before an item that cannot be read, and after 4,096 bytes")
    func ends() throws {
        #expect(try lines("0507 25") == ["0 Usage Page (Keyboard)"])
        #expect(try lines("0507 FE0000 0507") == ["0 Usage Page (Keyboard)"])
        #expect(try lines("").isEmpty)
        #expect(ReportMapTree([UInt8](repeating: 0x04, count: 5000)).lines.count == 4096)
    }

    @Test("Indentation is limited, and an end without a collection has none")
    func depth() throws {
        let tree = ReportMapTree([UInt8](repeating: 0xA0, count: 20) + [UInt8](repeating: 0xC0, count: 22))
        #expect(tree.lines.map(\.depth) == (0..<20).map { min($0, 16) } + (0..<22).map { max(0, min(16, 19 - $0)) })
        #expect(ReportMapTree([0xA0]) == ReportMapTree([0xA0]) && ReportMapTree([0xA0]) != ReportMapTree([0xA0, 0xC0]))
    }
}
