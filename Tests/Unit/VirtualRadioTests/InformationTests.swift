// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing
import VirtualRadio

@Suite struct InformationTests {
    /// Commands of a starting host, and the answers as bytes: Core 6.0, Vol 4, Part E, 7.3, 7.4 and 7.8.
    static let answers: [(generation: VirtualController.Generation, command: String, answer: String)] = [
        (.extended, "01 030C 00", "04 0E 04 01 030C 00"),
        (.extended, "01 010C 08 FFFFFFFFFFFFFF3F", "04 0E 04 01 010C 00"),
        (.extended, "01 0120 08 1F00000000000000", "04 0E 04 01 0120 00"),
        (.extended, "01 0110 00", "04 0E 0C 01 0110 00 09 0000 09 FFFF 0000"),
        (.legacy, "01 0110 00", "04 0E 0C 01 0110 00 08 0000 08 FFFF 0000"),
        (.extended, "01 0310 00", "04 0E 0C 01 0310 00 0000000060000000"),
        (.extended, "01 0510 00", "04 0E 0B 01 0510 00 0000 00 0000 0000"),
        (.extended, "01 0910 00", "04 0E 0A 01 0910 00 0100000000C0"),
        (.extended, "01 0220 00", "04 0E 07 01 0220 00 FB00 08"),
        (.legacy, "01 0220 00", "04 0E 07 01 0220 00 1B00 08"),
        (.extended, "01 0320 00", "04 0E 0C 01 0320 00 0F10000000000000"),
        (.legacy, "01 0320 00", "04 0E 0C 01 0320 00 0F00000000000000"),
        (.extended, "01 0520 06 0605040302C1", "04 0E 04 01 0520 00"),
        (.extended, "01 0F20 00", "04 0E 05 01 0F20 00 10"),
        (.extended, "01 1C20 00", "04 0E 0C 01 1C20 00 FFFFFFFFFF030000"),
        (.extended, "01 3A20 00", "04 0E 06 01 3A20 00 7206"),
        (.extended, "01 3B20 00", "04 0E 05 01 3B20 00 04"),
        (.legacy, "01 0720 00", "04 0E 05 01 0720 00 00"),
        // An unknown command, and one of the other generation.
        (.extended, "01 01FC 00", "04 0F 04 01 01 01FC"),
        (.legacy, "01 3A20 00", "04 0F 04 01 01 3A20"),
        // Unknown Connection Identifier, including the handle if the answer contains one.
        (.extended, "01 0604 03 4000 13", "04 0F 04 02 01 0604"),
        (.extended, "01 0514 02 4000", "04 0E 07 01 0514 02 4000 00"),
        // Invalid HCI Command Parameters: one byte missing, one too many, and a wrong length field.
        (.extended, "01 030C 01 00", "04 0E 04 01 030C 12"),
        (.extended, "01 0520 05 0605040302", "04 0E 04 01 0520 12"),
        (.extended, "01 0520 06 060504", "04 0E 04 01 0520 12"),
        (.extended, "01 0D20 00", "04 0F 04 12 01 0D20"),
        // Bytes that are not a packet: Hardware Error.
        (.extended, "77", "04 10 01 00"),
        (.extended, "01 03", "04 10 01 00"),
        (.extended, "02 4000", "04 10 01 00"),
        (.extended, "04 0E 04 01 030C 00", "04 10 01 00"),
    ]

    @Test("Every command of a host's initialization gets the correct answer, byte for byte", arguments: answers.indices)
    func answer(_ index: Int) {
        let row = Self.answers[index]
        let bench = Bench([row.generation])
        bench.send(bench.first, row.command)
        #expect(bench.packets(bench.first) == [hex(row.answer)])
    }

    @Test(
        "Read Local Supported Commands names what the controller answers, and nothing else",
        arguments: VirtualController.Generation.allCases
    )
    func supportedCommands(_ generation: VirtualController.Generation) throws {
        let bench = Bench([generation])
        bench.command(bench.first, 0x1002)
        let answer = try #require(bench.first.nextPacket())
        let map = try SupportedCommands(returnParameters: Array(answer[6...]).span)
        // Bit positions of 6.27 for commands of every group; the second half belongs to Bluetooth 5.
        let legacy: [(UInt16, SupportedCommands.Bit)] = [
            (0x0406, .init(octet: 0, bit: 5)), (0x0C01, .init(octet: 5, bit: 6)), (0x1009, .init(octet: 15, bit: 1)),
            (0x2001, .init(octet: 25, bit: 0)), (0x200B, .leSetScanParameters), (0x200C, .leSetScanEnable),
            (0x200D, .init(octet: 26, bit: 4)), (0x2013, .init(octet: 27, bit: 2)), (0x2020, .init(octet: 33, bit: 4)),
        ]
        let extended: [(UInt16, SupportedCommands.Bit)] = [
            (0x2039, .init(octet: 36, bit: 5)), (0x2041, .leSetExtendedScanParameters),
            (0x2042, .leSetExtendedScanEnable), (0x2043, .init(octet: 37, bit: 7)),
        ]
        #expect(legacy.allSatisfy { map.contains($0.1) })
        #expect(extended.allSatisfy { map.contains($0.1) == (generation == .extended) })
        // The number of supported opcodes must match the number of bits.
        var known = 0
        for group in [UInt16(1), 3, 4, 5, 8] {
            for command in UInt16(0)...0xFF {
                let fresh = Bench([generation])
                fresh.command(fresh.first, group &<< 10 | command)
                let packet = fresh.first.nextPacket() ?? []
                if packet.count == 7, packet[1] == 0x0F, packet[3] == 0x01 { continue }
                known += 1
            }
        }
        #expect(known == map.octets.reduce(0) { $0 + $1.nonzeroBitCount })
        #expect(known == (generation == .extended ? 49 : 37))
    }

