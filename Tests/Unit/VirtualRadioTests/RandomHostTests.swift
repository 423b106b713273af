// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import TestSupport
import Testing
import VirtualRadio

@Suite struct RandomHostTests {
    /// Valid commands that let random streams make progress: controller, opcode, parameters.
    static let sensible = packets([
        (0, 0x0C03, ""), (1, 0x0C03, ""),
        (0, 0x0C01, "FFFFFFFFFFFFFF3F"), (1, 0x0C01, "FFFFFFFFFFFFFF3F"),
        (0, 0x2001, "FFFFFFFFFFFFFFFF"), (1, 0x2001, "FFFFFFFFFFFFFFFF"),
        (1, 0x2036, "00 1300 200000 200000 07 00 00 000000000000 00 7F 01 00 01 00 00"),
        (1, 0x2039, "01 01 00 0000 00"), (1, 0x2037, "00 03 01 03 020106"), (1, 0x2039, "00 00"),
        (0, 0x2041, "00 00 01 01 1000 1000"), (0, 0x2042, "01 00 0000 0000"), (0, 0x2042, "00 00 0000 0000"),
        (0, 0x2043, "00 00 00 0200000000C0 01 1000 1000 0600 0600 0000 0A00 0000 0000"), (0, 0x200E, ""),
        (0, 0x2013, "4000 0C00 0C00 0000 C800 0000 0000"), (1, 0x2013, "4000 0C00 1000 0100 C800 0000 0000"),
        (0, 0x2020, "4000 0C00 1000 0100 C800 0000 0000"), (0, 0x041D, "4000"), (1, 0x2016, "4000"),
        (0, 0x0406, "4000 13"), (1, 0x0406, "4000 13"),
    ])

    /// Commands that lead to a connection after 50 ms.
    static let connecting = packets([
        (0, 0x0C01, "FFFFFFFFFFFFFF3F"), (1, 0x0C01, "FFFFFFFFFFFFFF3F"),
        (0, 0x2001, "FFFFFFFFFFFFFFFF"), (1, 0x2001, "FFFFFFFFFFFFFFFF"),
        (1, 0x2036, "00 1300 200000 200000 07 00 00 000000000000 00 7F 01 00 01 00 00"),
        (1, 0x2039, "01 01 00 0000 00"),
        (0, 0x2043, "00 00 00 0200000000C0 01 1000 1000 0600 0600 0000 0A00 0000 0000"),
    ])

    private static func packets(_ rows: [(Int, UInt16, String)]) -> [(side: Int, bytes: [UInt8])] {
        rows.map { side, opcode, text in
            let parameters = VectorFile.bytes(text) ?? []
            return (side, [0x01, UInt8(opcode & 0xFF), UInt8(opcode >> 8), UInt8(parameters.count)] + parameters)
        }
    }

    /// Result of one stream.
    struct Trace: Equatable {
        var bytes: UInt64 = 14_695_981_039_346_656_037
        var packets = 0
        var connected = false

        /// Adds a packet to the hash (FNV-1a).
        mutating func add(_ packet: [UInt8]) {
            packets += 1
            for byte in packet { bytes = (bytes ^ UInt64(byte)) &* 1_099_511_628_211 }
            if packet.count > 4, packet[1] == 0x3E, packet[3] == 0x0A, packet[4] == 0x00 { connected = true }
        }
    }

