// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import Glibc
import SystemPackage
import Testing

@testable import LinuxIO

@Suite("What the kernel reports with a packet")
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
        let time: [UInt] = [32, Self.head(SOL_SOCKET, Int32(SO_TIMESTAMP)), 1_700_000_000, 123_456]
        let drops: [UInt] = [20, Self.head(SOL_SOCKET, SO_RXQ_OVFL), 7]
        let facts = PacketFacts(time: .seconds(1_700_000_000) + .microseconds(123_456), dropped: 7)
        #expect(Self.messages(time + drops).facts == facts)
        #expect(Self.messages(drops + time).facts == facts)
        let raw: [UInt] = [32, Self.head(Int32(SOL_HCI), Int32(HCI_CMSG_TSTAMP)), 5, 6]
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
        let short: [UInt] = [24, Self.head(SOL_SOCKET, Int32(SO_TIMESTAMP)), 1]
        #expect(Self.messages(short + drops).facts == PacketFacts(dropped: 7))
    }

    @Test("The kernel stamps each packet of a socket on request, in their order")
    func stamped() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        let near = Descriptor(owning: ends[0], .link)
        let far = Descriptor(owning: ends[1], .link)
        var buffer = [UInt8](repeating: 0, count: 8)
        let packets: [[UInt8]] = [[1, 2], [3], [4]]
        try near.stampPackets(true)
        for packet in packets.prefix(2) { _ = try far.write(packet.span.bytes) }
        let now = Duration.seconds(time(nil))
        var times: [Duration] = []
        for count in [2, 1] {
            guard case .done(let (packet, facts)) = try near.receiveStamped(into: &buffer) else {
                Issue.record("nothing received")
                return
            }
            #expect(packet == ReceivedPacket(count: count, isTruncated: false))
            if let time = facts.time { times.append(time) }
        }
        #expect(times.count == 2 && times == times.sorted())
        #expect(times.allSatisfy { now - $0 < .seconds(60) && $0 - now < .seconds(60) })
        try near.stampPackets(false)
        let last = packets[2]
        _ = try far.write(last.span.bytes)
        guard case .done(let (_, facts)) = try near.receiveStamped(into: &buffer) else {
            Issue.record("nothing received")
            return
        }
        #expect(facts.time == nil)
    }
}
