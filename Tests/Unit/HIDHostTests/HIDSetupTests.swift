// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import HIDHost
import HIDReports
import TestSupport
import Testing

@Suite("Setup of keyboards")
struct HIDSetupTests {
    private typealias Bench = HIDSetupBench

    private static let comparison = Bench.hashRequests + Bench.mapRequests

    private static func refusal(_ request: ATTPDU, _ error: UInt8) -> [UInt8] {
        [0x01, request.opcode.rawValue, 0, 0, error]
    }

    private static func isWrite(_ request: [UInt8]) -> Bool { [0x12, 0x52].contains(request[0]) }

    /// Checks that the device was discovered again after these requests, and only then subscribed to.
    private static func expectDiscovery(
        _ bench: HIDSetupBench,
        after requests: [[UInt8]],
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(Array(bench.sent.prefix(requests.count + 1)) == requests + [Bench.services], sourceLocation: location)
        #expect(bench.sent.filter(isWrite) == Bench.writes, sourceLocation: location)
        #expect(Array(bench.sent.suffix(2)) == Bench.writes, sourceLocation: location)
        #expect(bench.sent.count { $0 == Bench.services } == 1, sourceLocation: location)
        #expect(bench.setup.device == bench.device, sourceLocation: location)
        #expect(bench.devicesAtWrites == [bench.device, bench.device], sourceLocation: location)
    }

    // MARK: New keyboards

    @Test("A new keyboard is discovered, described, and then subscribed to")
    func newKeyboard() throws {
        var bench = try Bench()
        #expect(bench.setup.device == nil)
        #expect(bench.begin() == .finished)
        #expect(bench.setup.device == bench.device && bench.device.databaseHash == Bench.hash)
        #expect(bench.sent.prefix { !Self.isWrite($0) }.count == bench.sent.count - 2)
        #expect(Array(bench.sent.suffix(2)) == Bench.writes)
        // The services are known; the description precedes the subscriptions, because reports follow those at once.
        #expect(!bench.sent.contains(Bench.services))
        #expect(bench.devicesAtWrites == [bench.device, bench.device])
    }

    @Test("A new device without a keyboard is unusable, and is not subscribed to")
    func newMouse() throws {
        var bench = try Bench(map: HIDMaps.mouse)
        #expect(bench.begin() == .unusable(.noKeyboard([.mouse])))
        #expect(bench.setup.device == nil && !bench.sent.contains(where: Self.isWrite))
    }

    @Test("A new keyboard that refuses all subscriptions fails", arguments: [0x05, 0x80] as [UInt8])
    func newKeyboardRefuses(code: UInt8) throws {
        var bench = try Bench()
        bench.change = { $0.opcode == .writeRequest ? Self.refusal($0, code) : $1 }
        let error = ATTError(rawValue: code)
        #expect(bench.begin() == .failed(.errorResponse(request: .writeRequest, handle: .invalid, error: error)))
    }

    // MARK: Kept keyboards

    @Test("A kept keyboard is compared by its hash and its maps, and then subscribed to", arguments: [true, false])
    func unchanged(hasHash: Bool) throws {
        var bench = try Bench(hasHash: hasHash) { _ in }
        #expect(bench.setup.device == bench.device)
        #expect(bench.begin() == .finished)
        #expect(bench.sent == (hasHash ? Self.comparison : Bench.mapRequests) + Bench.writes)
        #expect(bench.setup.device == bench.device)
        #expect(bench.devicesAtWrites == [bench.device, bench.device])
    }

    @Test(
        "Another hash leads to a discovery, and no stale handle is written",
        arguments: [[], [7], Bench.hash.reversed()] as [[UInt8]]
    )
    func otherHash(hash: [UInt8]) throws {
        var bench = try Bench { kept in
            kept.databaseHash = hash
            kept.services[0].reports[0].configuration = AttributeHandle(0x0013)
            kept.serviceChanged?.configuration = AttributeHandle(0x0003)
        }
        #expect(bench.begin() == .finished)
        Self.expectDiscovery(bench, after: Bench.hashRequests)
    }

    @Test("Another map behind the same hash leads to a discovery", arguments: [0, 1], [true, false])
    func otherMap(service: Int, hasHash: Bool) throws {
        var bench = try Bench(hasHash: hasHash) { kept in
            kept.services[service].map = HIDMaps.bitmap
            kept.services[0].reports[0].configuration = AttributeHandle(0x0013)
        }
        #expect(bench.begin() == .finished)
        let maps = service == 0 ? Array(Bench.mapRequests.prefix(5)) : Bench.mapRequests
        Self.expectDiscovery(bench, after: (hasHash ? Bench.hashRequests : []) + maps)
    }

