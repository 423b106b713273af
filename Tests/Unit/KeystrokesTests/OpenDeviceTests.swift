// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@testable import Keystrokes

@Suite("Keys that an unpaired device can press", .timeLimit(.minutes(10)))
struct OpenDeviceTests {
    /// All built-in tables in both modes.
    static let defaults = ByteTable.BuiltIn.allCases.flatMap { table in [false, true].map { (table, $0) } }

    /// Those for the test of byte pairs: in scan mode, the tables differ only in the group separator.
    static let ofPairs = defaults.filter { !$0.1 || [.linble, .gs1Control].contains($0.0) }

    /// Keys that are never pressed by default: Escape, Ctrl, Alt, Meta, function keys, SysRq, power, sleep, suspend.
    static let forbidden = Set<UInt16>(
        [1, 29, 56, 97, 99, 116, 125, 126, 142, 205] + (59...68) + [87, 88] + (183...194)
    )

    private static func isControl(_ byte: UInt8) -> Bool { byte < 32 || byte >= 127 && byte < 160 }

    /// Data path of an unpaired device.
    private final class Player {
        let path: Path
        let isBarcodeMode: Bool
        let forbidden: Set<UInt16>

        init(_ table: ByteTable.BuiltIn, isBarcodeMode: Bool, layout: KeyboardLayout = .us) throws {
            path = try Path(
                table: ByteTable(table),
                layout: layout,
                barcodes: isBarcodeMode ? try BarcodeRules(minimumLength: 0) : nil,
                isOpen: true
            )
            self.isBarcodeMode = isBarcodeMode
            // Only this table types a function key intentionally.
            forbidden = table == .gs1F8 ? OpenDeviceTests.forbidden.subtracting([66]) : OpenDeviceTests.forbidden
        }

        /// Returns a description of a forbidden key press caused by a notification; nil if there is none.
        func fault(of bytes: [UInt8]) throws -> String? {
            // Long after the previous notification, so that a line feed does not belong to its carriage return.
            path.now += 2_000_000_000
            path.recorded.removeAll(keepingCapacity: true)
            path.receive(bytes)
            while path.next() == .write {
                path.recorded.append((path.now, path.outputEvents()))
                path.commit()
            }
            let pressed = path.recorded.flatMap(\.events).filter { $0.type == 1 && $0.value == 1 }.map(\.code)
            if let key = pressed.first(where: forbidden.contains) { return "key \(key) of \(bytes)" }
            let enters = pressed.indices.filter { [28, 96].contains(pressed[$0]) }
            let terminators = bytes.filter { [9, 10, 13].contains($0) }.count
            if isBarcodeMode {
                return enters.count > terminators ? "\(enters.count) Enters of \(bytes)" : nil
            }
            return enters.count > 1 || enters.first.map { $0 != pressed.count - 1 } == true ? "Enter of \(bytes)" : nil
        }

        /// Number of bytes that are not accounted for.
        var unaccounted: UInt64 {
            let account = path.ledger.snapshot()
            return account.received - account.typed - account.discarded - account.rejected
        }
    }

    @Test(
        "D-2, T9: of pairs of bytes, all 65,536 where optimised, none presses a forbidden key, or Enter but at its end",
        arguments: ofPairs
    )
    func pairs(table: ByteTable.BuiltIn, isBarcodeMode: Bool) throws {
        let player = try Player(table, isBarcodeMode: isBarcodeMode)
        // A debug build is too slow to test pairs of printable bytes with every table, so it does so with the first one
        // only.
        let isWhole = RunCount.isOptimized || table == .linble
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                guard isWhole || Self.isControl(first) || Self.isControl(second) else { continue }
                if let fault = try player.fault(of: [first, second]) { Issue.record("\(table): \(fault)") }
            }
        }
        // In scan mode, an unterminated barcode remains in the path.
        #expect(isBarcodeMode || player.unaccounted == 0)
    }

    @Test("D-2, T9: of random notifications none presses a forbidden key, or Enter but at its end", arguments: defaults)
    func random(table: ByteTable.BuiltIn, isBarcodeMode: Bool) throws {
        let usual = RunCount.isOptimized ? 1_000_000 : 100_000
        let count = RunCount.from("BLEWEDGE_OPEN_RUNS", usual: usual) / Self.defaults.count
        for layout in [KeyboardLayout.us, .jp] {
            let player = try Player(table, isBarcodeMode: isBarcodeMode, layout: layout)
            var random = SeededGenerator(seed: 2)
            for _ in 0..<count / 2 {
                let length = Int.random(in: 1...20, using: &random)
                let bytes: [UInt8] = (0..<length).map { _ in
                    // Includes line ends, Escape and the group separator often enough.
                    Bool.random(using: &random)
                        ? UInt8.random(in: .min ... .max, using: &random)
                        : [9, 10, 13, 27, 29, 65].randomElement(using: &random) ?? 0
                }
                if let fault = try player.fault(of: bytes) { Issue.record("\(table) \(layout.name): \(fault)") }
            }
        }
    }

    @Test("D-2, T9: a device that is not open does press such keys (control)")
    func control() throws {
        var table = ByteTable(.linble)
        table[27] = .key(KeyCode(rawValue: 1))
        let path = try Path(table: table)
        path.receive([13, 27, 65])
        try #require(path.next() == .write)
        var pressed: [UInt16] = []
        while path.next() == .write {
            pressed += path.outputEvents().filter { $0.type == 1 && $0.value == 1 }.map(\.code)
            path.commit()
        }
        #expect(pressed == [28, 1, 42, 30])
    }
}
