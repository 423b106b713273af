// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Testing
import Texts
import Typing

@testable import Keystrokes
@testable import LinuxIO

/// Text typed with a layout, decoded by libxkbcommon and its compose table instead of the product's own tables.
@Suite("X-5: layouts, read back through libxkbcommon")
struct LayoutTests {
    /// Layout with its name in the product and in xkb-data.
    struct Case: CustomTestStringConvertible, Sendable {
        var name: String
        var layout: String
        var variant = ""
        var testDescription: String { name }
    }

    static let main: [Case] = [
        Case(name: "us", layout: "us"), Case(name: "jp", layout: "jp"), Case(name: "xkb:us", layout: "us"),
        Case(name: "jp(OADG109A)", layout: "jp", variant: "OADG109A"), Case(name: "xkb:jp", layout: "jp"),
        Case(name: "de", layout: "de"), Case(name: "fr", layout: "fr"), Case(name: "xkb:de", layout: "de"),
    ]

    /// Returns the text for the bytes of one block, according to the requirements and independently of the table.
    static func meaning(_ bytes: [UInt8], table: ByteTable.BuiltIn) -> [UInt32] {
        var text: [UInt32] = []
        var isAfterReturn = false
        for byte in bytes where table != .discard {
            let isAbsorbed = isAfterReturn && byte == 10
            isAfterReturn = byte == 13
            switch (byte, table) {
            case _ where isAbsorbed: break
            case (0x20...0x7E, _): text.append(UInt32(byte))
            case (10, _), (13, _): text.append(13)
            case (9, .linble), (8, .linble): text.append(UInt32(byte))
            case (0x1D, .gs1Text): text += "<GS>".unicodeScalars.map(\.value)
            case (0x1D, .gs1F8): text.append(0xF8)
            case (0x1D, .gs1Control): text.append(0x1D)
            default: break
            }
        }
        return text
    }

    /// Types all bytes, with as many per write as fit.
    static func type(_ bytes: [UInt8], _ table: CompiledTable, _ reader: XKBReader, capsLock: Bool) throws {
        var batch = EventBatch()
        var index = 0
        let span = bytes.span
        while index < bytes.count {
            batch.clear()
            let run = batch.type(
                span.extracting(index...),
                table,
                limit: EventBatch.capacity,
                stopAtBarcodeEnd: false,
                capsLock: capsLock
            )
            batch.finish()
            try #require(run.taken > 0 && run.rejected == 0)
            try reader.take(batch)
            index += run.taken
            // The typist skips a line feed at the beginning of a write after a carriage return.
            let endsInCarriageReturn = table.joinsLineEnds && bytes[index - 1] == 13
            if endsInCarriageReturn, index < bytes.count, bytes[index] == 10 { index += 1 }
        }
    }

    @Test(
        "Every byte and every pair, every built-in table, with CapsLock and without",
        arguments: main,
        ByteTable.BuiltIn.allCases
    )
    func pairs(example: Case, base: ByteTable.BuiltIn) throws {
        let layout = try LayoutSource.layout(example.name)
        if base == .gs1F8, layout.strokes(for: "@")?.last?.modifiers.contains(.altGr) == true {
            let failure = CompiledTable.Failure.forbidden(.together(.rightAlt, .f8))
            #expect(throws: failure) { try CompiledTable(ByteTable(base), layout: layout) }
            return
        }
        let table = try CompiledTable(ByteTable(base), layout: layout)
        try #require(table.keys.forbidden == nil)
        for capsLock in [false, true] {
            let reader = try XKBReader(
                layout: example.layout,
                variant: example.variant,
                capsLock: capsLock,
                composes: true,
                declared: table.keys
            )
            for first in UInt8.min...UInt8.max {
                // Each ordered pair of bytes occurs in the runs of both of its bytes.
                let bytes = (UInt8.min...UInt8.max).flatMap { [first, $0] }
                reader.text.removeAll(keepingCapacity: true)
                try Self.type(bytes, table, reader, capsLock: capsLock)
                try #require(reader.text == Self.meaning(bytes, table: base), "byte \(first), CapsLock \(capsLock)")
            }
        }
    }

