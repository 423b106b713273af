// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing
import VirtualRadio

@Suite struct FaultTests {
    static let readAddress = HCIOpcode(rawValue: 0x1009)
    static let answer = hex("04 0E 0A 01 0910 00 0100000000C0")

    @Test("Delay: the answer comes later, and no further command is taken meanwhile, except Reset")
    func delay() {
        let bench = Bench.pair()
        bench.first.inject(.delay(.milliseconds(500)), into: Self.readAddress)
        bench.command(bench.first, 0x1009)
        bench.command(bench.first, 0x1001)
        #expect(bench.first.lostPackets == 1)
        #expect(bench.radio.deadline == .milliseconds(500))
        bench.run(.milliseconds(499))
        #expect(bench.packets(bench.first).isEmpty)
        bench.run(.milliseconds(1))
        // The answer allows the controller to receive a command again.
        #expect(bench.packets(bench.first) == [Self.answer])
        bench.command(bench.first, 0x1009)
        bench.command(bench.first, 0x0C03)
        bench.run(.seconds(1))
        #expect(bench.packets(bench.first) == [hex("04 0E 04 01 030C 00")])
    }

    @Test("Credits: with three, two more commands are taken beside a slow one")
    func credits() {
        let bench = Bench.pair { $0.commandCredits = 3 }
        bench.first.inject(.delay(.milliseconds(500)), into: Self.readAddress, times: 1)
        bench.command(bench.first, 0x1009)
        bench.command(bench.first, 0x200F)
        #expect(bench.packets(bench.first) == [hex("04 0E 05 02 0F20 00 10")])
        bench.run(.milliseconds(500))
        #expect(bench.packets(bench.first) == [hex("04 0E 0A 03 0910 00 0100000000C0")])
    }

    @Test("Drop: the command is carried out, its answer never comes, the next is answered")
    func drop() {
        let bench = Bench.pair()
        bench.first.inject(.drop, into: .leSetRandomAddress)
        bench.command(bench.first, 0x2005, "010203040506")
        bench.run(.seconds(10))
        #expect(bench.packets(bench.first).isEmpty)
        // The controller accepts the own address type random, so the address was set.
        #expect(bench.status(bench.first, 0x2041, "01 00 01 00 1000 1000") == 0x00)
        #expect(bench.status(bench.first, 0x2042, "01 00 0000 0000") == 0x00)
    }

    @Test("Corrupt: one byte of the answer is changed")
    func corrupt() {
        let bench = Bench.pair()
        bench.first.inject(.corrupt(offset: 1, mask: 0xFF), into: Self.readAddress, skipping: 1, times: 1)
        for _ in 0..<3 { bench.command(bench.first, 0x1009) }
        #expect(bench.packets(bench.first) == [Self.answer, hex("04 F1 0A 01 0910 00 0100000000C0"), Self.answer])
    }

    @Test("Refuse: any command, with any status, without being carried out")
    func refuse() {
        let bench = Bench.pair()
        bench.first.inject(.refuse(.hardwareFailure), into: Self.readAddress)
        bench.first.inject(.refuse(.commandDisallowed), into: .leExtendedCreateConnection)
        bench.first.inject(.refuse(.hardwareFailure), into: HCIOpcode(rawValue: 0xFC01))
        bench.command(bench.first, 0x1009)
        bench.command(bench.first, 0x2043)
        bench.command(bench.first, 0xFC01)
        #expect(
            bench.packets(bench.first) == [
                hex("04 0E 0A 01 0910 03 000000000000"), hex("04 0F 04 0C 01 4320"), hex("04 0F 04 03 01 01FC"),
            ]
        )
        bench.first.inject(nil as CommandFault?, into: Self.readAddress)
        bench.command(bench.first, 0x1009)
        #expect(bench.packets(bench.first) == [Self.answer])
    }

    @Test("Hardware error: in place of an answer, or by itself")
    func hardwareError() {
        let bench = Bench.pair()
        bench.first.inject(.hardwareError(code: 0x42), into: .leSetRandomAddress, times: 1)
        bench.command(bench.first, 0x2005, "010203040506")
        bench.first.reportHardwareError(code: 0x07)
        #expect(bench.packets(bench.first) == [hex("04 10 01 42"), hex("04 10 01 07")])
        #expect(bench.status(bench.first, 0x2041, "01 00 01 00 1000 1000") == 0x00)
        #expect(bench.status(bench.first, 0x2042, "01 00 0000 0000") == 0x12)
        bench.first.removeFaults()
    }

    @Test("Events: lost, twice, late, and wrong")
    func events() {
        let bench = Bench.pair()
        bench.link()
        bench.first.inject(.drop, intoEvent: HCIEvent.Code.numberOfCompletedPackets, times: 1)
        for _ in 0..<2 {
            bench.send(bench.first, "02 4000 0100 AA")
            bench.run(.milliseconds(30))
        }
        #expect(bench.packets(bench.first) == [hex("04 13 05 01 4000 0100")])
        bench.first.inject(.duplicate, intoEvent: HCIEvent.Code.disconnectionComplete)
        bench.second.inject(.delay(.seconds(1)), intoEvent: HCIEvent.Code.disconnectionComplete)
        bench.command(bench.first, 0x0406, "4000 13")
        bench.run(.milliseconds(100))
        #expect(bench.packets(bench.first).dropFirst() == [hex("04 05 04 00 4000 16"), hex("04 05 04 00 4000 16")])
        #expect(!bench.packets(bench.second).contains(hex("04 05 04 00 4000 13")))
        bench.run(.seconds(1))
        #expect(bench.packets(bench.second) == [hex("04 05 04 00 4000 13")])

        bench.first.inject(.corrupt(offset: 4, mask: 0x3E), into: .enhancedConnectionComplete)
        bench.second.inject(.drop, into: .enhancedConnectionComplete)
        bench.advertise(bench.second)
        bench.connect(bench.first, to: bench.address(bench.second))
        bench.run(.milliseconds(50))
        #expect(bench.packets(bench.first).map { $0.prefix(14) } == [hex("04 3E 1F 0A 3E 4000")[...]])
        #expect(bench.packets(bench.second) == [hex("04 3E 06 12 00 00 4000 00")])
    }

    @Test("ACL data: lost, changed and twice, on either side; the buffers are given back all the same")
    func data() {
        let bench = Bench.pair()
        bench.link()
        func exchange() -> (sender: [String], receiver: [String]) {
            bench.send(bench.first, "02 4000 0200 AABB")
            bench.run(.milliseconds(30))
            return (bench.packets(bench.first), bench.packets(bench.second))
        }
        let completed = [hex("04 13 05 01 4000 0100")]
        let expected: [(DataFault, [String])] = [
            (.drop, []), (.corrupt(offset: 1, mask: 0x0F), [hex("02 4020 0200 AAB4")]),
            (.duplicate, [hex("02 4020 0200 AABB"), hex("02 4020 0200 AABB")]),
        ]
        for (fault, packets) in expected {
            bench.first.inject(fault, intoData: .fromHost, times: 1)
            var (sender, receiver) = exchange()
            #expect(sender == completed)
            #expect(receiver == packets)
            bench.second.inject(fault, intoData: .toHost, times: 1)
            (sender, receiver) = exchange()
            #expect(sender == completed)
            #expect(receiver == packets)
        }
        #expect(exchange().receiver == [hex("02 4020 0200 AABB")])
    }
}
