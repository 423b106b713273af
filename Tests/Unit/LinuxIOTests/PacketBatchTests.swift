// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import Testing

@testable import LinuxIO

@Suite(.timeLimit(.minutes(10))) struct PacketBatchTests {
    @Test("One call takes as many packets as there are places, each with its own bytes, and the next call the others")
    func places() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        defer { close(ends[1]) }
        let socket = HCISocket(opened: Descriptor(owning: ends[0], .hci))
        let batch = PacketBatch(size: 8)
        #expect(try socket.receive(into: batch) == .wouldBlock && batch.count == 0)
        let lengths = (0..<20).map { $0 % 10 + 1 }
        for (number, length) in lengths.enumerated() {
            let packet = [UInt8](repeating: UInt8(number), count: length)
            try #require(write(ends[1], packet, length) == length)
        }
        var packets: [[UInt8]] = []
        for count in [PacketBatch.places, 20 - PacketBatch.places] {
            #expect(try socket.receive(into: batch) == .done(count) && batch.count == count)
            for index in 0..<count { packets.append(batch[index].indices.map { batch[index][$0] }) }
        }
        // Packets that exceed the buffer are truncated.
        #expect(packets == lengths.enumerated().map { [UInt8](repeating: UInt8($0), count: min($1, 8)) })
        #expect(try socket.receive(into: batch) == .wouldBlock && batch.count == 0)
    }
}