    static let all: [Case] =
        main + [
            Case(name: "gb", layout: "gb"), Case(name: "es", layout: "es"), Case(name: "pt", layout: "pt"),
            Case(name: "br", layout: "br"), Case(name: "it", layout: "it"), Case(name: "se", layout: "se"),
            Case(name: "ch", layout: "ch"), Case(name: "ch(fr)", layout: "ch", variant: "fr"),
            Case(name: "cz", layout: "cz"), Case(name: "pl", layout: "pl"), Case(name: "hu", layout: "hu"),
            Case(name: "us(intl)", layout: "us", variant: "intl"), Case(name: "be", layout: "be"),
            Case(name: "fr(bepo)", layout: "fr", variant: "bepo"),
            Case(name: "us(dvorak)", layout: "us", variant: "dvorak"),
            Case(name: "ca", layout: "ca"), Case(name: "gr", layout: "gr"), Case(name: "ru", layout: "ru"),
            Case(name: "no", layout: "no"), Case(name: "dk", layout: "dk"), Case(name: "tr", layout: "tr"),
            Case(name: "fi", layout: "fi"), Case(name: "nl", layout: "nl"), Case(name: "xkb:ch", layout: "ch"),
        ]

    @Test("Every character of a layout, dead keys among them, is what its keystrokes give", arguments: all)
    func characters(example: Case) throws {
        let layout = try LayoutSource.layout(example.name)
        let everyKey = KeySet((1..<200).map(KeyCode.init(rawValue:)))
        for capsLock in [false, true] {
            let reader = try XKBReader(
                layout: example.layout,
                variant: example.variant,
                capsLock: capsLock,
                composes: true,
                declared: everyKey
            )
            let strokes = capsLock ? layout.capsLockStrokes : layout.strokes
            for characters in Self.tables(of: strokes.keys, layout) {
                var meaning = ByteTable.discard
                for (byte, character) in characters.enumerated() { meaning[UInt8(byte)] = .text(character) }
                guard let table = try? CompiledTable(meaning, layout: layout) else {
                    // Some letters can be typed only with CapsLock on or only with it off, because the other case is on
                    // no key.
                    try #require(characters.contains { !Self.isTypable($0, layout) })
                    continue
                }
                for (byte, character) in characters.enumerated() {
                    reader.text = []
                    try Self.type([UInt8(byte)], table, reader, capsLock: capsLock)
                    try #require(
                        reader.text == [character.value],
                        "\(character) (\(character.value)) by \(String(describing: strokes[character])), CapsLock \(capsLock)"
                    )
                }
            }
        }
    }

    private static func isTypable(_ character: Unicode.Scalar, _ layout: KeyboardLayout) -> Bool {
        layout.strokes[character] != nil && layout.capsLockStrokes[character] != nil
    }

    /// Distributes the characters over as few tables as possible; a character that may be rejected gets its own table.
    private static func tables(
        of characters: some Sequence<Unicode.Scalar>,
        _ layout: KeyboardLayout
    ) -> [[Unicode.Scalar]] {
        let typable = characters.filter { isTypable($0, layout) }
        let others = characters.filter { !isTypable($0, layout) }
        return stride(from: 0, to: typable.count, by: 256).map { Array(typable[$0..<min($0 + 256, typable.count)]) }
            + others.map { [$0] }
    }

    /// Characters of xkb-data that a built-in layout omits, by layout, because releases of Debian have them on
    /// different keys (12: xkb-data 2.35.1, 13: 2.42).
    static let leftOut: [BuiltInLayout: String] = [.se: "⅝ſ™πΠωΩσΣ†…‰√🄯"]

    @Test(
        "X-5: built-in layouts equal those of the machine's xkb-data, except for levels that differ between Debian releases",
        arguments: BuiltInLayout.allCases
    )
    func builtIn(builtIn: BuiltInLayout) throws {
        let layout = KeyboardLayout(builtIn)
        let xkb = try XKBKeymap(named: builtIn.rawValue)
        for capsLock in [false, true] {
            let levels = capsLock ? xkb.capsLockLevels : xkb.levels
            for level in builtIn.levels(capsLock: capsLock) {
                let same = levels.first {
                    $0.key == level.stroke.key.rawValue && $0.shift == level.stroke.modifiers.contains(.shift)
                        && $0.altGr == level.stroke.modifiers.contains(.altGr)
                }
                switch level.output {
                case .character(let character):
                    #expect(same?.character == character.value, "\(level), CapsLock \(capsLock)")
                case .dead(let mark): #expect(same?.deadMark == mark.value, "\(level), CapsLock \(capsLock)")
                }
            }
        }
        for byte in UInt8(0x20)...0x7E { #expect(layout.strokes(for: Unicode.Scalar(byte)) != nil) }
        let characters = Set(try LayoutSource.layout("xkb:" + builtIn.rawValue).strokes.keys)
        let missing = characters.subtracting(layout.strokes.keys)
        #expect(missing.subtracting(Self.leftOut[builtIn, default: ""].unicodeScalars).isEmpty, "\(missing)")
    }

    @Test("The help names every built-in layout")
    func names() {
        let names = LayoutSource.names.split(separator: ", ")
        for layout in BuiltInLayout.allCases { #expect(names.contains { $0 == layout.rawValue }) }
    }

    @Test(
        "Japanese signs: the yen sign where it has a key, the backslash and the tilde on the keys of all systems"
    )
    func japanese() {
        #expect(KeyboardLayout.us.strokes(for: "¥") == nil && KeyboardLayout.jp.strokes(for: "¥") == nil)
        #expect(KeyboardLayout.jpYen.strokes(for: "¥") == [KeyboardLayout.Stroke(.yen)])
        #expect(KeyboardLayout.jp.strokes(for: "\\") == [KeyboardLayout.Stroke(.ro)])
        #expect(KeyboardLayout.jp.strokes(for: "_") == [KeyboardLayout.Stroke(.ro, .shift)])
        for layout in [KeyboardLayout.jp, .jpYen] {
            #expect(layout.strokes(for: "~") == [KeyboardLayout.Stroke(KeyCode(rawValue: 13), .shift)])
        }
    }

    @Test("Dead keys: a letter with its accent, and the accent by itself")
    func deadKeys() throws {
        let german = try LayoutSource.layout("de")
        let circumflex = KeyCode(rawValue: 41)
        #expect(
            german.strokes(for: "ê")
                == [KeyboardLayout.Stroke(circumflex), KeyboardLayout.Stroke(KeyCode(rawValue: 18))]
        )
        #expect(
            german.strokes(for: "^")
                == [KeyboardLayout.Stroke(circumflex), KeyboardLayout.Stroke(KeyCode(rawValue: 57))]
        )
        #expect(german.strokes(for: "@") == [KeyboardLayout.Stroke(KeyCode(rawValue: 16), .altGr)])
        #expect(german.strokes(for: "あ") == nil)
    }

    @Test("A byte that the layout cannot type is rejected; an entry of a table file is refused")
    func rejected() throws {
        let russian = try LayoutSource.layout("ru")
        let table = try CompiledTable(.linble, layout: russian)
        #expect(table.isRejected(0x41) && table.isRejected(0x41, capsLock: true) && !table.isRejected(0x31))
        var batch = EventBatch()
        let bytes: [UInt8] = [0x31, 0x41, 0x00, 0x32, 0x42]
        let run = batch.type(bytes.span, table, limit: EventBatch.capacity, stopAtBarcodeEnd: false)
        #expect(run.taken == 5 && run.typed == 2 && run.rejected == 2 && batch.count == 8)
        let failure = CompiledTable.Failure.untypable(byte: 0x41, character: "A", layout: "ru")
        let entry = try ByteTable(text: "0x41 = text \"A\"")
        #expect(throws: failure) { try CompiledTable(entry, layout: russian) }
    }

    @Test(
        "A wrong name is refused with status 78 and a remedy",
        arguments: [
            "", "xkb:", "nosuchlayout", "de(nosuchvariant)", "de(", "de)", "de()", "(neo)", "de(neo", "de(neo)x",
            "../../etc/passwd", "us,de", "us;de", "us:de", "us de", "de(neo)(neo)", "é", "us\n", "us\u{0}",
            String(repeating: "a", count: 65), "console:null", "console:/dev/null", "console:nosuchtty", "console:",
            "console:../dev/null", "US",
        ]
    )
    func wrongNames(name: String) {
        let failure = #expect(throws: TypingError.self) { try LayoutSource.layout(name) }?.failure
        #expect(failure?.status == .configuration)
        #expect(failure?.remedy != nil)
        #expect(failure?.cause.english.contains("layout \(name)") == true)
    }
}
