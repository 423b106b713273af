// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

@Suite("btsnoop files")
struct BtsnoopTests {
    /// Identification `btsnoop`, version 1, datalink type 2001.
    private static let header: [UInt8] = [
        0x62, 0x74, 0x73, 0x6E, 0x6F, 0x6F, 0x70, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x07, 0xD1,
    ]

    /// ACL packet received by hci1 in the first second of 2000, after two dropped packets.
    private static let record: [UInt8] = [
        0x00, 0x00, 0x00, 0x0A, 0x00, 0x00, 0x00, 0x05, 0x00, 0x01, 0x00, 0x05, 0x00, 0x00, 0x00, 0x02,
        // 2000-01-01 in microseconds since year 0, as written by BlueZ.
        0x00, 0xE0, 0x3A, 0xB4, 0x4A, 0x67, 0x60, 0x00, 0x40, 0x20, 0x06, 0x00, 0x02,
    ]

    private static let meaning = BtsnoopRecord(
        opcode: .aclReceived,
        index: ControllerIndex(rawValue: 1),
        time: 946_684_800_000_000,
        drops: 2,
        originalLength: 10,
        payload: [0x40, 0x20, 0x06, 0x00, 0x02]
    )

    private func records(_ bytes: [UInt8], pieces: Int = .max) throws(DecodingError) -> [BtsnoopRecord] {
        var reader = BtsnoopReader()
        var records: [BtsnoopRecord] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            reader.append(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
            while let record = try reader.next() { records.append(record) }
        }
        try reader.finish()
        return records
    }

    @Test("Header and record are written byte for byte as BlueZ's own format has them")
    func golden() {
        #expect(Btsnoop.header == Self.header)
        #expect(Self.meaning.encoded == Self.record)
    }

    @Test("A file is read in pieces of any size", arguments: [1, 2, 7, 16, 23, 24, 25, 1000])
    func pieces(size: Int) throws {
        let read = try records(Self.header + Self.record + Self.record, pieces: size)
        #expect(read == [Self.meaning, Self.meaning])
    }

    @Test("A file cut anywhere gives its whole records and then an error")
    func truncated() {
        let whole = Self.header + Self.record
        for count in 0..<whole.count where count != Self.header.count {
            #expect(throws: DecodingError.self, "\(count) bytes") { try records(Array(whole.prefix(count))) }
        }
    }

    @Test("Another identification, version or datalink type is refused, every byte of it")
    func otherHeader() {
        for index in Self.header.indices {
            var altered = Self.header
            altered[index] ^= 0x01
            #expect(throws: DecodingError.self, "byte \(index)") { try records(altered) }
        }
    }

    @Test("X-15: a packet with an impossible length is refused before its bytes are read")
    func impossibleLength() {
        for lengths: [UInt8] in [
            [0, 1, 0, 0, 0, 1, 0, 0], [0, 0, 0, 4, 0, 0, 0, 5], [255, 255, 255, 255, 255, 255, 255, 255],
        ] {
            var reader = BtsnoopReader()
            reader.append(Self.header + lengths)
            #expect(throws: DecodingError.self) { try reader.next() }
        }
    }

    @Test("Times before 1970 and at the ends of the number are written and read alike")
    func times() throws {
        for time in [Int64.min, -1, 0, 1, .max] {
            var record = Self.meaning
            record.time = time
            #expect(try records(Self.header + record.encoded) == [record])
        }
    }

    @Test("A packet of the monitor channel is taken apart; every truncation and every surplus is refused")
    func monitorPacket() throws {
        let bytes: [UInt8] = [0x02, 0x00, 0x01, 0x00, 0x03, 0x00, 0x03, 0x0C, 0x00]
        let packet = MonitorPacket(
            opcode: .command,
            index: ControllerIndex(rawValue: 1),
            length: 3,
            payload: [0x03, 0x0C, 0x00]
        )
        #expect(try MonitorPacket(bytes.span) == packet)
        for count in 0..<bytes.count {
            let part = Array(bytes.prefix(count))
            #expect(throws: DecodingError.self) { try MonitorPacket(part.span) }
        }
        let surplus = bytes + [0]
        #expect(throws: DecodingError.self) { try MonitorPacket(surplus.span) }
        let cut = Array(bytes.dropLast())
        #expect(try MonitorPacket(cut.span, isTruncated: true).payload == [0x03, 0x0C])
    }

    @Test("Traffic of other programs to the kernel is not captured")
    func foreignTalk() {
        #expect(MonitorOpcode.command.concernsController)
        #expect(MonitorOpcode(HCIPacketType.acl, .received) == .aclReceived)
        #expect(MonitorOpcode(HCIPacketType.acl, .sent).concernsController)
        #expect(MonitorOpcode(HCIPacketType.isochronous, .received).concernsController)
        // System note, user logging, and opening, closing, commands and events of the management channel.
        for number: UInt16 in 12...17 { #expect(!MonitorOpcode(rawValue: number).concernsController) }
    }
}
