// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import LinuxIO

@Suite("X-5: the console's live keymap")
struct ConsoleKeymapTests {
    /// Returns the kernel's tables of a keymap in which these keys have these values, and all other keys have none.
    private static func tables(_ values: [UInt16: [UInt16]]) -> [[UInt16]] {
        (0..<4).map { table in
            ConsoleKeymap.keys.map { key in
                guard let column = values[key], column.count > table else { return 0x0200 }
                return column[table]
            }
        }
    }

    private static let altGr: [UInt16: [UInt16]] = [100: [0x0701, 0x0701, 0x0701, 0x0701]]

    @Test("Letters, signs, Unicode characters and dead keys, by kernel values written out")
    func values() {
        let map = ConsoleKeymap(
            isUnicode: true,
            tables: Self.tables(
                Self.altGr.merging([
                    // KT_LETTER q and Q, KT_LATIN @; the euro sign, U+20AC, with inverted highest bits.
                    16: [0x0B71, 0x0B51, 0x0040], 18: [0x0B65, 0x0B45, 0xD0AC], 41: [0x0402, 0x00B0],
                    2: [0x0031, 0x0021], 86: [0x003C, 0x003E], 51: [0x002C, 0x003C],
                ]) { first, _ in first }
            ),
            accents: [
                ConsoleKeymap.Composition(dead: 0x5E, base: 0x65, result: 0xEA),
                ConsoleKeymap.Composition(dead: 0x60, base: 0x65, result: 0xE8),
            ]
        )
        func output(_ key: UInt16, shift: Bool = false, altGr: Bool = false, capsLock: Bool = false) -> ConsoleKeymap
            .Output?
        {
            (capsLock ? map.capsLockLevels : map.levels)
                .first { $0.key == key && $0.shift == shift && $0.altGr == altGr }?.output
        }
        #expect(output(16) == .character(0x71) && output(16, shift: true) == .character(0x51))
        #expect(output(16, altGr: true) == .character(0x40) && output(18, altGr: true) == .character(0x20AC))
        #expect(output(41) == .dead(0x5E) && output(41, shift: true) == .character(0xB0))
        // CapsLock affects only letters.
        #expect(output(16, capsLock: true) == .character(0x51))
        #expect(output(16, shift: true, capsLock: true) == .character(0x71))
        #expect(
            output(2, capsLock: true) == .character(0x31) && output(16, altGr: true, capsLock: true) == .character(0x40)
        )
        #expect(output(3) == nil && output(100) == nil)
        // The less-than sign on a key that every keyboard has is preferred to that on the 102nd key.
        #expect(map.levels.first { $0.output == .character(0x3C) }?.key == 51)
        #expect(
            map.compositions == [
                ConsoleKeymap.Composition(dead: 0x5E, base: 0x65, result: 0xEA),
                ConsoleKeymap.Composition(dead: 0x5E, base: 0x20, result: 0x5E),
            ]
        )
    }

    @Test("A right Alt that is not AltGr is not pressed; outside Unicode mode only ASCII is taken")
    func limits() {
        let values: [UInt16: [UInt16]] = [16: [0x0B71, 0x0B51, 0x0040], 18: [0x00E9, 0x0BC9]]
        let plain = ConsoleKeymap(isUnicode: true, tables: Self.tables(values), accents: [])
        #expect(plain.levels.allSatisfy { !$0.altGr } && plain.levels.count == 4)
        let translated = ConsoleKeymap(
            isUnicode: false,
            tables: Self.tables(values.merging(Self.altGr) { first, _ in first }),
            accents: []
        )
        #expect(translated.levels.map(\.output) == [.character(0x71), .character(0x51), .character(0x40)])
    }

    @Test("Every value that the kernel could give is read or left out, none traps")
    func everyValue() {
        var counts = [Bool: Int]()
        for isUnicode in [false, true] {
            let largest: UInt32 = isUnicode ? 0x10FFFF : 0x7E
            for value in UInt16.min...UInt16.max {
                switch ConsoleKeymap.output(value, largest) {
                case nil: continue
                case .character(let character): #expect(character <= largest)
                case .dead(let sign): #expect(sign < 0x100)
                }
                counts[isUnicode, default: 0] += 1
            }
        }
        // Latin characters and letters, both kinds of dead keys, and all values without a kind: 65,536 minus 15 kinds
        // of 256.
        #expect(counts[true] == 2 * 256 + 27 + 256 + 65536 - 15 * 256)
        #expect(counts[false] == 2 * 127 + 27 + 256 + 127)
    }

    @Test("A terminal that is no console is rejected with the kernel's error")
    func noConsole() {
        #expect(throws: Errno.inappropriateIOCTLForDevice) { try ConsoleKeymap(ofTerminal: "/dev/null") }
        #expect(throws: Errno.noSuchFileOrDirectory) { try ConsoleKeymap(ofTerminal: "/dev/nosuchtty") }
    }

    #if DEBUG
        @Test("The foreground terminal's state needs its number, its device, and both modes")
        func state() throws {
            let sysfs = try TestDirectory()
            func state(_ path: String = "/dev/null", refusing requests: [Int32] = []) -> ConsoleState? {
                CallScript.use { site in
                    guard site.call == .ioctl, let request = site.option else { return nil }
                    return requests.contains(request) ? .error(.notPermitted) : .result(0)
                }
                defer { CallScript.use(nil) }
                return ConsoleState(sysfs: sysfs.path, path: path)
            }
            #expect(state() == nil)
            // The substitute for the kernel sets no modes, so both are 0: K_RAW and KD_TEXT.
            try sysfs.write("tty3\n", to: "class/tty/tty0/active")
            #expect(state() == ConsoleState(terminal: 3, keys: .raw, isGraphic: false))
            for request in [0x4B44, 0x4B3B] as [Int32] { #expect(state(refusing: [request]) == nil) }
            #expect(state("/dev/nosuchtty") == nil)
            for text in ["", "tty", "ttyS0\n", "hvc0\n"] {
                try sysfs.write(text, to: "class/tty/tty0/active")
                #expect(state() == nil, "\(text)")
            }
            let text = (0...4).map { ConsoleState.Keys(rawValue: $0)?.isText }
            #expect(text == [false, true, false, true, false] && ConsoleState.Keys(rawValue: 5) == nil)
        }
    #endif
}

