// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import SystemPackage
import Testing

@testable import LinuxIO

@Suite("Facts that the kernel reports with a packet")
struct ControlMessagesTests {
    /// Control messages as the kernel writes them on a 64-bit machine: length, level and type, data.
    private static func messages(_ words: [UInt]) -> ControlMessages {
        var messages = ControlMessages()
        for (index, word) in words.enumerated() { messages.words[index] = word }
        return messages
    }

    private static func head(_ level: Int32, _ type: Int32) -> UInt {
        UInt(UInt32(bitPattern: level)) | UInt(UInt32(bitPattern: type)) << 32
    }

    @Test("A time and a number of drops are read, in either order")
    func both() {
        let time: [UInt] = [
            64, Self.head(SOL_SOCKET, Int32(SO_TIMESTAMPING)), 1_700_000_000, 123_456_789, 1, 2, 3, 4,
        ]
        let drops: [UInt] = [20, Self.head(SOL_SOCKET, SO_RXQ_OVFL), 7]
        let facts = PacketFacts(time: .seconds(1_700_000_000) + .microseconds(123_456), dropped: 7)
        #expect(Self.messages(time + drops).facts == facts)
        #expect(Self.messages(drops + time).facts == facts)
        // SOL_HCI and HCI_CMSG_TSTAMP. Importing CBluetooth here makes it the owner of `sockaddr_in` for the whole module.
        let raw: [UInt] = [32, Self.head(0, 2), 5, 6]
        #expect(Self.messages(raw).facts == PacketFacts(time: .seconds(5) + .microseconds(6)))
    }

    @Test("Unknown messages are skipped, and lengths that do not fit end the list")
    func odd() {
        #expect(Self.messages([]).facts == PacketFacts())
        let drops: [UInt] = [20, Self.head(SOL_SOCKET, SO_RXQ_OVFL), 7]
        let unknown: [UInt] = [24, Self.head(SOL_SOCKET, 999), 1]
        #expect(Self.messages(unknown + drops).facts == PacketFacts(dropped: 7))
        for length: UInt in [0, 1, 15, 129, 1 << 40, .max] {
            #expect(Self.messages([length, Self.head(SOL_SOCKET, SO_RXQ_OVFL), 7] + drops).facts == PacketFacts())
        }
        // Too short for their data.
        #expect(Self.messages([16, Self.head(SOL_SOCKET, SO_RXQ_OVFL), 0]).facts == PacketFacts())
        let short: [UInt] = [24, Self.head(SOL_SOCKET, Int32(SO_TIMESTAMPING)), 1]
        #expect(Self.messages(short + drops).facts == PacketFacts(dropped: 7))
    }

    /// Sends a packet to `near`, and returns what the kernel reports with it.
    private static func facts(_ near: borrowing Descriptor, from far: Int32, _ packet: [UInt8]) throws -> PacketFacts {
        try #require(send(far, packet, packet.count, 0) == packet.count)
        var ready = pollfd(fd: near.number, events: Int16(POLLIN), revents: 0)
        try #require(poll(&ready, 1, 10_000) == 1)
        var buffer = [UInt8](repeating: 0, count: 8)
        guard case .done(let (received, facts)) = try near.receiveStamped(into: &buffer) else {
            Issue.record("nothing received")
            return PacketFacts()
        }
        #expect(received == ReceivedPacket(count: packet.count, isTruncated: false))
        #expect(Array(buffer.prefix(packet.count)) == packet)
        return facts
    }

    @Test("The kernel stamps each packet of a network socket on request, in their order")
    func stamped() throws {
        // A socket that sends to itself.
        let number = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutableBytes(of: &address) { bytes in
            let address = try #require(bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self))
            try #require(bind(number, address, length) == 0 && getsockname(number, address, &length) == 0)
            try #require(connect(number, address, length) == 0)
        }
        let near = Descriptor(owning: number, .link)
        try near.stampPackets(true)
        var times: [Duration] = []
        let now = Duration.seconds(time(nil))
        // The kernel starts stamping some time after the first request in the machine.
        for _ in 0..<100_000 where times.count < 3 {
            if let time = try Self.facts(near, from: number, [1, 2]).time { times.append(time) }
        }
        #expect(times.count == 3 && times == times.sorted())
        #expect(times.allSatisfy { $0 - now < .seconds(600) && now - $0 < .seconds(600) })
        try near.stampPackets(false)
        #expect(try Self.facts(near, from: number, [3]).time == nil)
    }

    @Test("The kernel reports no time for a packet that has none")
    func notInvented() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        defer { close(ends[1]) }
        let near = Descriptor(owning: ends[0], .link)
        try near.stampPackets(true)
        #expect(try Self.facts(near, from: ends[1], [1]) == PacketFacts())
    }
}
