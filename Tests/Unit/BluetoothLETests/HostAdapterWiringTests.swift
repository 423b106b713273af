// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothHost
    import BluetoothPackets
    import ClockSupport
    import LinuxIO
    import SystemPackage
    import TestSupport
    import Testing
    import VirtualAdapters
    import VirtualRadio

    @testable import BluetoothAdapters

    /// Requests to our own host and its reports, over a simulated radio in virtual time.
    @Suite("Requests to our own host", .timeLimit(.minutes(5)))
    struct HostAdapterWiringTests {
        /// Two adapters in range of each other.
        private final class Bench {
            let loop: EventLoop
            let adapter: HostAdapter
            let other: HostAdapter
            private let radio: MemoryRadio
            /// HCI commands of the first adapter, hexadecimal.
            var commands: [String] = []
            var told: [String] = []

            init() throws {
                let loop = try EventLoop()
                let radio = MemoryRadio(on: loop)
                (self.loop, self.radio) = (loop, radio)
                let addresses = [0xC0FF_EE00_0001, 0xC0FF_EE00_0002] as [UInt64]
                let adapters = addresses.map { address in
                    let transport = radio.addController(BluetoothAddress(rawValue: address))
                    return HostAdapter(name: "test", transport: transport, on: loop)
                }
                (adapter, other) = (adapters[0], adapters[1])
                var ready = 0
                for adapter in adapters { adapter.start { if case .success = $0 { ready += 1 } } }
                try run { ready == 2 }
                adapter.onPacket = { [unowned self] isSent, packet in
                    if isSent, packet.count > 3, packet[0] == 1 {
                        commands.append(Hexadecimal.text([UInt8](copying: packet.extracting(droppingFirst: 1))))
                    }
                }
                adapter.onLoss = { [unowned self] in told.append("lost: \($0.cause)") }
            }

            func run(until isDone: () -> Bool) throws {
                let isOver = try loop.run(turn: .milliseconds(5), until: isDone)
                try #require(isOver, "\(told) \(commands)")
            }

            func run(for time: Duration) throws {
                let end = MonotonicClock.now + time
                try run { MonotonicClock.now >= end }
            }

            func advertise(_ advertisement: Advertisement, on adapter: HostAdapter) {
                adapter.advertise(
                    advertisement,
                    onConnection: { [unowned self] channel in
                        told.append("central")
                        channel.onReceive = { [unowned self] in told.append("received \($0.count)") }
                        channels.append(channel)
                    }
                ) { [unowned self] result in
                    switch result {
                    case .success: told.append("advertising")
                    case .failure(let error): told.append(error.cause)
                    }
                }
            }
            private(set) var channels: [any ATTChannel] = []

            func close() {
                adapter.close()
                other.close()
            }
        }

        private func with(_ body: (Bench) throws -> Void) throws {
            try SystemTime.$ofTask.withValue(VirtualClock()) {
                let bench = try Bench()
                try body(bench)
                bench.close()
            }
        }

        private func connected(_ bench: Bench) throws -> any ATTChannel {
            bench.advertise(Advertisement(data: [], interval: .milliseconds(20)), on: bench.other)
            var made: (any ATTChannel)?
            let device = DeviceAddress(bench.other.address, .public)
            let attempt = try bench.adapter.connect(to: device, timeout: .seconds(10)) { made = try? $0.get() }
            try bench.run { made != nil && bench.channels.count == 1 }
            withExtendedLifetime(attempt) {}
            return try #require(made)
        }

        @Test("The controller gets the kind of each advertisement; one that replaces or stops another is its failure")
        func advertising() throws {
            try with { bench in
                let kinds: [(Advertisement, UInt8)] = [
                    (Advertisement(data: [2, 1, 6]), 0x13), (Advertisement(data: [], isConnectable: false), 0x10),
                    (Advertisement(data: [], scanResponse: [2, 10, 4], isConnectable: false), 0x12),
                ]
                for (advertisement, kind) in kinds {
                    bench.told = []
                    bench.commands = []
                    bench.advertise(advertisement, on: bench.adapter)
                    try bench.run { bench.told == ["advertising"] }
                    // LE Set Extended Advertising Parameters: the legacy kind as properties, and 100 ms twice.
                    let parameters = bench.commands.first { $0.hasPrefix("3620") } ?? ""
                    let expected = "36201900" + Hexadecimal.text([kind]) + "00A00000A00000"
                    #expect(parameters.hasPrefix(expected))
                }
                bench.told = []
                bench.advertise(kinds[0].0, on: bench.adapter)
                bench.advertise(kinds[1].0, on: bench.adapter)
                try bench.run { bench.told.count == 2 }
                #expect(bench.told == ["another advertisement took this one's place", "advertising"])
                bench.told = []
                bench.advertise(kinds[0].0, on: bench.adapter)
                bench.adapter.stopAdvertising { bench.told.append("stopped") }
                try bench.run { bench.told.count == 2 }
                #expect(bench.told == ["advertising was stopped before it began", "stopped"])
                bench.told = []
                let long = [UInt8](repeating: 0, count: 32)
                bench.advertise(Advertisement(data: long, scanResponse: [1]), on: bench.adapter)
                #expect(bench.told.isEmpty)
                try bench.run { !bench.told.isEmpty }
                #expect(
                    bench.told == ["advertising data of 32 bytes and a scan response of 1 do not fit: each may have 31"]
                )
            }
        }

        @Test(
            "A channel is writable again when the controller has sent; its device is in the list until it is disconnected"
        )
        func traffic() throws {
            try with { bench in
                let channel = try connected(bench)
                var devices: [[DeviceAddress]?] = []
                bench.adapter.connections { devices.append($0) }
                #expect(devices == [[channel.device]] && bench.adapter.isConnected)
                var writable = 0
                channel.onWritable = { writable += 1 }
                bench.told = []
                var sent = 0
                while try channel.send([0x52, 3, 0, UInt8(truncatingIfNeeded: sent)]) { sent += 1 }
                #expect(sent > 0 && writable == 0)
                try bench.run { writable > 0 && bench.told.count == sent }
                #expect(bench.adapter.quality(of: channel.device)?.timing == channel.timing)
                try bench.run { bench.adapter.quality(of: channel.device)?.rssi != nil }
                var order: [String] = []
                channel.onClosed = { order.append("closed: \($0)") }
                bench.adapter.disconnect(channel.device) { order.append("disconnected") }
                #expect(order.isEmpty)
                try bench.run { order.count == 2 }
                #expect(order == ["closed: \(LinkFailure.system(.connectionAbort))", "disconnected"])
                #expect(bench.adapter.quality(of: channel.device) == nil && !bench.adapter.isConnected)
                bench.adapter.disconnect(channel.device) { order.append("disconnected") }
                try bench.run { order.count == 3 }
                #expect(throws: LinkFailure.system(.socketNotConnected)) { try channel.send([1]) }
            }
        }

        @Test("An attempt is made once for each device, ends with its limit, and is silent after it was cancelled")
        func attempts() throws {
            try with { bench in
                let device = DeviceAddress(BluetoothAddress(rawValue: 1), .public)
                var failures: [LinkFailure] = []
                func connect(_ limit: Duration) throws -> any ConnectionAttempt {
                    try bench.adapter.connect(to: device, timeout: limit) { result in
                        if case .failure(let failure) = result { failures.append(failure) }
                    }
                }
                let first = try connect(.seconds(3))
                #expect(throws: LinkFailure.system(.alreadyInProcess)) { _ = try connect(.seconds(3)) }
                let start = MonotonicClock.now
                try bench.run { !failures.isEmpty }
                #expect(failures == [.timedOut(.seconds(3))] && MonotonicClock.now - start < .seconds(4))
                let second = try connect(.seconds(3))
                second.cancel()
                try bench.run(for: .seconds(5))
                let third = try connect(.seconds(1))
                try bench.run { failures.count == 2 }
                withExtendedLifetime((first, second, third)) {}
            }
        }

        @Test(
            "A loss is told to the attempt, the channel, the disconnection, the advertisement and the scan, then once to all"
        )
        func loss() throws {
            try with { bench in
                let channel = try connected(bench)
                let scanner = try bench.adapter.makeScanner()
                scanner.onFailure = { bench.told.append("scan: \($0)") }
                scanner.start(.discovery, devices: DeviceTable())
                try bench.run(for: .seconds(1))
                bench.told = []
                channel.onClosed = { bench.told.append("link: \($0)") }
                let absent = DeviceAddress(BluetoothAddress(rawValue: 1), .public)
                let attempt = try bench.adapter.connect(to: absent, timeout: .seconds(60)) { result in
                    if case .failure(let failure) = result { bench.told.append("attempt: \(failure)") }
                }
                bench.adapter.disconnect(channel.device) { bench.told.append("disconnected") }
                bench.advertise(Advertisement(data: []), on: bench.adapter)
                for _ in 1...2 { bench.adapter.restart("cause") }
                #expect(
                    bench.told == [
                        "attempt: cause", "link: cause", "disconnected", "cause", "lost: cause",
                        "scan: \(ScanError.adapterGone)",
                    ]
                )
                #expect(throws: LinkFailure.system(.operationNotSupportedByDevice)) {
                    _ = try bench.adapter.connect(to: absent, timeout: .seconds(1)) { _ in }
                }
                #expect(throws: ScanError.adapterGone) { _ = try bench.adapter.makeScanner() }
                withExtendedLifetime(attempt) {}
            }
        }

        @Test("A released adapter is reset, and is closed with the controller's answer")
        func release() throws {
            try with { bench in
                bench.commands = []
                bench.adapter.release { bench.told.append("released") }
                #expect(bench.told.isEmpty && bench.commands == ["030C00"])
                let start = MonotonicClock.now
                try bench.run { bench.told == ["released"] }
                #expect(MonotonicClock.now - start < .seconds(1))
                bench.adapter.release { bench.told.append("again") }
                #expect(bench.told == ["released", "again"])
            }
        }

        @Test(
            "A pairing that is cancelled, or whose device is out of reach, ends once with its reason, and restores the policy"
        )
        func pairing() throws {
            try with { bench in
                let device = DeviceAddress(BluetoothAddress(rawValue: 1), .public)
                let usual = bench.adapter.host.pairingPolicy
                var news: [ManagedPairing.News] = []
                func pairing(_ device: DeviceAddress, _ limit: Duration) -> any DevicePairing {
                    news = []
                    let wish = PairingOptions(device, .displayYesNo, required: .authenticated, limit: limit)
                    let pairing = bench.adapter.makePairing(wish)
                    pairing.onNews = { news.append($0) }
                    #expect(bench.adapter.host.pairingPolicy.requiresAuthentication)
                    return pairing
                }
                func end(_ pairing: any DevicePairing) throws {
                    var isClosed = false
                    pairing.close(forgetting: false) { isClosed = true }
                    try bench.run { isClosed }
                    #expect(bench.adapter.host.pairingPolicy == usual && bench.adapter.pairing == nil)
                }
                let cancelled = pairing(device, .seconds(60))
                cancelled.begin()
                try bench.run(for: .seconds(1))
                cancelled.cancel()
                cancelled.cancel()
                #expect(news.isEmpty)
                try bench.run(for: .seconds(1))
                #expect(news == [.ended(.failure(.cancelled))])
                try end(cancelled)
                let late = pairing(device, .seconds(2))
                let start = MonotonicClock.now
                late.begin()
                try bench.run { !news.isEmpty }
                #expect(news.count == 1 && MonotonicClock.now - start < .seconds(3))
                try end(late)
                bench.adapter.restart("cause")
                let lost = pairing(device, .seconds(2))
                lost.begin()
                #expect(news == [.ended(.failure(.notReached(.connectFailed)))])
            }
        }
    }
#endif
