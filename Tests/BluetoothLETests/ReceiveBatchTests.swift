// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Glibc
import Testing

@testable import BluetoothLE
@testable import LinuxIO

@Suite("A socket that has always more to read")
struct ReceiveBatchTests {
    /// The packets that wait at first: more than two batches.
    private static let count = 150

    /// A socket in which so many packets wait, and its other end.
    private func full(_ packet: [UInt8]) throws -> (socket: Int32, other: Int32) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        for _ in 0..<Self.count { try #require(write(ends[1], packet, packet.count) == packet.count) }
        return (ends[0], ends[1])
    }

    /// The packets that still wait in the socket of that number.
    private func waiting(_ number: Int32) -> Int {
        var count = 0
        var buffer = [UInt8](repeating: 0, count: 512)
        while recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 { count += 1 }
        return count
    }

    @Test("X-7: of the answers to commands 64 are read in a row, then the loop serves others, and comes back")
    func commands() throws {
        // Command Complete of no command: one more may be sent.
        let ends = try full([0x04, 0x0E, 0x03, 0x01, 0x00, 0x00])
        let number = dup(ends.socket)
        defer {
            close(number)
            close(ends.other)
        }
        let loop = try EventLoop()
        let commands = try KernelCommands<Scanner>(HCISocket(opened: Descriptor(owning: ends.socket)), on: loop)
        var turns = 0
        commands.onStep = {
            turns += 1
            if turns != 1 { loop.stop() } else { _ = loop.schedule(at: .zero) { loop.stop() } }
        }
        try loop.run()
        let left = waiting(number)
        #expect(turns >= 1 && left == Self.count - turns * 64)
        commands.close()
    }

    @Test("X-7: of the management channel's events 64 are read in a row, then the loop serves others, and comes back")
    func management() throws {
        // Index Added of hci0.
        let ends = try full([0x04, 0x00, 0x00, 0x00, 0x00, 0x00])
        let number = dup(ends.socket)
        defer {
            close(number)
            close(ends.other)
        }
        let loop = try EventLoop()
        let channel = try ManagementChannel(ManagementSocket(opened: Descriptor(owning: ends.socket)), on: loop)
        var events = 0
        channel.onEvent = { _ in
            events += 1
            loop.stop()
        }
        try loop.run()
        #expect(events == 64)
        try loop.run()
        #expect(events == 128 && waiting(number) == Self.count - 128)
        channel.close()
    }
}
