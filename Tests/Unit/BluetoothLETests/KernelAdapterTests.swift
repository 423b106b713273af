// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothHost
    import BluetoothPackets
    import ClockSupport
    import LinuxIO
    import SystemPackage
    import Testing

    @testable import BluetoothAdapters

    /// Commands and events of the management channel, in virtual time.
    @Suite("The kernel's adapter", .timeLimit(.minutes(5)))
    struct KernelAdapterTests {
        private static let peer: [UInt8] = [0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 2]
        private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)

        private func withKernel(_ body: (ManagementKernel) throws -> Void) throws {
            try SystemTime.$ofTask.withValue(VirtualClock()) { try body(try ManagementKernel()) }
        }

        private func connect(_ kernel: ManagementKernel) throws {
            kernel.tell(0x0B, Self.peer + [UInt8](repeating: 0, count: 6))
            try kernel.run { kernel.adapter.isConnected }
        }

        @Test(
            "The signal strength of a connected device is read again after 3 s, and kept if the kernel does not answer"
        )
        func quality() throws {
            try withKernel { kernel in
                let adapter = kernel.adapter
                #expect(adapter.quality(of: Self.device) == nil)
                try connect(kernel)
                // -60 dBm; an answer about another device is ignored, and 127 means unavailable.
                kernel.returned[.getConnectionInformation] = Self.peer + [0xC4, 0, 0]
                #expect(adapter.quality(of: Self.device) == LinkQuality())
                try kernel.run { adapter.quality(of: Self.device)?.rssi == -60 }
                try kernel.run(for: .milliseconds(2900))
                #expect(adapter.quality(of: Self.device)?.rssi == -60)
                #expect(kernel.log == ["0031 F5F4F3F2F1F002"])
                for (returned, rssi) in [
                    ([0xF6] + Self.peer.dropFirst() + [0xC3, 0, 0], -60), ([], -60), (Self.peer + [0xC2, 0, 0], -62),
                    (Self.peer + [0x7F, 0, 0], nil),
                ] as [([UInt8], Int8?)] {
                    try kernel.run(for: .seconds(3))
                    kernel.returned[.getConnectionInformation] = returned
                    _ = adapter.quality(of: Self.device)
                    try kernel.run(for: .milliseconds(100))
                    #expect(adapter.quality(of: Self.device)?.rssi == rssi)
                }
                #expect(kernel.commands.count == 5)
                kernel.tell(0x0C, Self.peer + [3])
                try kernel.run { !adapter.isConnected }
                #expect(adapter.quality(of: Self.device) == nil)
                try connect(kernel)
                #expect(adapter.quality(of: Self.device) == LinkQuality())
            }
        }

        @Test("The kernel's Low Energy connections are listed; a refusal, a malformed answer or silence is no list")
        func connections() throws {
            try withKernel { kernel in
                var lists: [[DeviceAddress]?] = []
                func ask() throws {
                    let count = lists.count
                    kernel.adapter.connections { lists.append($0) }
                    try kernel.run { lists.count > count }
                }
                kernel.returned[.getConnections] = [2, 0] + Self.peer + [1, 2, 3, 4, 5, 6, 0]
                try ask()
                kernel.returned[.getConnections] = [2, 0] + Self.peer
                try ask()
                kernel.refusals[.getConnections] = .notPowered
                try ask()
                kernel.unanswered = [.getConnections]
                let start = MonotonicClock.now
                try ask()
                #expect(lists == [[Self.device], nil, nil, nil])
                #expect(MonotonicClock.now - start >= .seconds(12) && MonotonicClock.now - start < .seconds(13))
                #expect(kernel.log == Array(repeating: "0015 ", count: 4))
            }
        }

        @Test("Removal, power off and hardware errors of this controller are losses; other events are not")
        func losses() throws {
            let cases: [(code: UInt8, parameters: [UInt8], loss: AdapterLoss)] = [
                (0x05, [], .removed("hci0")),
                (0x06, [0x00, 0x02, 0, 0], .switchedOff("hci0")),
                (0x03, [0x42], .failed("hci0", cause: "hci0 reported a hardware error, code 66")),
            ]
            for (code, parameters, loss) in cases {
                try withKernel { kernel in
                    var losses: [AdapterLoss] = []
                    var wakes = 0
                    kernel.adapter.onLoss = { losses.append($0) }
                    kernel.adapter.onWake = { wakes += 1 }
                    kernel.tell(code, parameters, index: 1)
                    kernel.tell(0x06, [0x01, 0x02, 0, 0])
                    kernel.tell(0x2E, [1] + Self.peer)
                    try connect(kernel)
                    #expect(losses.isEmpty && wakes == 1)
                    for _ in 1...2 { kernel.tell(code, parameters) }
                    try kernel.run { !losses.isEmpty }
                    try kernel.run(for: .milliseconds(10))
                    #expect(losses == [loss] && kernel.adapter.quality(of: Self.device) == nil)
                    // Nothing is requested of a lost adapter.
                    kernel.adapter.restart("cause")
                    var isOver = false
                    kernel.adapter.disconnect(Self.device) { isOver = true }
                    try kernel.run { isOver }
                    #expect(kernel.commands.isEmpty)
                }
            }
        }

        @Test("A broken management channel is a loss, and ends the commands that wait for an answer")
        func broken() throws {
            try withKernel { kernel in
                defer { CallScript.use(nil) }
                kernel.unanswered = [.getConnections]
                var told: [String] = []
                kernel.adapter.onLoss = { told.append("\($0)") }
                kernel.adapter.connections { told.append($0 == nil ? "unanswered" : "answered") }
                CallScript.use { $0.kind == .management && $0.call == .recvmsg ? .error(.ioError) : nil }
                kernel.tell(0x04, [])
                try kernel.run { told.count > 1 }
                let loss = AdapterLoss.failed("hci0", cause: "the kernel's management channel failed: \(Errno.ioError)")
                #expect(told == ["unanswered", "\(loss)"])
            }
        }

        @Test("A command that cannot be sent counts as unanswered at once", arguments: [Errno.wouldBlock, .ioError])
        func unsent(_ error: Errno) throws {
            try withKernel { kernel in
                defer { CallScript.use(nil) }
                CallScript.use { $0.kind == .management && $0.call == .write ? .error(error) : nil }
                var lists: [[DeviceAddress]?] = []
                let start = MonotonicClock.now
                kernel.adapter.connections { lists.append($0) }
                #expect(lists.isEmpty)
                try kernel.run { !lists.isEmpty }
                #expect(lists == [nil] && MonotonicClock.now - start < .seconds(1))
            }
        }

        @Test(
            "A restart switches the controller off, and reports its cause, whichever comes first",
            arguments: [true, false]
        )
        func restart(isEventFirst: Bool) throws {
            try withKernel { kernel in
                var losses: [AdapterLoss] = []
                kernel.adapter.onLoss = { losses.append($0) }
                kernel.adapter.restart("cause")
                if isEventFirst { kernel.tell(0x06, [0x00, 0x02, 0, 0]) } else { kernel.refusals[.setPowered] = .busy }
                try kernel.run { !losses.isEmpty }
                try kernel.run(for: .milliseconds(10))
                #expect(losses == [.failed("hci0", cause: "cause")] && kernel.log == ["0005 00"])
            }
        }

        @Test("A controller is switched off and on without a loss, unless it has connections or refuses")
        func renewal() throws {
            let none: [UInt8] = [0, 0]
            let cases: [(connections: [UInt8]?, refusal: String?, isDone: Bool, log: [String], loss: AdapterLoss?)] = [
                (none, nil, true, ["0015 ", "0005 00", "0005 01"], nil),
                ([1, 0] + Self.peer, nil, false, ["0015 "], nil),
                (nil, nil, false, ["0015 "], nil),
                (none, "00", false, ["0015 ", "0005 00"], nil),
                (none, "01", true, ["0015 ", "0005 00", "0005 01"], .switchedOff("hci0")),
            ]
            for (connections, refusal, isDone, log, loss) in cases {
                try withKernel { kernel in
                    var losses: [AdapterLoss] = []
                    kernel.adapter.onLoss = { losses.append($0) }
                    if let connections { kernel.returned[.getConnections] = connections }
                    if refusal == "00" { kernel.refusals[.setPowered] = .busy }
                    var results: [Bool] = []
                    kernel.adapter.renew { results.append($0) }
                    try kernel.run {
                        if refusal == "01", kernel.log.last == "0005 00" { kernel.refusals[.setPowered] = .busy }
                        return !results.isEmpty
                    }
                    #expect(results == [isDone] && kernel.log == log && losses == [loss].compactMap(\.self))
                }
            }
        }

        @Test("Disconnecting and unpairing name the device, and complete with the kernel's answer")
        func device() throws {
            try withKernel { kernel in
                var told: [String] = []
                kernel.adapter.disconnect(Self.device) { told.append("disconnected") }
                #expect(told.isEmpty && kernel.commands.isEmpty)
                try kernel.run { told.count == 1 }
                kernel.adapter.unpair(Self.device) { told.append("\($0)") }
                try kernel.run { told.count == 2 }
                kernel.refusals[.unpairDevice] = .notConnected
                kernel.adapter.unpair(Self.device) { told.append("\($0)") }
                try kernel.run { told.count == 3 }
                #expect(told == ["disconnected", "true", "false"])
                #expect(kernel.log == ["0014 F5F4F3F2F1F002", "001B F5F4F3F2F1F00201", "001B F5F4F3F2F1F00201"])
            }
        }

        @Test("A discovery ends with the kernel's event, or after 2 s without one; a refusal counts as its end")
        func discovery() throws {
            try withKernel { kernel in
                var ends: [Bool] = []
                kernel.tell(0x13, [6, 1])
                try kernel.run { kernel.adapter.discoveryTypes.rawValue == 6 }
                kernel.adapter.endDiscovery { ends.append($0) }
                try kernel.run(for: .milliseconds(1900))
                #expect(ends.isEmpty)
                kernel.tell(0x13, [6, 0])
                try kernel.run { ends.count == 1 }
                try kernel.run(for: .seconds(3))
                let start = MonotonicClock.now
                kernel.adapter.endDiscovery { ends.append($0) }
                try kernel.run { ends.count == 2 }
                #expect(MonotonicClock.now - start >= .seconds(2))
                kernel.tell(0x13, [6, 0])
                kernel.refusals[.stopDiscovery] = .rejected
                kernel.adapter.endDiscovery { ends.append($0) }
                try kernel.run { ends.count == 3 }
                #expect(ends == [true, false, false] && kernel.log == ["0024 06", "0024 06", "0024 06"])
            }
        }

        @Test(
            "A pairing prepares the kernel, asks the user, and undoes all of it at its end",
            arguments: [true, false]
        )
        func pairing(forgetting: Bool) throws {
            try withKernel { kernel in
                let wish = PairingOptions(Self.device, .displayYesNo, required: .encrypted, limit: .seconds(30))
                let pairing = kernel.adapter.makePairing(wish)
                var news: [ManagedPairing.News] = []
                pairing.onNews = { news.append($0) }
                kernel.unanswered = [.pairDevice]
                pairing.begin()
                let preparation = [
                    "0030 0000", "002D 01", "0009 01", "0018 01", "0019 F5F4F3F2F1F00201",
                ]
                try kernel.run { kernel.commands.count == 5 }
                #expect(kernel.log == preparation)
                kernel.tell(0x0F, Self.peer + [0, 42, 0, 0, 0])
                kernel.tell(0x10, Self.peer)
                try kernel.run { news.count == 2 }
                pairing.answer(true)
                pairing.answer(passkey: 1)
                kernel.tell(0x0F, Self.peer + [0, 42, 0, 0, 0])
                try kernel.run { news.count == 3 }
                pairing.answer(false)
                #expect(news == [.ask(.compare(42)), .ask(.enter), .ask(.compare(42))])
                var isClosed = false
                pairing.close(forgetting: forgetting) { isClosed = true }
                try kernel.run { isClosed }
                var ends = [
                    "001C F5F4F3F2F1F002", "001E F5F4F3F2F1F00201000000", "001D F5F4F3F2F1F002",
                    "001A F5F4F3F2F1F002", "0009 00",
                ]
                if forgetting { ends.append("001B F5F4F3F2F1F00201") }
                #expect(Array(kernel.log.dropFirst(5)) == ends + ["0014 F5F4F3F2F1F002"])
                #expect(news.count == 3 && kernel.adapter.pairing == nil)
                // Questions about the device are rejected from now on.
                kernel.tell(0x10, Self.peer)
                try kernel.run { kernel.log.last == "001F F5F4F3F2F1F002" }
            }
        }

        @Test(
            "A pairing is cancelled at its limit, ended 15 s later if the kernel stays silent, and by its refusal at once"
        )
        func unanswered() throws {
            let wish = PairingOptions(Self.device, .displayYesNo, required: .encrypted, limit: .seconds(30))
            try withKernel { kernel in
                let pairing = kernel.adapter.makePairing(wish)
                var news: [ManagedPairing.News] = []
                pairing.onNews = { news.append($0) }
                kernel.unanswered = [.pairDevice]
                let start = MonotonicClock.now
                pairing.begin()
                try kernel.run { kernel.log.last == "001A F5F4F3F2F1F002" }
                #expect(MonotonicClock.now - start >= .seconds(30) && MonotonicClock.now - start < .seconds(31))
                try kernel.run { !news.isEmpty }
                #expect(MonotonicClock.now - start >= .seconds(45) && MonotonicClock.now - start < .seconds(46))
                #expect(news == [.ended(.failure(.cancelled))])
            }
            try withKernel { kernel in
                kernel.refusals[.setBondable] = .busy
                let pairing = kernel.adapter.makePairing(wish)
                var news: [ManagedPairing.News] = []
                pairing.onNews = { news.append($0) }
                pairing.begin()
                try kernel.run { !news.isEmpty }
                #expect(news == [.ended(.failure(.refused(.setBondable, .busy)))])
            }
        }
    }
#endif
