// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import Configuration
import Link

#if DEBUG
    import ClockSupport
    import Control
    import Daemon
    import Devices
    import LinuxIO
    import SystemPackage
    import TestSupport
    import Testing
    import Texts

    /// Steps of the recovery, tested individually on a simulated kernel in virtual time.
    @Suite("The rungs of the recovery", .timeLimit(.minutes(10)), .enabled(if: Capability.missing.isEmpty))
    struct RecoveryRungTests {
        /// Returns a daemon that is connected, types and answers.
        private static func steady(_ selector: AdapterSelector = .any) throws -> CallFaultBench {
            VirtualClock.begin()
            let bench = try CallFaultBench(selector)
            try #require(try bench.isSteady(within: .seconds(30)))
            return bench
        }

        @Test(
            "An adapter that was asked for by its number comes back under another: it is taken, typed from, counted"
        )
        func otherNumber() async {
            await #expect(processExitsWith: .success) {
                let bench = try RecoveryRungTests.steady(AdapterSelector("hci0") ?? .any)
                let begin = MonotonicClock.now
                bench.machine.dropAdapter(backAs: 1)
                #expect(try bench.until(.seconds(1)) { bench.states.contains(.bluetoothOff) })
                #expect(try bench.isSteady(within: .seconds(10)))
                print("hci0 gone, back as hci1: typed again after \(MonotonicClock.now - begin)")
                #expect(bench.daemon.service.adapter?.name == "hci1")
                let counts = bench.daemon.service.radioCounts
                #expect(counts.moved == 1 && counts.lost == 1 && counts.opened == 2)
                #expect(bench.daemon.status.object.text.contains("\"adapterMoved\":1"))
                bench.machine.dropAdapter(backAs: 1)
                #expect(try bench.until(.seconds(20)) { bench.daemon.service.radioCounts.opened == 3 })
                #expect(bench.daemon.service.radioCounts.moved == 1)
                #expect(try bench.end())
            }
        }

        @Test(
            "For want of memory neither a packet to the device nor one from it ends the link",
            arguments: [0, 1]
        )
        func memory(_ place: Int) async {
            await #expect(processExitsWith: .success) { [place = place as Int] in
                let bench = try RecoveryRungTests.steady()
                let (states, barcodes) = (bench.states.count, bench.machine.barcodes)
                bench.kernel.fail(CallSite(.link, place == 0 ? .write : .recvmsg), with: .noBufferSpace, times: 5)
                try bench.daemon.service.device.send([0x31, 0x32])
                bench.machine.notify("8\r")
                #expect(
                    try bench.until(.seconds(5)) {
                        bench.machine.received.last == [0x31, 0x32] && bench.machine.barcodes == barcodes + 1
                    }
                )
                #expect(bench.kernel.hits.count == 5 && bench.states.count == states)
                // The number of consecutive retries is limited.
                bench.kernel.fail(CallSite(.link, place == 0 ? .write : .recvmsg), with: .noMemory, times: 100)
                try bench.daemon.service.device.send([0x33])
                bench.machine.notify("9\r")
                #expect(try bench.until(.seconds(5)) { bench.states.last == .lost })
                #expect(bench.kernel.hits.count == RepeatedFaults.limit)
                bench.kernel.relent()
                #expect(try bench.isSteady(within: .seconds(10)) && bench.end())
            }
        }

        @Test("A scan whose sockets fail is begun on others, and one that the controller is to end is given up")
        func sockets() async {
            await #expect(processExitsWith: .success) {
                let bench = try RecoveryRungTests.steady()
                bench.kernel.fail(CallSite(.hci, .write), with: .noBufferSpace, times: 2)
                bench.machine.dropLink()
                #expect(try bench.until(.seconds(20)) { bench.kernel.hits.count == 2 })
                #expect(try bench.isSteady(within: .seconds(20)))
                let counts = bench.daemon.service.radioCounts
                #expect(counts.rebuiltSockets == 2 && counts.failedScans == 2 && counts.lost == 0)
                #expect(bench.daemon.status.object.text.contains("\"socketsRebuilt\":2"))
                #expect(try bench.end())
            }
        }

        @Test("A connection whose time is over is given up, and counted")
        func cancelled() async {
            await #expect(processExitsWith: .success) {
                let bench = try RecoveryRungTests.steady()
                bench.machine.isDeaf = true
                bench.machine.dropLink()
                #expect(try bench.until(.seconds(60)) { bench.daemon.service.radioCounts.cancelledAttempts > 0 })
                bench.machine.isDeaf = false
                #expect(try bench.isSteady(within: .seconds(60)))
                #expect(bench.daemon.status.object.text.contains("\"attemptsCancelled\":1"))
                #expect(try bench.end())
            }
        }

        @Test("D-35: twice the interval that the kernel grants a device is the time for the line feed of its Enter")
        func slowLink() async {
            await #expect(processExitsWith: .success) {
                let bench = try RecoveryRungTests.steady()
                func enters() throws -> Int {
                    let before = bench.machine.barcodes
                    bench.machine.notify("7\r")
                    _ = try bench.until(.milliseconds(390)) { false }
                    bench.machine.notify("\n")
                    _ = try bench.until(.milliseconds(390)) { false }
                    return bench.machine.barcodes - before
                }
                #expect(try enters() == 2)
                // 200 ms.
                bench.machine.grant(interval: 160)
                #expect(try enters() == 1)
                #expect(try bench.end())
            }
        }

        @Test("A broken management channel is told as the adapter's loss, and the next one is as good")
        func management() async {
            await #expect(processExitsWith: .success) {
                let bench = try RecoveryRungTests.steady()
                bench.kernel.fail(CallSite(.management, .recvmsg), with: .ioError, times: 1)
                bench.machine.tellManagement()
                #expect(try bench.until(.seconds(1)) { bench.states.last == .bluetoothOff })
                #expect(bench.daemon.service.device.reason?.cause.english.contains("management channel failed") == true)
                #expect(try bench.isSteady(within: .seconds(5)))
                #expect(bench.daemon.service.radioCounts.lost == 1)
                #expect(try bench.end())
            }
        }

        @Test("A choice that cannot be read for want of descriptors is read again, and told of once")
        func choice() throws {
            defer { CallScript.use(nil) }
            let bench = try DaemonBench()
            let device = KernelStandIn.device
            let daemon = try bench.make()
            daemon.start { _ in }
            #expect(try bench.until { bench.states.last == "unselected" || daemon.service.device.state == .unselected })
            try bench.store.write(SelectedDevice(device, name: nil))
            let failures = Failures([CallSite(.file, .open): .max])
            CallScript.use { failures.answer($0) }
            // Other files may lack descriptors at the same time.
            let told = { bench.notes.filter { $0.contains("\(bench.store.path)") } }
            #expect(try bench.until { !told().isEmpty })
            #expect(daemon.service.device.choice == nil)
            failures.left = [:]
            #expect(try bench.until { daemon.service.device.choice == .kept(SelectedDevice(device, name: nil)) })
            #expect(told().count == 1, "\(bench.notes)")
            try bench.end()
        }

        @Test("An output socket takes clients again after several failures in a row to wait for them")
        func outputSocket() async {
            await #expect(processExitsWith: .success) {
                VirtualClock.begin()
                let directory = try TestDirectory()
                let loop = try EventLoop()
                let end = try #require(try OutputListener(.socket(directory("output")), on: loop))
                let failures = Failures([CallSite(.listener, .accept): 1, CallSite(.loop, .epollAdd): 3])
                CallScript.use { failures.answer($0) }
                let client = try LocalStream(connectingTo: directory("output"))
                end.onRoom = { loop.stop() }
                _ = loop.schedule(at: MonotonicClock.now + .seconds(60)) { loop.stop() }
                try loop.run()
                #expect(failures.left.values.allSatisfy { $0 == 0 } && end.counts.readers.count == 1)
                end.close()
                withExtendedLifetime(client) {}
            }
        }

        /// Remaining calls that fail because there are too many descriptors; used by one thread only.
        private final class Failures: @unchecked Sendable {
            var left: [CallSite: Int]

            init(_ left: [CallSite: Int]) { self.left = left }

            func answer(_ site: CallSite) -> CallScript.Answer? {
                guard let count = left[site], count > 0 else { return nil }
                left[site] = count - 1
                return .error(.tooManyOpenFiles)
            }
        }
    }
#endif
