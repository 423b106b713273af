// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing
import VirtualRadio

@Suite struct DataTests {
    @Test("ACL data both ways: it arrives at the next connection event, and the buffer is free then")
    func bothWays() {
        let bench = Bench.pair()
        bench.link()
        bench.send(bench.first, "02 4000 0700 0300 0400 0A0100")
        bench.send(bench.second, "02 4000 0500 0100 0400 0B")
        #expect(bench.packets(bench.first).isEmpty)
        #expect(bench.packets(bench.second).isEmpty)
        bench.run(.milliseconds(30))
        // First fragments are marked 0b00 by a host and 0b10 by a controller.
        #expect(bench.packets(bench.first) == [hex("02 4020 0500 0100 0400 0B"), hex("04 13 05 01 4000 0100")])
        #expect(bench.packets(bench.second) == [hex("02 4020 0700 0300 0400 0A0100"), hex("04 13 05 01 4000 0100")])
    }

    @Test("Without data length extension a packet crosses in pieces of 27 bytes")
    func fragments() {
        let bench = Bench.pair { $0.linkDataLength = 27 }
        bench.link()
        let data = (0..<60).map { UInt8($0) }
        bench.first.receive(ACLPacket.encoded(handle: 0x40, .firstNonFlushable, data.span), now: bench.radio.now)
        bench.send(bench.first, "02 4010 0200 F0F1")
        bench.run(.milliseconds(30))
        let text = Hexadecimal.text(data)
        #expect(
            bench.packets(bench.second) == [
                hex("02 4020 1B00", String(text.prefix(54))),
                hex("02 4010 1B00", String(text.dropFirst(54).prefix(54))),
                hex("02 4010 0600", String(text.suffix(12))), hex("02 4010 0200 F0F1"),
            ]
        )
        #expect(bench.packets(bench.first) == [hex("04 13 05 01 4000 0200")])
    }

    @Test("More packets than buffers, or one too long, are lost with Data Buffer Overflow")
    func overrun() {
        let bench = Bench.pair(.legacy) { $0.aclBufferCount = 3 }
        bench.link()
        for number in 1...4 { bench.send(bench.first, "02 4000 0100 0\(number)") }
        #expect(bench.packets(bench.first) == [hex("04 1A 01 01")])
        bench.run(.milliseconds(30))
        #expect(bench.packets(bench.first) == [hex("04 13 05 01 4000 0300")])
        #expect(bench.packets(bench.second).map { $0.suffix(2) } == ["01", "02", "03"])
        bench.send(bench.first, "02 4000 1C00" + String(repeating: "00", count: 28))
        #expect(bench.packets(bench.first) == [hex("04 1A 01 01")])
    }

    @Test("Data for no connection, or with a mark that LE does not have, goes nowhere; a wrong length is no packet")
    func lost() {
        let bench = Bench.pair()
        bench.link()
        bench.send(bench.first, "02 4100 0100 AA")
        bench.send(bench.first, "02 4030 0100 AA")
        #expect(bench.packets(bench.first).isEmpty)
        #expect(bench.first.lostPackets == 2)
        bench.send(bench.first, "02 4000 0200 AA")
        bench.send(bench.first, "02 4040 0100 AA")
        #expect(bench.packets(bench.first) == [hex("04 10 01 00"), hex("04 10 01 00")])
        bench.run(.seconds(1))
        #expect(bench.packets(bench.second).isEmpty)
    }

    @Test("A peripheral with latency hears the central at the events that it attends")
    func latency() {
        let bench = Bench.pair()
        bench.advertise(bench.second)
        // With an interval of 30 ms and a latency of 4, the peripheral uses every fifth event.
        bench.succeed(
            bench.first,
            0x2043,
            "00 00 \(bench.address(bench.second)) 01 1000 1000 1800 1800 0400 C800 0000 0000"
        )
        bench.run(.milliseconds(200))
        for controller in bench.controllers { _ = bench.packets(controller) }
        var waits: [Duration] = []
        for _ in 0..<20 {
            let start = bench.radio.now
            bench.send(bench.first, "02 4000 0100 AA")
            while bench.second.waitingPackets == 0 { bench.run(.milliseconds(1)) }
            waits.append(bench.radio.now - start)
            _ = bench.packets(bench.second)
            bench.run(.milliseconds(17))
        }
        #expect(waits.allSatisfy { $0 <= .milliseconds(151) })
        #expect(waits.contains { $0 > .milliseconds(60) })
        // The peripheral does not wait with its own data.
        let start = bench.radio.now
        _ = bench.packets(bench.first)
        bench.send(bench.second, "02 4000 0100 BB")
        while bench.first.waitingPackets == 0 { bench.run(.milliseconds(1)) }
        #expect(bench.radio.now - start <= .milliseconds(31))
    }

    @Test("10,000 packets by credits, each way: none lost, none out of order")
    func stream() {
        let bench = Bench.pair()
        bench.link()
        var credits = [8, 8]
        var sent = [0, 0]
        var received = [0, 0]
        for _ in 0..<20_000 where received != [10_000, 10_000] {
            for (side, controller) in bench.controllers.enumerated() {
                while let packet = controller.nextPacket() {
                    if packet[0] == 0x04 {
                        credits[side] += Int(packet[6])
                    } else {
                        let number = Int(packet[5]) | Int(packet[6]) << 8
                        #expect(number == received[side])
                        received[side] += 1
                    }
                }
                while credits[side] > 0, sent[side] < 10_000 {
                    let data = [UInt8(sent[side] & 0xFF), UInt8(sent[side] >> 8)]
                    controller.receive(
                        ACLPacket.encoded(handle: 0x40, .firstNonFlushable, data.span),
                        now: bench.radio.now
                    )
                    credits[side] -= 1
                    sent[side] += 1
                }
            }
            bench.run(.milliseconds(30))
        }
        #expect(received == [10_000, 10_000])
        #expect(bench.controllers.allSatisfy { $0.lostPackets == 0 })
    }

    @Test("A host that does not read stops its peer, not the memory; when it reads, everything is there")
    func backPressure() {
        let bench = Bench.pair()
        bench.link()
        var credits = 8
        var sent = 0
        for _ in 0..<400 {
            while let packet = bench.first.nextPacket() { credits += Int(packet[6]) }
            while credits > 0 {
                bench.send(bench.first, "02 4000 0100 " + Hexadecimal.text(UInt64(sent & 0xFF), digits: 2))
                credits -= 1
                sent += 1
            }
            bench.run(.milliseconds(30))
        }
        #expect(bench.second.waitingPackets == 512)
        #expect(sent == 520)
        var numbers = bench.packets(bench.second).compactMap { UInt8($0.suffix(2), radix: 16) }
        bench.run(.milliseconds(60))
        numbers += bench.packets(bench.second).compactMap { UInt8($0.suffix(2), radix: 16) }
        #expect(numbers == (0..<520).map { UInt8($0 & 0xFF) })
    }

    @Test("With a closure for packets a host may answer inside it")
    func closures() {
        let bench = Bench.pair()
        bench.link()
        var heard: [String] = []
        let second = bench.second
        let radio = bench.radio
        defer { second.onPacket = nil }
        second.onPacket = { packet in
            heard.append(Hexadecimal.text(packet))
            // Answers a received data packet.
            if packet[0] == 0x02 { second.receive([0x02, 0x40, 0x00, 0x01, 0x00, 0xEE], now: radio.now) }
        }
        bench.send(bench.first, "02 4000 0100 AA")
        bench.run(.milliseconds(60))
        #expect(heard == [hex("02 4020 0100 AA"), hex("04 13 05 01 4000 0100")])
        #expect(bench.packets(bench.first).contains(hex("02 4020 0100 EE")))
    }
}