    @Test("The commands of one generation shut out the other's until Reset")
    func generations() {
        let bench = Bench([.extended])
        #expect(bench.status(bench.first, 0x2007) == 0x00)
        #expect(bench.status(bench.first, 0x203A) == 0x0C)
        bench.succeed(bench.first, 0x0C03)
        #expect(bench.status(bench.first, 0x203A) == 0x00)
        #expect(bench.status(bench.first, 0x2007) == 0x0C)
    }

    @Test("The event masks hold back what they name: after Reset no LE event at all")
    func masks() {
        let bench = Bench.pair()
        bench.succeed(bench.first, 0x2041, "00 00 01 00 1000 1000")
        bench.succeed(bench.first, 0x2042, "01 00 0000 0000")
        bench.advertise(bench.second)
        bench.run(.milliseconds(100))
        #expect(bench.packets(bench.first).allSatisfy { $0.hasPrefix("043E") })
        // Without bit 12, Extended Advertising Report.
        bench.succeed(bench.first, 0x2001, "FF EF FF FF FF FF FF FF")
        bench.run(.milliseconds(100))
        #expect(bench.packets(bench.first).isEmpty)
        bench.succeed(bench.first, 0x2001, "00 10 00 00 00 00 00 00")
        bench.run(.milliseconds(100))
        #expect(!bench.packets(bench.first).isEmpty)
        // Without bit 61, LE Meta.
        bench.succeed(bench.first, 0x0C01, "FF FF FF FF FF FF FF 1F")
        bench.run(.milliseconds(100))
        #expect(bench.packets(bench.first).isEmpty)
    }

    @Test("The accept list: full, cleared, not touched while it is used")
    func acceptList() {
        let bench = Bench([.legacy]) { $0.acceptListSize = 2 }
        let controller = bench.first
        #expect(bench.status(controller, 0x2011, "00 01 02 03 04 05 06") == 0x00)
        #expect(bench.status(controller, 0x2011, "00 01 02 03 04 05 06") == 0x00)
        #expect(bench.status(controller, 0x2011, "01 01 02 03 04 05 06") == 0x00)
        #expect(bench.status(controller, 0x2011, "01 01 02 03 04 05 07") == 0x07)
        #expect(bench.status(controller, 0x2011, "04 01 02 03 04 05 07") == 0x12)
        #expect(bench.status(controller, 0x2012, "01 01 02 03 04 05 06") == 0x00)
        #expect(bench.status(controller, 0x2011, "01 01 02 03 04 05 07") == 0x00)
        #expect(bench.status(controller, 0x200B, "00 1000 1000 00 01") == 0x00)
        #expect(bench.status(controller, 0x200C, "01 00") == 0x00)
        #expect(bench.status(controller, 0x2010) == 0x0C)
        #expect(bench.status(controller, 0x200C, "00 00") == 0x00)
        #expect(bench.status(controller, 0x2010) == 0x00)
    }

    @Test("A random address: needed before it is used, fixed while it is used")
    func randomAddress() {
        let bench = Bench([.legacy])
        let controller = bench.first
        #expect(bench.status(controller, 0x200B, "00 1000 1000 01 00") == 0x00)
        #expect(bench.status(controller, 0x200C, "01 00") == 0x12)
        #expect(bench.status(controller, 0x2005, "01 02 03 04 05 C6") == 0x00)
        #expect(bench.status(controller, 0x200C, "01 00") == 0x00)
        #expect(bench.status(controller, 0x2005, "01 02 03 04 05 C7") == 0x0C)
    }

    @Test("Buffers shared with BR/EDR are reported by Read Buffer Size")
    func sharedBuffers() {
        let bench = Bench([.extended]) { $0.sharesBuffers = true }
        bench.command(bench.first, 0x2002)
        bench.command(bench.first, 0x1005)
        #expect(
            bench.packets(bench.first) == [
                hex("04 0E 07 01 0220 00 0000 00"), hex("04 0E 0B 01 0510 00 FB00 00 0800 0000"),
            ]
        )
    }
}
