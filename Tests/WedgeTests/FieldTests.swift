// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
import SystemPackage
import Testing
import Wedge

/// What devices in the field do though no document asks for it, from the channel to the keyboard; time is virtual.
@Suite("Habits of devices in the field", .timeLimit(.minutes(10)))
struct FieldTests {
    @Test("D-36: a value is typed by its handle, notified or indicated, and with a length that the MTU does not allow")
    func values() throws {
        let bench = try FieldBench()
        let channel = try bench.connected()
        #expect(bench.service.linkFacts?.mtu == 23)
        let long = [UInt8](repeating: 0x41, count: 513) + [0x0D]
        for opcode: UInt8 in [0x1B, 0x1D] {
            let before = bench.typed.utf8.count
            channel.tell(Array("49\r".utf8), opcode: opcode)
            channel.tell(long, opcode: opcode)
            #expect(try bench.run { bench.typed.utf8.count == before + 3 + 514 })
        }
        #expect(channel.sent.count { $0 == [0x1E] } == 2)
        #expect(bench.count("notifications") == 4 && bench.count("oversized") == 0)
        // Longer than any link carries: counted by its name, in both ways.
        for opcode: UInt8 in [0x1B, 0x1D] { channel.tell([0x41] + long, opcode: opcode) }
        #expect(bench.count("notifications") == 4 && bench.count("oversized") == 2 && bench.count("stray") == 0)
        channel.end(.system(.connectionReset))
        #expect(try bench.run { bench.service.state == .lost })
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
}