    /// Sends one stream of random commands, data and invalid bytes to two controllers, and checks all answers.
    func play(seed: UInt64, steps: Int) -> Trace {
        var random = SeededGenerator(seed: seed)
        let bench = Bench([.extended, .extended], seed: seed)
        var trace = Trace()
        if seed % 2 == 0 {
            for row in Self.connecting { bench.controllers[row.side].receive(row.bytes, now: bench.radio.now) }
            bench.run(.milliseconds(50))
        }
        for _ in 0..<steps {
            let side = Int.random(in: 0...1, using: &random)
            switch UInt8.random(in: 0...15, using: &random) {
            case 0...8:
                guard let row = Self.sensible.randomElement(using: &random) else { continue }
                bench.controllers[row.side].receive(row.bytes, now: bench.radio.now)
            case 9:
                // Usually an existing opcode, with arbitrary parameters.
                let opcode = UInt16.random(in: 0x2000...0x2045, using: &random)
                let count = Int.random(in: 0...40, using: &random)
                let parameters = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                let header = [0x01, UInt8(opcode & 0xFF), UInt8(opcode >> 8), UInt8(count)]
                bench.controllers[side].receive(header + parameters, now: bench.radio.now)
            case 10:
                // A valid command with one byte changed.
                guard let row = Self.sensible.randomElement(using: &random) else { continue }
                var bytes = row.bytes
                if bytes.count > 4 {
                    bytes[Int.random(in: 4..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                }
                bench.controllers[row.side].receive(bytes, now: bench.radio.now)
            case 11:
                let count = Int.random(in: 0...12, using: &random)
                let rubbish = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                bench.controllers[side].receive(rubbish, now: bench.radio.now)
            case 12: bench.controllers[side].receive([0x02, 0x40, 0x00, 0x01, 0x00, 0xAA], now: bench.radio.now)
            case 13:
                if Bool.random(using: &random) {
                    bench.radio.separate(bench.first, bench.second)
                } else {
                    bench.radio.join(bench.first, bench.second)
                }
            default: bench.run(.milliseconds(Int.random(in: 0...120, using: &random)))
            }
        }
        for controller in bench.controllers {
            if controller.waitingPackets > 1024 { Issue.record("seed \(seed): \(controller.waitingPackets) packets") }
            while let packet = controller.nextPacket() {
                trace.add(packet)
                guard packet.count >= 3 else {
                    Issue.record("a packet of \(packet.count) bytes")
                    continue
                }
                let isWhole =
                    packet[0] == 0x04
                    ? packet.count == 3 + Int(packet[2])
                    : packet.count >= 5 && packet.count == 5 + Int(packet[3]) + Int(packet[4]) << 8
                if !isWhole || (packet[0] != 0x04 && packet[0] != 0x02) { Issue.record("seed \(seed): \(packet)") }
            }
        }
        // Events of the last step may be due immediately if the random delay is zero.
        bench.radio.advance(to: bench.radio.now)
        if let deadline = bench.radio.deadline, deadline <= bench.radio.now {
            Issue.record("seed \(seed): due work left")
        }
        return trace
    }

    @Test(
        "100,000 random hosts: no trap, whole packets, bounded queues; half of them connect",
        arguments: UInt64(0)..<4
    )
    func randomHosts(_ quarter: UInt64) {
        var connected = 0
        var packets = 0
        for seed in (quarter * 25_000)..<((quarter + 1) * 25_000) {
            let trace = play(seed: seed, steps: 16)
            connected += trace.connected ? 1 : 0
            packets += trace.packets
        }
        print("random hosts: \(packets) packets, \(connected) of 25000 streams connected")
        #expect(connected >= 12_500)
        #expect(packets > 250_000)
    }

    @Test("A host that never reads: a million bytes of commands, a bounded queue")
    func unread() {
        let bench = Bench.pair()
        for _ in 0..<5_000 { bench.command(bench.first, 0x1002) }
        for _ in 0..<5_000 { bench.send(bench.first, "FF") }
        #expect(bench.first.waitingPackets == 1024)
        #expect(bench.first.lostPackets == 10_000 - 1024)
        bench.advertise(bench.second)
        bench.run(.seconds(60))
        #expect(bench.first.waitingPackets == 1024)
    }

    @Test("The same seed gives the same trace, another seed another")
    func determinism() {
        for seed in UInt64(1)...50 { #expect(play(seed: seed, steps: 400) == play(seed: seed, steps: 400)) }
        #expect(Self.reports(seed: 1) == Self.reports(seed: 1))
        #expect(Self.reports(seed: 1) != Self.reports(seed: 2))
    }

    /// Returns the advertising reports of one second, with their RSSI.
    static func reports(seed: UInt64) -> [String] {
        let bench = Bench([.extended, .extended], seed: seed)
        for controller in bench.controllers { bench.wantEverything(controller) }
        bench.advertise(bench.second)
        bench.succeed(bench.first, 0x2041, "00 00 01 00 1000 1000")
        bench.succeed(bench.first, 0x2042, "01 00 0000 0000")
        bench.run(.seconds(1))
        return bench.packets(bench.first)
    }

    @Test("One long advance of time has the same result as a step for every deadline")
    func steps() throws {
        var traces: [[String]] = []
        for isStepped in [false, true] {
            let bench = Bench.pair()
            bench.link()
            bench.succeed(bench.first, 0x2041, "00 00 01 00 1000 1000")
            bench.succeed(bench.first, 0x2042, "01 00 0000 0000")
            bench.succeed(bench.second, 0x2039, "01 01 00 0000 00")
            bench.send(bench.second, "02 4000 0100 AA")
            let end = Duration.seconds(2)
            while isStepped, let deadline = bench.radio.deadline, deadline <= end { bench.radio.advance(to: deadline) }
            bench.radio.advance(to: end)
            traces.append(bench.packets(bench.first))
        }
        #expect(traces[0] == traces[1])
        #expect(traces[0].count > 60)
    }
}
