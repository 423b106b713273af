// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO
import TestSupport
import Testing

@testable import BluetoothAdapters

/// Radio arbiter with a simulated adapter and an event loop on the test's thread.
@Suite(.timeLimit(.minutes(10))) struct RadioArbiterTests {
    private final class Bench {
        let loop: EventLoop
        let adapter: FakeAdapter
        let core: AdapterCore
        var radio: RadioArbiter { core.radio }

        init(
            _ periods: ScanWatch.Periods = ScanWatch.Periods(),
            _ limits: RadioArbiter.Limits = RadioArbiter.Limits()
        ) throws {
            loop = try EventLoop()
            let adapter = FakeAdapter(loop)
            self.adapter = adapter
            core = AdapterCore(loop, watching: ScanWatch(periods), limits) { _, completion in
                completion(.success(adapter))
            }
            core.start()
        }
    }

    private static let data: [UInt8] = [0x02, 0x01, 0x06]
    private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)

    private static func search(_ address: UInt64) -> RadioScan {
        let filter = ScanFilter(identity: .init(BluetoothAddress(rawValue: address)))
        return RadioScan(.background, devices: DeviceTable(filter: filter, reportsDuplicates: true))
    }

    @Test("A scan in which nothing is heard is armed again by the arbiter, and keeps its devices")
    func quiet() throws {
        var periods = ScanWatch.Periods()
        periods.quiet = Backoff(.milliseconds(50)...Duration.milliseconds(50))
        let bench = try Bench(periods)
        let scan = RadioScan(.discovery, devices: DeviceTable())
        bench.radio.start(scan)
        let scanner = try #require(bench.adapter.scanners.first)
        scanner.hear(0xF0F1_F2F3_F4F5, Self.data)
        #expect(try bench.loop.run { scanner.starts >= 3 })
        #expect(scan.devices.count == 1)
        #expect(bench.adapter.scanners.count == 1)
        #expect(bench.radio.counts.armed >= 2 && bench.radio.counts.quiet == bench.radio.counts.armed)
    }

    @Test("A scan that another program has switched is armed again, and one that ran through the machine's sleep")
    func disturbed() throws {
        var periods = ScanWatch.Periods()
        periods.disturbed = Backoff(.milliseconds(20)...Duration.milliseconds(20))
        let bench = try Bench(periods)
        bench.radio.start(RadioScan(.discovery, devices: DeviceTable()))
        let scanner = try #require(bench.adapter.scanners.first)
        scanner.onDisturbed?()
        #expect(try bench.loop.run { scanner.starts == 2 })
        bench.adapter.onWake?()
        #expect(try bench.loop.run { scanner.starts == 3 })
        #expect(bench.radio.counts.disturbed == 1 && bench.radio.counts.resumed == 1)
        #expect(bench.radio.counts.armed == 2 && bench.radio.counts.quiet == 0)
    }

    @Test("The sockets of a scanner are released when its adapter is lost, while scanning and while stopping")
    func released() throws {
        for isStopped in [false, true] {
            let bench = try Bench()
            let scan = RadioScan(.discovery, devices: DeviceTable())
            bench.radio.start(scan)
            bench.adapter.scanners.first?.tellsEnd = false
            if isStopped { bench.radio.stop(scan) }
            weak let scanner = bench.adapter.scanners.first
            bench.adapter.scanners = []
            #expect(scanner != nil)
            bench.radio.lose(.removed("fake"))
            #expect(scanner == nil)
        }
    }

    @Test("An adapter that hears nothing for long is restarted where that is wanted and no device is connected")
    func restart() throws {
        var periods = ScanWatch.Periods()
        periods.quiet = Backoff(.milliseconds(20)...Duration.milliseconds(20))
        periods.stuck = Backoff(.milliseconds(100)...Duration.milliseconds(100))
        for (isWanted, isConnected) in [(false, false), (true, true), (true, false)] {
            let bench = try Bench(periods)
            bench.radio.restartsAdapter = isWanted
            bench.adapter.isConnected = isConnected
            bench.radio.start(Self.search(1))
            let scanner = try #require(bench.adapter.scanners.first)
            #expect(try bench.loop.run { scanner.starts > 12 || !bench.adapter.restarts.isEmpty })
            #expect(bench.adapter.restarts.isEmpty != (isWanted && !isConnected))
            #expect(bench.radio.counts.restarts == UInt64(bench.adapter.restarts.count))
        }
    }

    @Test("An adapter whose controller refuses three scans in a row is restarted, and opened again")
    func refusals() throws {
        let bench = try Bench()
        bench.radio.restartsAdapter = true
        for number in 1...3 {
            #expect(bench.adapter.restarts.isEmpty)
            bench.radio.start(Self.search(1))
            let scanner = try #require(bench.adapter.scanners.last)
            #expect(bench.adapter.scanners.count == number)
            scanner.onFailure?(.controller(.noAnswer(.leSetScanEnable)))
        }
        #expect(bench.adapter.restarts.count == 1)
        #expect(bench.radio.counts.failedScans == 3 && bench.radio.counts.restarts == 1 && bench.radio.counts.lost == 1)
        #expect(try bench.loop.run { bench.core.adapter != nil })
        #expect(bench.radio.counts.opened == 2)
    }

    @Test("Of two scans an active one has the radio, and the other overhears it, with its own filter and table")
    func overhearing() throws {
        let bench = try Bench()
        let search = Self.search(0xF0F1_F2F3_F4F5)
        var found: [DeviceAddress] = []
        search.onUpdate = { update in found.append(update.device.address) }
        bench.radio.start(search)
        let look = RadioScan(.discovery, devices: DeviceTable())
        var isLooking = false
        look.onStarted = { isLooking = true }
        bench.radio.start(look)
        let scanner = try #require(bench.adapter.scanners.first)
        #expect(scanner.starts == 2)
        // A crowd of stronger devices fills the table of the timed scan.
        for number in 1...300 { scanner.hear(0xC000_0000_0000 + UInt64(number), Self.data) }
        #expect(look.devices.count == DeviceTable.capacity && found.isEmpty)
        scanner.hear(0xF0F1_F2F3_F4F5, Self.data)
        scanner.hear(0xF0F1_F2F3_F4F5, Self.data)
        #expect(found.count == 2 && search.devices.count == 1)
        // A restarted passive search shares the running scan, and is told that the controller scans.
        scanner.onStarted?()
        #expect(isLooking)
        bench.radio.stop(search)
        var isSearching = false
        search.onStarted = { isSearching = true }
        bench.radio.start(search)
        #expect(try bench.loop.run { isSearching })
        #expect(scanner.starts == 2)
    }

    @Test("A scanner that never tells its end keeps no connection waiting, and its adapter is restarted")
    func scannerWithoutEnd() throws {
        let bench = try Bench(ScanWatch.Periods(), RadioArbiter.Limits(stop: .milliseconds(20)))
        bench.radio.start(RadioScan(.discovery, devices: DeviceTable()))
        let scanner = try #require(bench.adapter.scanners.first)
        scanner.tellsEnd = false
        var isConnected = false
        let attempt = bench.radio.connect(to: Self.device, .once(.seconds(60))) { result in
            isConnected = (try? result.get()) != nil
        }
        #expect(try bench.loop.run { isConnected })
        #expect(attempt.connection == nil && bench.radio.counts.overdue == 1 && bench.adapter.restarts.isEmpty)
        // The second scanner does not report its end either; its late end has no effect.
        bench.radio.restartsAdapter = true
        #expect(bench.adapter.scanners.count == 2)
        bench.adapter.scanners[1].tellsEnd = false
        _ = bench.radio.connect(to: Self.device, .once(.seconds(60))) { _ in }
        #expect(try bench.loop.run { bench.adapter.restarts.count == 1 })
        #expect(bench.radio.counts.overdue == 2 && bench.radio.counts.restarts == 1)
    }

    @Test("A connection of whose end the adapter never tells is given up, cancelled, and fails as timed out")
    func connectionWithoutEnd() throws {
        let bench = try Bench(ScanWatch.Periods(), RadioArbiter.Limits(connection: .milliseconds(20)))
        bench.adapter.attempts = [nil, nil]
        var failure: LinkFailure?
        _ = bench.radio.connect(to: Self.device, .once(.milliseconds(30))) { result in
            if case .failure(let reason) = result { failure = reason }
        }
        #expect(try bench.loop.run { failure != nil })
        #expect(failure == .timedOut(.milliseconds(30)))
        #expect(bench.adapter.cancelled == 1 && bench.radio.counts.overdue == 1)
        #expect(bench.radio.counts.failedAttempts == 1)
        // An attempt that is cancelled in time is not overdue.
        let attempt = bench.radio.connect(to: Self.device, .once(.milliseconds(30))) { _ in }
        var isCancelled = false
        bench.radio.cancel(attempt) { isCancelled = true }
        #expect(try bench.loop.run { isCancelled })
        // A successful attempt is not overdue either.
        var isConnected = false
        _ = bench.radio.connect(to: Self.device, .once(.milliseconds(30))) { result in
            isConnected = (try? result.get()) != nil
        }
        #expect(try bench.loop.run { isConnected })
        var isLate = false
        _ = bench.loop.schedule(at: MonotonicClock.now + .milliseconds(100)) { isLate = true }
        #expect(try bench.loop.run { isLate })
        #expect(bench.radio.counts.overdue == 1)
    }

    // MARK: Pairing

    private static func pairing(_ limit: Duration = .seconds(60)) -> RadioPairing {
        RadioPairing(PairingOptions(device, .noInputNoOutput, required: .encrypted, limit: limit))
    }

    @Test("BT-4: no scan or connection attempt runs during a pairing; they resume after it")
    func pairingAlone() throws {
        let bench = try Bench()
        let scan = RadioScan(.discovery, devices: DeviceTable())
        bench.radio.start(scan)
        let scanner = try #require(bench.adapter.scanners.first)
        scanner.tellsEnd = false
        let pairing = Self.pairing()
        bench.radio.start(pairing)
        // The pairing starts when the controller has stopped scanning.
        #expect(!scanner.isScanning && bench.adapter.pairings.isEmpty)
        scanner.tellEnd()
        let running = try #require(bench.adapter.pairings.first)
        #expect(running.isBegun)
        var isConnected = false
        _ = bench.radio.connect(to: Self.device, .once(.seconds(60))) { result in
            isConnected = (try? result.get()) != nil
        }
        bench.radio.start(Self.search(1))
        #expect(bench.adapter.begun == 0 && bench.adapter.scanners.count == 1)
        pairing.answer(true)
        #expect(running.answers == [true])
        var isFree = false
        bench.radio.end(pairing, forgetting: true) { isFree = true }
        #expect(running.closings == [true])
        // Other operations wait until the pairing's link has ended.
        #expect(bench.adapter.begun == 0 && bench.adapter.scanners.count == 1)
        running.onClosed?()
        #expect(bench.adapter.begun == 1)
        #expect(try bench.loop.run { isFree && isConnected && bench.adapter.scanners.last?.isScanning == true })
        #expect(bench.radio.counts.overdue == 0)
    }

    @Test(
        "A pairing waits for the connection that is being made, and comes before the next; one ended first never begins"
    )
    func pairingNext() throws {
        let bench = try Bench()
        bench.adapter.attempts = [nil]
        let attempt = bench.radio.connect(to: Self.device, .once(.seconds(60))) { _ in }
        _ = bench.radio.connect(to: Self.device, .once(.seconds(60))) { _ in }
        let (first, second) = (Self.pairing(), Self.pairing())
        bench.radio.start(first)
        bench.radio.start(second)
        #expect(bench.adapter.pairings.isEmpty && bench.adapter.begun == 1)
        bench.radio.cancel(attempt)
        #expect(bench.adapter.pairings.count == 1 && bench.adapter.begun == 1)
        var ended = 0
        bench.radio.end(second, forgetting: true) { ended += 1 }
        #expect(try bench.loop.run { ended == 1 })
        #expect(bench.adapter.pairings.count == 1 && bench.adapter.begun == 1)
        bench.radio.end(first, forgetting: false) { ended += 1 }
        #expect(bench.adapter.pairings.first?.closings == [false])
        bench.adapter.pairings.first?.onClosed?()
        #expect(try bench.loop.run { ended == 2 && bench.adapter.begun == 2 })
    }

    @Test("A pairing whose adapter is lost ends without a key, and the radio goes on with the next adapter")
    func pairingLost() throws {
        for isClosing in [false, true] {
            let bench = try Bench()
            let pairing = Self.pairing()
            var losses: [AdapterLoss] = []
            pairing.onLoss = { losses.append($0) }
            bench.radio.start(pairing)
            let running = try #require(bench.adapter.pairings.first)
            var ended = 0
            if isClosing { bench.radio.end(pairing, forgetting: false) { ended += 1 } }
            bench.radio.lose(.removed("fake"))
            #expect(losses == (isClosing ? [] : [.removed("fake")]))
            #expect(running.closings == [!isClosing])
            if !isClosing { bench.radio.end(pairing, forgetting: true) { ended += 1 } }
            // The adapter reports the end too late for it to count.
            running.onClosed?()
            #expect(try bench.loop.run { ended == 1 })
            bench.radio.use(bench.adapter)
            bench.radio.start(Self.search(1))
            #expect(bench.adapter.scanners.last?.isScanning == true)
            #expect(ended == 1 && bench.radio.counts.overdue == 0)
        }
    }

    @Test("A pairing of whose result or end the adapter never tells is given up, and its adapter is restarted")
    func pairingWithoutEnd() throws {
        let limits = RadioArbiter.Limits(stop: .milliseconds(20), pairing: .milliseconds(20))
        let bench = try Bench(ScanWatch.Periods(), limits)
        bench.radio.restartsAdapter = true
        let pairing = Self.pairing(.milliseconds(20))
        var ends = 0
        var news: [ManagedPairing.News] = []
        pairing.onNews = { told in
            news.append(told)
            bench.radio.end(pairing, forgetting: true) { ends += 1 }
        }
        bench.radio.start(pairing)
        #expect(try bench.loop.run { ends == 1 })
        #expect(news == [.ended(.failure(.cancelled))])
        #expect(bench.radio.counts.overdue == 1 && bench.adapter.restarts.count == 1)
        // A pairing that reports a result, but not its end.
        let bench2 = try Bench(ScanWatch.Periods(), limits)
        let other = Self.pairing()
        bench2.radio.start(other)
        bench2.radio.end(other, forgetting: false) { ends += 1 }
        #expect(try bench2.loop.run { ends == 2 })
        #expect(bench2.radio.counts.overdue == 1)
    }
}
