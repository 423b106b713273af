// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport
import Testing

@Suite struct HostileControllerTests {
    @Test("T19: random hostile controllers: each ends in a typed error or a working host, within bounds")
    func hostileControllers() {
        let runs = RunCount.from("BLEWEDGE_HOSTILE_CONTROLLERS", usual: RunCount.isOptimized ? 100_000 : 300)
        var ends: [String: Int] = [:]
        var ready = 0
        var most = 0
        var commands = 0
        for seed in 0..<UInt64(runs) {
            var run = HostileControllerRun(seed: seed)
            let (end, broken) = run.run()
            if let broken { Issue.record("seed \(seed): \(broken)") }
            ends[end.map { "\($0)" } ?? "broken", default: 0] += 1
            if run.wasReady { ready += 1 }
            most = max(most, run.mostStored)
            commands += run.commands
        }
        print("T19: \(runs) hostile controllers, \(commands) commands, \(ready) got ready, at most \(most) bytes kept")
        for (end, count) in ends.sorted(by: { $0.value > $1.value }) { print("T19: \(end): \(count)") }
        #expect(ready * 100 >= runs * 30)
        #expect((ends["works"] ?? 0) * 100 >= runs * 3)
        #expect(ends["broken"] == nil)
    }

    @Test("T19: a controller that tells of ever more connections while it answers nothing is given up, soon")
    func flood() {
        var controller = ModelController.ready()
        controller.unanswered = [.disconnect]
        for number in 0..<100_000 where controller.host.failure == nil {
            controller.connect(
                UInt16(1 + number % 0xE00),
                role: .central,
                peer: DeviceAddress(BluetoothAddress(rawValue: UInt64(number)), .random)
            )
            #expect(controller.host.storedBytes < HostileControllerRun.storage)
        }
        #expect(controller.host.failure == .overrun)
        #expect(controller.events == [.failed(.overrun)])
    }
}