@Suite("X-5: xkb")
struct XKBKeymapTests {
    @Test("A layout is compiled with and without CapsLock; the right Alt of us is not AltGr")
    func layouts() throws {
        let us = try XKBKeymap(named: "us")
        #expect(us.levels.allSatisfy { !$0.altGr })
        #expect(us.levels.first { $0.key == 30 && !$0.shift }?.character == 0x61)
        #expect(us.capsLockLevels.first { $0.key == 30 && !$0.shift }?.character == 0x41)
        #expect(us.capsLockLevels.first { $0.key == 2 && !$0.shift }?.character == 0x31)
        let german = try XKBKeymap(named: "de")
        #expect(german.levels.first { $0.key == 41 && !$0.shift && !$0.altGr }?.deadMark == 0x302)
        #expect(german.levels.contains { $0.key == 16 && $0.altGr && $0.character == 0x40 })
    }

    @Test("A name that is none, and a layout that is not there")
    func wrong() {
        for name in ["", "de(", "../us", "us\0", "de()", "us,de", String(repeating: "x", count: 65)] {
            #expect(throws: XKBKeymap.Failure.malformedName(name)) { try XKBKeymap(named: name) }
        }
        for name in ["nosuchlayout", "de(nosuchvariant)"] {
            #expect(throws: XKBKeymap.Failure.unknownLayout(name)) { try XKBKeymap(named: name) }
        }
    }
}
