// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import SystemPackage
import Testing

@testable import LinuxIO

@Suite("A socket of attribute packets")
struct L2CAPSocketTests {
    @Test("A packet is taken whole, or is an error: no value is cut", arguments: [true, false])
    func truncated(asksForDrops: Bool) throws {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        defer { close(ends[1]) }
        let socket = L2CAPSocket(accepted: Descriptor(owning: ends[0]), receiveBuffer: 1 << 16)
        for count in [1024, 1025, 3] {
            let packet = [UInt8](repeating: 0x1B, count: count)
            try #require(write(ends[1], packet, count) == count)
        }
        var taken: [Int] = []
        func receive() throws(Errno) -> NonBlocking<Int> {
            guard asksForDrops else { return try socket.receiveUnmarked { packet in taken.append(packet.count) } }
            return try socket.receive { packet, _ in taken.append(packet.count) }
        }
        _ = try receive()
        #expect(throws: Errno.messageTooLong) { try receive() }
        _ = try receive()
        #expect(taken == [1024, 3])
        guard case .wouldBlock = try receive() else {
            Issue.record("a packet that nobody sent")
            return
        }
    }
}