    @Test(
        "An error of any request of the comparison leads to a discovery",
        arguments: [0x01, 0x05, 0x0A, 0x0E, 0x12] as [UInt8],
        0..<11
    )
    func refusedComparison(code: UInt8, step: Int) throws {
        // Attribute Not Found ends a search for further attributes.
        if code == 0x0A, [1, 3, 8].contains(step) { return }
        var bench = try Bench { $0.services[0].reports[0].configuration = AttributeHandle(0x0013) }
        var count = 0
        bench.change = { request, response in
            defer { count += 1 }
            return count == step ? Self.refusal(request, code) : response
        }
        #expect(bench.begin() == .finished)
        Self.expectDiscovery(bench, after: Array(Self.comparison.prefix(step + 1)))
    }

    @Test("A failed discovery of the services ends the setup without a write")
    func refusedServices() throws {
        var bench = try Bench { $0.databaseHash = nil }
        bench.change = { request, _ in Self.refusal(request, 0x0E) }
        let error = GATTError.errorResponse(request: .readByGroupTypeRequest, handle: .invalid, error: .unlikelyError)
        #expect(bench.begin() == .failed(error))
        #expect(bench.sent == [Bench.mapRequests[0], Bench.services])
    }

    @Test("A kept keyboard may refuse all subscriptions, because it should still have them")
    func keptSubscriptions() throws {
        for hash in [Bench.hash, nil] {
            var bench = try Bench(hasHash: hash != nil) { _ in }
            bench.change = { $0.opcode == .writeRequest ? Self.refusal($0, 0x03) : $1 }
            #expect(bench.begin() == .finished)
            #expect(Array(bench.sent.suffix(2)) == Bench.writes)
            // The handles may have moved behind an equal map, so the services are discovered again, but only once.
            #expect(bench.sent.count { $0 == Bench.services } == 1)
        }
        // The services are discovered again, and are the same.
        var same = try Bench { _ in }
        same.change = { request, response in
            switch request {
            case .readByTypeRequest(_, let type) where type == 0x2A4B: Self.refusal(request, 0x12)
            case .writeRequest: Self.refusal(request, 0x03)
            default: response
            }
        }
        #expect(same.begin() == .finished)
        // A changed keyboard may have lost its subscriptions.
        var changed = try Bench { $0.databaseHash = [] }
        changed.change = { $0.opcode == .writeRequest ? Self.refusal($0, 0x03) : $1 }
        let error = ATTError(rawValue: 0x03)
        #expect(changed.begin() == .failed(.errorResponse(request: .writeRequest, handle: .invalid, error: error)))
    }

    @Test("A mouse that has replaced a kept keyboard is unusable", arguments: [true, false])
    func nowMouse(hasHash: Bool) throws {
        var bench = try Bench(hasHash: hasHash) { _ in }
        let mouse = try Bench(hasHash: hasHash, map: HIDMaps.mouse)
        bench.peer = mouse.peer
        #expect(bench.begin() == .unusable(.noKeyboard([.mouse])))
        #expect(!bench.sent.contains(where: Self.isWrite))
        #expect(bench.sent.contains(Bench.services))
    }

    // MARK: Failures of the bearer

    @Test("Silence at any step ends the setup with the bearer's failure", arguments: ["new", "kept", "changed"])
    func silence(kind: String) throws {
        func make() throws -> HIDSetupBench {
            switch kind {
            case "new": try Bench()
            case "kept": try Bench { _ in }
            default: try Bench { $0.databaseHash = [] }
            }
        }
        var whole = try make()
        #expect(whole.begin() == .finished)
        #expect(whole.sent.count >= 10)
        for step in whole.sent.indices {
            var bench = try make()
            var count = 0
            bench.change = { _, response in
                defer { count += 1 }
                return count == step ? nil : response
            }
            let opcode = ATTOpcode(rawValue: whole.sent[step][0])
            #expect(bench.begin() == .failed(.bearer(.transactionTimeout(opcode))))
            #expect(bench.sent == Array(whole.sent.prefix(step + 1)))
        }
    }

    @Test("A setup over a closed client fails at once")
    func closed() throws {
        for isKept in [true, false] {
            var bench = try isKept ? Bench { _ in } : Bench()
            bench.peer.client.close()
            guard case .failed(.bearer) = bench.begin() else {
                Issue.record("begun")
                continue
            }
            #expect(bench.sent.isEmpty)
        }
        var done = try Bench { _ in }
        #expect(done.begin() == .finished)
        done.peer.client.close()
        guard case .failed(.bearer) = done.discoverAgain() else {
            Issue.record("begun")
            return
        }
    }

    // MARK: Changed services

