// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import ClockSupport
import Configuration
import Control
import Daemon
import Keystrokes
import Link
import LinuxIO
import SystemPackage
import Testing

/// Undocumented behavior of real devices, from the channel to the keyboard, in virtual time.
@Suite("Habits of devices in the field", .timeLimit(.minutes(10)))
struct FieldTests {
    @Test(
        "A device that hangs up when it is asked for its MTU is not asked the next time, once; so is one that never answers"
    )
    func noExchange() async {
        await #expect(processExitsWith: .success) {
            VirtualClock.begin()
            for habit in [FieldChannel.Habit.hangsUp, .isSilent] {
                let bench = try FieldBench { $0.first == 0x02 ? habit : nil }
                let start = MonotonicClock.now
                let second = try bench.connected()
                let (failure, pause): (String, Duration) =
                    if case .isSilent = habit {
                        ("the device did not answer Exchange MTU Request within 30 s", .seconds(30))
                    } else { ("the device ended the connection", .zero) }
                #expect(bench.states.contains { $0.state == .failed && $0.reason == failure })
                #expect(bench.channels.count == 2 && bench.channels[0].sent == [[0x02, 0x05, 0x02]])
                #expect(second.sent.first?.first == 0x06)
                #expect((pause + .seconds(3)...pause + .seconds(4)).contains(MonotonicClock.now - start))
                second.tell("1\r")
                #expect(try bench.run { bench.typed == "1\n" })
                #expect(bench.service.device.linkFacts?.mtu == 23)
                // The MTU is requested again on a later link, because the device may have changed.
                second.end(.system(.connectionReset))
                #expect(try bench.run { bench.channels.count == 4 })
                #expect(try bench.run { bench.service.device.state == .connected })
                #expect(bench.channels[2].sent == [[0x02, 0x05, 0x02]])
                #expect(bench.channels[3].sent.first?.first == 0x06)
                // This also applies to the link after one that the user has ended.
                bench.service.device.disconnect()
                #expect(try bench.run { bench.service.device.state == .disconnected })
                bench.service.device.connect()
                #expect(try bench.run { bench.channels.count == 5 && !bench.channels[4].sent.isEmpty })
                #expect(bench.channels[4].sent == [[0x02, 0x05, 0x02]])
                try bench.end()
            }
        }
    }

    @Test("A link that ends for another reason, or behind the exchange, is asked for its MTU the next time")
    func exchange() async {
        await #expect(processExitsWith: .success) {
            VirtualClock.begin()
            for failure in [LinkFailure.system(.timedOut), .system(.connectionReset)] {
                let bench = try FieldBench { pdu in
                    let isFirst = failure == .system(.timedOut) ? pdu.first == 0x02 : pdu.first == 0x06
                    return isFirst ? .isSilent : nil
                }
                let request: UInt8 = failure == .system(.timedOut) ? 0x02 : 0x06
                #expect(try bench.run { bench.channels.last?.sent.last?.first == request })
                bench.channels.last?.end(failure)
                #expect(try bench.run { bench.channels.count == 2 && !bench.channels[1].sent.isEmpty })
                #expect(bench.channels[1].sent.first == [0x02, 0x05, 0x02])
                try bench.end()
            }
        }
    }

    @Test(
        "A device that takes 29 s for four of its answers is set up; one that takes more than 120 s in all is given up"
    )
    func slowAnswers() async {
        await #expect(processExitsWith: .success) {
            VirtualClock.begin()
            // Requests of each kind during the setup: twice for the service, once for descriptors and the
            // configuration, and three times for characteristics.
            for (slow, isReady): (Set<UInt8>, Bool) in [([0x06, 0x04, 0x12], true), ([0x06, 0x08], false)] {
                let bench = try FieldBench { pdu in slow.contains(pdu[0]) ? .isSlow(.seconds(29)) : nil }
                let start = MonotonicClock.now
                let isOver = try bench.run(.seconds(125)) {
                    [.connected, .failed].contains(bench.service.device.state)
                }
                #expect(isOver && (bench.service.device.state == .connected) == isReady, "\(bench.states)")
                let time = MonotonicClock.now - start
                #expect(time > .seconds(115) && time < .seconds(121))
                if !isReady { #expect(bench.states.last?.reason == "the device was not ready within 120 s") }
                try bench.end()
            }
        }
    }

    @Test("D-36: a value is typed by its handle, notified or indicated, and with a length that the MTU does not allow")
    func values() throws {
        let bench = try FieldBench()
        let channel = try bench.connected()
        #expect(bench.service.device.linkFacts?.mtu == 23)
        let long = [UInt8](repeating: 0x41, count: 513) + [0x0D]
        for opcode: UInt8 in [0x1B, 0x1D] {
            let before = bench.typed.utf8.count
            channel.tell(Array("49\r".utf8), opcode: opcode)
            channel.tell(long, opcode: opcode)
            #expect(try bench.run { bench.typed.utf8.count == before + 3 + 514 })
        }
        #expect(channel.sent.count { $0 == [0x1E] } == 2)
        #expect(bench.count("notifications") == 4 && bench.count("oversized") == 0)
        // Longer than any link allows: counted separately, as a notification and as an indication.
        for opcode: UInt8 in [0x1B, 0x1D] { channel.tell([0x41] + long, opcode: opcode) }
        #expect(bench.count("notifications") == 4 && bench.count("oversized") == 2 && bench.count("stray") == 0)
        channel.end(.system(.connectionReset))
        #expect(try bench.run { bench.service.device.state == .lost })
        #expect(bench.count("oversized") == 2)
        try bench.end()
    }

    @Test("D-36: a device without a client configuration descriptor types, and nothing is written to it")
    func noConfiguration() throws {
        var service = ScriptedDevice.Service(.linble)
        service.isConfigurable = false
        let bench = try FieldBench(service)
        let channel = try bench.connected()
        #expect(!channel.sent.contains { $0.first == 0x12 })
        channel.tell("49\r")
        #expect(try bench.run { bench.typed == "49\n" })
        try bench.end()
    }

    @Test(
        "D-35: CR LF is one Enter within two intervals of the link, the skipped ones among them, whenever they change"
    )
    func slowLink() async {
        await #expect(processExitsWith: .success) {
            VirtualClock.begin()
            for barcodes in [nil, try BarcodeRules()] {
                let bench = try FieldBench(barcodes: barcodes)
                let channel = try bench.connected()
                try bench.pass(.seconds(1))
                /// Returns true if a line feed this long after its carriage return types nothing, and does not count as
                /// a barcode.
                func isJoined(after time: Duration) throws -> Bool {
                    let enters = bench.typed.count { $0 == "\n" }
                    let empty = bench.count("tooShort") ?? 0
                    channel.tell("4902778020142ABCDEF\r")
                    try bench.pass(time)
                    channel.tell("\n")
                    try bench.pass(.milliseconds(20))
                    return bench.typed.count { $0 == "\n" } == enters + 1 && bench.count("tooShort") == empty
                }
                #expect(try isJoined(after: .milliseconds(99)))
                #expect(try !isJoined(after: .milliseconds(105)))
                // An interval of 400 ms, one of which the device may skip.
                channel.onTiming?(ConnectionTiming(interval: 320, latency: 1, supervisionTimeout: 600))
                #expect(try isJoined(after: .milliseconds(1595)))
                #expect(try !isJoined(after: .milliseconds(1605)))
                channel.onTiming?(ConnectionTiming(interval: 24, latency: 0, supervisionTimeout: 400))
                #expect(try isJoined(after: .milliseconds(99)))
                #expect(try !isJoined(after: .milliseconds(105)))
                try bench.end()
                // The timing of a new link is known from the beginning.
                let slow = try FieldBench(timing: ConnectionTiming(interval: 320, latency: 0, supervisionTimeout: 600))
                let first = try slow.connected()
                first.tell("1\r")
                try slow.pass(.milliseconds(400))
                first.tell("\n2\r")
                #expect(try slow.run { slow.typed == "1\n2\n" })
                try slow.end()
            }
        }
    }
}
