// SPDX-License-Identifier: GPL-2.0-or-later

import Testing

@testable import BluetoothAdapters

@Suite("Packets that arrive while a link is being encrypted")
struct EarlyPacketsTests {
    /// Packets at 0, 10, 20, 30 and 40 ms, each with its time as its byte.
    private static var five: EarlyPackets {
        var packets = EarlyPackets()
        for time in stride(from: 0 as UInt8, through: 40, by: 10) { packets.add([time], at: .milliseconds(Int(time))) }
        return packets
    }

    @Test("By default, only packets after the encryption are accepted, in their order; the others are counted")
    func after() {
        var packets = Self.five
        #expect(packets.take(encryptedAt: .milliseconds(20), early: .zero) == [[30], [40]])
        #expect(packets.refused == 3)
        // They are returned once.
        #expect(packets.take(encryptedAt: .milliseconds(20), early: .zero).isEmpty)
        #expect(packets.refused == 3)
    }

    @Test(
        "A packet of the allowed time before the encryption is accepted, one before it is refused",
        arguments: [
            (early: Duration.milliseconds(10), accepted: [[10], [20], [30], [40]] as [[UInt8]]),
            (.microseconds(9999), [[20], [30], [40]]),
            (.milliseconds(50), [[0], [10], [20], [30], [40]]),
        ]
    )
    func early(_ early: Duration, _ accepted: [[UInt8]]) {
        var packets = Self.five
        #expect(packets.take(encryptedAt: .milliseconds(20), early: early) == accepted)
        #expect(packets.refused == UInt64(5 - accepted.count))
    }

    @Test("Without the time of the encryption, all packets are refused and counted")
    func unknown() {
        var packets = Self.five
        packets.refuse(([1] as [UInt8]).span)
        #expect(packets.take(encryptedAt: nil, early: .seconds(1)).isEmpty)
        #expect(packets.refused == 6)
    }

    @Test("When the link ends, the kept packets are refused and counted, once")
    func end() {
        var packets = Self.five
        packets.refuseAll()
        packets.refuseAll()
        #expect(packets.refused == 5)
        #expect(packets.take(encryptedAt: .zero, early: .seconds(1)).isEmpty)
        #expect(packets.refused == 5)
    }

    @Test("Of more than 64 packets, the oldest are refused and counted")
    func bound() {
        var packets = EarlyPackets()
        for number in 0..<100 { packets.add([UInt8(number)], at: .milliseconds(number)) }
        #expect(packets.refused == 36)
        // Three of the refused bytes are opcodes of values.
        #expect(packets.values.refused == 3 && packets.values.longest == nil)
        let accepted = packets.take(encryptedAt: .milliseconds(-1), early: .zero)
        #expect(accepted == (36..<100).map { [UInt8($0)] })
        #expect(packets.refused == 36)
    }

    @Test("An Exchange MTU Request is kept, with and without a time, because the device waits for its response")
    func exchange() {
        let exchange: [UInt8] = [0x02, 0xF7, 0x00]
        for time in [Duration.milliseconds(20), nil] {
            var packets = Self.five
            packets.add(exchange, at: .zero)
            packets.add([0x02, 0xF7], at: .zero)
            let later: [[UInt8]] = time == nil ? [] : [[30], [40]]
            #expect(packets.take(encryptedAt: time, early: .zero) == [exchange] + later)
            #expect(packets.refused == UInt64(6 - later.count))
            #expect(packets.take(encryptedAt: time, early: .zero).isEmpty)
        }
        var packets = EarlyPackets()
        packets.addWithoutTime(exchange.span)
        packets.addWithoutTime(([0x1B, 3, 0, 65] as [UInt8]).span)
        #expect(packets.refused == 1)
        // A device may ask only once.
        packets.addWithoutTime(([0x02, 23, 0] as [UInt8]).span)
        #expect(packets.refused == 2)
        #expect(packets.take(encryptedAt: nil, early: .zero) == [[0x02, 23, 0]])
        packets.add(exchange, at: .zero)
        packets.refuseAll()
        packets.refuseAll()
        #expect(packets.refused == 3 && packets.values.refused == 1)
    }

    @Test(
        "D-41: values before the encryption are counted with the longest time before it; requests and later values are not",
        arguments: [(early: Duration.zero, accepted: UInt64(0)), (.milliseconds(10), 2), (.milliseconds(50), 3)]
    )
    func values(_ early: Duration, _ accepted: UInt64) {
        var packets = EarlyPackets()
        packets.add([0x02, 23, 0], at: .milliseconds(1))
        for (opcode, time) in [(0x1B, 5), (0x1D, 30), (0x23, 40), (0x1B, 41)] as [(UInt8, Int)] {
            packets.add([opcode, 3, 0, 65], at: .milliseconds(time))
        }
        packets.add([], at: .milliseconds(20))
        _ = packets.take(encryptedAt: .milliseconds(40), early: early)
        var expected = EarlyValues()
        (expected.refused, expected.accepted, expected.longest) = (3 - accepted, accepted, .milliseconds(35))
        #expect(packets.values == expected)
        // On a link that is never encrypted, the time is not known.
        var clear = EarlyPackets()
        clear.add([0x1B, 3, 0, 65], at: .milliseconds(1))
        clear.refuse([0x1D, 3, 0].span)
        clear.refuseAll()
        #expect(clear.values.refused == 2 && clear.values.longest == nil)
        #expect((packets.values + clear.values).longest == .milliseconds(35))
        #expect((clear.values + packets.values).refused == 5 - accepted)
    }
}
