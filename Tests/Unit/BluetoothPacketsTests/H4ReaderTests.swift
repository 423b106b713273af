// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import TestSupport
import Testing

@Suite struct H4ReaderTests {
    /// One packet of each type that a controller sends, including the longest one and empty ones.
    static let packets: [[UInt8]] = [
        [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00],
        [0x02, 0x40, 0x20, 0x05, 0x00, 1, 2, 3, 4, 5],
        [0x03, 0x40, 0x00, 0x02, 1, 2],
        [0x05, 0x40, 0x00, 0x01, 0x40, 9],
        [0x04, 0xFF, 0x00],
        [0x02, 0x40, 0x20, 0x00, 0x00],
        [0x04, 0xFF, 0xFF] + [UInt8](repeating: 4, count: 255),
        [0x02, 0x40, 0x20, 0x00, 0x10] + [UInt8](repeating: 2, count: 4096),
    ]

    @Test("Packets are found however the stream is cut")
    func anyCut() throws {
        let stream = Self.packets.flatMap { $0 }
        for size in [1, 2, 3, 7, 64, 255, 256, 5000] {
            var reader = H4Reader(from: .controller)
            var found: [[UInt8]] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                let piece = Array(stream[start..<min(start + size, stream.count)])
                try reader.read(piece.span) { packet in
                    found.append([UInt8](copying: packet))
                }
            }
            #expect(found == Self.packets, "\(size)")
            #expect(!reader.isInsidePacket)
        }
    }

    @Test("A host's stream holds commands and no events, a controller's the other way round")
    func direction() throws {
        let command: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
        let event: [UInt8] = [0x04]
        var host = H4Reader(from: .host)
        var found = 0
        try host.read(command.span) { packet in found += packet.count }
        #expect(found == 4)
        #expect(throws: H4Reader.Failure.garbage(0x04, at: 4)) { try host.read(event.span) { _ in } }
        var controller = H4Reader(from: .controller)
        #expect(throws: H4Reader.Failure.garbage(0x01, at: 0)) { try controller.read(command.span) { _ in } }
    }

    @Test("Garbage ends the stream for good, at the byte that is named", arguments: [0x00, 0x01, 0x06, 0x80, 0xFF])
    func garbage(_ byte: UInt8) throws {
        var reader = H4Reader(from: .controller)
        var found = 0
        let stream = Self.packets[0] + [byte] + Self.packets[0]
        #expect(throws: H4Reader.Failure.garbage(byte, at: 7)) { try reader.read(stream.span) { _ in found += 1 } }
        let good = Self.packets[0]
        #expect(throws: H4Reader.Failure.garbage(byte, at: 7)) {
            try reader.read(good.span) { _ in found += 1 }
        }
        #expect(found == 1)
    }

    @Test("A packet that names more than the limit is refused when its length is known, before its data came")
    func tooLong() throws {
        var reader = H4Reader(from: .controller)
        let header: [UInt8] = [0x02, 0x40, 0x20, 0x01, 0x10]
        #expect(throws: H4Reader.Failure.tooLong(.acl, 4097, at: 0)) { try reader.read(header.span) { _ in } }
    }

    @Test("A stream that is cut inside a packet says so")
    func cut() throws {
        let packet = Self.packets[1]
        for length in 1..<packet.count {
            var reader = H4Reader(from: .controller)
            let piece = Array(packet[..<length])
            try reader.read(piece.span) { _ in Issue.record("no packet is complete") }
            #expect(reader.isInsidePacket)
        }
    }

    @Test("100,000 random streams: each ends in packets or a failure, and every byte is accounted for")
    func random() {
        var failures = 0
        for seed in 0..<100_000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var reader = H4Reader(from: .controller, limit: 64)
            let bytes = (0..<64).map { _ in UInt8.random(in: 0...7, using: &generator) }
            var taken = 0
            do throws(H4Reader.Failure) {
                try reader.read(bytes.span) { packet in taken += packet.count }
                #expect(taken == bytes.count || reader.isInsidePacket)
            } catch {
                failures += 1
                #expect(reader.failure == error)
                #expect(!reader.isInsidePacket)
            }
            #expect(taken <= bytes.count)
        }
        #expect(failures > 0 && failures < 100_000)
    }
}