    @Test("After the setup, a keyboard that reports changed services is discovered again", arguments: [true, false])
    func changedLater(isKept: Bool) throws {
        var bench = try isKept ? Bench { _ in } : Bench()
        #expect(bench.begin() == .finished)
        for _ in 0..<2 {
            #expect(bench.discoverAgain() == .finished)
            Self.expectDiscovery(bench, after: [])
        }
        // The same keyboard should still have its subscriptions.
        bench.change = { $0.opcode == .writeRequest ? Self.refusal($0, 0x03) : $1 }
        #expect(bench.discoverAgain() == .finished)
        bench.change = { $1 }
        let mouse = try Bench(map: HIDMaps.mouse)
        bench.peer = mouse.peer
        #expect(bench.discoverAgain() == .unusable(.noKeyboard([.mouse])))
    }

    @Test("Services that change while the subscriptions are written are discovered once more after them")
    func changedDuringSubscriptions() throws {
        // The procedures are: hash, handle and map of each service, and two writes.
        for change in [5, 6] {
            var bench = try Bench { _ in }
            bench.changedAt = change
            #expect(bench.begin() == .finished)
            #expect(Array(bench.sent.prefix(14)) == Self.comparison + Bench.writes + [Bench.services])
            #expect(bench.sent.filter(Self.isWrite) == Bench.writes + Bench.writes)
            #expect(bench.sent.count { $0 == Bench.services } == 1)
        }
    }

    @Test("Services that change before the subscriptions are discovered once more before these are written")
    func changedBeforeSubscriptions() throws {
        for change in 0..<5 {
            var bench = try Bench { $0.services[0].reports[0].configuration = AttributeHandle(0x0013) }
            bench.changedAt = change
            #expect(bench.begin() == .finished)
            Self.expectDiscovery(bench, after: Self.comparison)
        }
        var new = try Bench()
        new.changedAt = 0
        #expect(new.begin() == .finished)
        #expect(new.sent.count { $0 == Bench.services } == 1)
        #expect(new.sent.filter(Self.isWrite) == Bench.writes && Array(new.sent.suffix(2)) == Bench.writes)
        // During a discovery that a comparison has caused.
        var changed = try Bench { $0.databaseHash = [] }
        changed.changedAt = 3
        #expect(changed.begin() == .finished)
        #expect(changed.sent.count { $0 == Bench.services } == 2)
        #expect(changed.sent.filter(Self.isWrite) == Bench.writes && changed.setup.device == changed.device)
    }

    @Test("Events of other procedures are ignored, during the setup and after it", arguments: [true, false])
    func otherProcedures(isKept: Bool) throws {
        var bench = try isKept ? Bench { _ in } : Bench()
        let others = (0..<2).map { _ in try? bench.peer.client.read(AttributeHandle(0xFFFF), now: .zero) }
        #expect(others.allSatisfy { $0 != nil })
        #expect(bench.begin() == .finished)
        #expect(Array(bench.sent.prefix(2)) == [[0x0A, 0xFF, 0xFF], [0x0A, 0xFF, 0xFF]])
        if isKept { #expect(Array(bench.sent.dropFirst(2)) == Self.comparison + Bench.writes) }
        var setup = bench.setup
        var ends = 0
        _ = try bench.peer.client.read(AttributeHandle(1), now: bench.peer.now)
        bench.peer.run { event, client, now in
            ends += 1
            #expect(setup.handle(event, &client, now: now) == .underWay)
        }
        #expect(ends == 1 && bench.peer.client.isIdle)
        #expect(setup.begin(&bench.peer.client, now: bench.peer.now) == .underWay && bench.peer.client.isIdle)
    }

    // MARK: Hostile devices

    @Test("A kept keyboard that answers at random ends each setup, and is written to only after the comparison")
    func hostileDevices() throws {
        let runs = RunCount.from("BLEWEDGE_HID_SETUPS", usual: 5000)
        var random = SeededGenerator(seed: 41)
        var ends: [String: Int] = [:]
        let models = try [true, false].map { hasHash in try Bench(hasHash: hasHash) { _ in } }
        for run in 0..<runs {
            var bench = models[run % 2]
            let percent = Int.random(in: 1...20, using: &random)
            var seed = random
            _ = random.next()
            bench.change = { _, response in
                guard Int.random(in: 0..<100, using: &seed) < percent else { return response }
                return HIDDeviceFaultTests.mutated(response, &seed)
            }
            if Bool.random(using: &random) { bench.changedAt = Int.random(in: 0..<40, using: &random) }
            let progress = bench.begin()
            #expect(bench.sent.count <= 4096)
            if let write = bench.sent.firstIndex(where: Self.isWrite) {
                let before = bench.sent[..<write]
                let isCompared = [0, 5].allSatisfy { before.contains(Bench.mapRequests[$0]) }
                #expect(isCompared || before.contains(Bench.services))
            }
            switch progress {
            case .underWay: Issue.record("no end")
            case .finished:
                ends["finished", default: 0] += 1
                #expect(bench.setup.device?.hasKeyboard == true)
            case .unusable: ends["unusable", default: 0] += 1
            case .failed: ends["failed", default: 0] += 1
            }
        }
        #expect(ends.count == 3, "\(ends)")
    }
}
