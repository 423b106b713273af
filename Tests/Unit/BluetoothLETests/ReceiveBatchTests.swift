// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Glibc
import Testing

@testable import BluetoothAdapters
@testable import LinuxIO
@testable import RadioMeasuring

@Suite("A socket that has always more to read", .timeLimit(.minutes(10)))
struct ReceiveBatchTests {
    /// Number of packets that are queued at first: more than two batches.
    private static let count = 150

    /// Returns a socket with `count` queued packets, and its other end.
    private func full(_ packet: [UInt8]) throws -> (socket: Int32, other: Int32) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        for _ in 0..<Self.count { try #require(write(ends[1], packet, packet.count) == packet.count) }
        return (ends[0], ends[1])
    }

    /// Returns the number of packets that are still queued in the socket.
    private func waiting(_ number: Int32) -> Int {
        var count = 0
        var buffer = [UInt8](repeating: 0, count: 512)
        while recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 { count += 1 }
        return count
    }

    @Test("Of the answers to commands 64 are read in a row, then the loop serves others, and comes back")
    func commands() throws {
        // Command Complete without a command, which allows one more command.
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

    /// Returns the advertisement of a device, without data.
    private static func report(_ device: Int) -> [UInt8] {
        [0x04, 0x3E, 12, 0x02, 1, 0, 1, UInt8(device), 0, 0, 0, 0, 0xC0, 0, 0xC4]
    }

    @Test("Of the advertising reports 64 are read in a row, then the loop serves others, and comes back")
    func reports() throws {
        let reading = try RadioReading(DeviceTable())
        for device in 0..<Self.count {
            let report = Self.report(device)
            try #require(write(reading.sender, report, report.count) == report.count)
        }
        var heard: [UInt64] = []
        reading.scanner.onUpdate = { update in
            heard.append(update.device.address.address.rawValue & 0xFF)
            reading.loop.stop()
        }
        for turn in [0..<64, 0..<128, 0..<150] as [Range<UInt64>] {
            try reading.loop.run()
            #expect(heard == Array(turn))
        }
    }

    @Test("T14: a socket of reports whose other end is closed gives none more, and no faulty one")
    func closed() throws {
        let reading = try RadioReading(DeviceTable())
        let report = Self.report(1)
        try #require(write(reading.sender, report, report.count) == report.count)
        try #require(shutdown(reading.sender, Int32(SHUT_RDWR)) == 0)
        var turns = 0
        reading.scanner.onUpdate = { _ in
            _ = reading.loop.schedule(at: .zero) {
                turns += 1
                reading.loop.stop()
            }
        }
        try reading.loop.run()
        let counters = reading.scanner.devices.counters
        #expect(turns == 1 && counters.reports == 1 && counters.badEvents == 0)
    }

    @Test("Of the management channel's events 64 are read in a row, then the loop serves others, and comes back")
    func management() throws {
        // Index Added for hci0.
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
