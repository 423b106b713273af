// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import ConformanceSupport
import LinuxIO
import TestSupport
import Testing
import VirtualAdapters

/// Server on an adapter, with one characteristic for reading and writing and one for notifications.
private final class Station {
    private static let database = [
        "service FFE0", "characteristic FFE1 0A stored 00 0-64", "characteristic FFE2 10 dynamic",
    ]
    private static let notified = AttributeHandle(5)

    let core: ServerCore
    private(set) var subscribed = 0
    private(set) var written = 0
    private(set) var sent = 0
    private(set) var centrals = 0

    init(_ adapter: any LowEnergyAdapter, on loop: EventLoop) throws {
        var note: (GATTServer.Event) -> Void = { _ in }
        var connections: (DisconnectReason?) -> Void = { _ in }
        core = ServerCore(
            RadioArbiter(on: loop, using: adapter),
            try ConformanceDatabase.build(Self.database),
            onEvent: { _, event in note(event) },
            onConnection: { _, _, reason in connections(reason) }
        )
        note = { [unowned self] event in
            switch event {
            case .subscribed: subscribed += 1
            case .written: written += 1
            default: break
            }
        }
        connections = { [unowned self] reason in centrals += reason == nil ? 1 : -1 }
        try core.advertise(Advertisement(data: [], interval: .milliseconds(20))) { _ in }
    }

    /// Notifies the next number; returns false while the queue is full.
    func notifyNext() throws -> Bool {
        let isTaken = try core.perform { server throws(GATTServerError) in
            try server.update([UInt8(truncatingIfNeeded: sent)], of: Self.notified).isEmpty
        }
        if isTaken { sent += 1 }
        return isTaken
    }
}

/// Client that subscribes, and then writes and reads in turn.
private final class Visitor {
    private static let value = AttributeHandle(3)
    private static let notifying = GATTCharacteristic(
        declaration: AttributeHandle(4),
        valueHandle: AttributeHandle(5),
        end: AttributeHandle(6),
        properties: .notify,
        uuid: BluetoothUUID(UInt16(0xFFE2))
    )

    let link: ATTLink
    private let rounds: Int
    private(set) var heard: [UInt8] = []
    private(set) var reads: [UInt8] = []
    private(set) var faults: [String] = []
    private var isSubscribed = false

    init(_ channel: any ATTChannel, on loop: EventLoop, rounds: Int) throws {
        self.rounds = rounds
        link = ATTLink(channel, on: loop)
        link.onValue = { [unowned self] _, value in heard += [UInt8](copying: value) }
        link.onEvent = { [unowned self] event in
            switch event {
            case .procedure(let event): next(event.result)
            case .closed(let failure): faults.append("closed: \(failure)")
            }
        }
        try link.perform { client, now throws(GATTError) in
            _ = try client.subscribe(Self.notifying, kind: .notifications, now: now)
        }
    }

    var isDone: Bool { reads.count >= rounds || !faults.isEmpty }

    private func next(_ result: Result<GATTClient.Outcome, GATTError>) {
        do throws(GATTError) {
            let outcome = try result.get()
            if case .value(let value) = outcome { reads += value.prefix(1) }
            // Each round ends with the read; the first round starts with the subscription.
            if outcome == .done, isSubscribed { return }
            isSubscribed = true
            guard reads.count < rounds else { return }
            let number = UInt8(truncatingIfNeeded: reads.count)
            try link.perform { client, now throws(GATTError) in
                _ = try client.write([number], to: Self.value, now: now)
                _ = try client.read(Self.value, now: now)
            }
        } catch {
            faults.append("\(error)")
        }
    }
}

@Suite("Both roles at once", .timeLimit(.minutes(10)))
struct BothRolesTests {
    private static let rounds = 50
    private static let notifications = 200

    /// Runs the loop until it provides a value.
    private func wait<Value>(_ loop: EventLoop, _ begin: (@escaping (Value) -> Void) throws -> Void) throws -> Value {
        var value: Value?
        try begin { value = $0 }
        _ = try loop.run { value != nil }
        return try #require(value)
    }

    @Test(
        "One controller advertises, serves a central, and is itself central of another, all at once",
        arguments: [false, true]
    )
    func both(overStream: Bool) throws {
        let loop = try EventLoop()
        let radio = MemoryRadio(on: loop, speed: 20)
        let lines = H4Lines()
        // The middle adapter has both roles: the first one connects to it, and it connects to the last one.
        var adapters: [HostAdapter] = []
        for number in 1...3 as ClosedRange<UInt64> {
            let controller = radio.addController(BluetoothAddress(rawValue: 0xC0FF_EE00_0000 | number))
            let transport: any PacketTransport = overStream ? try lines.connect(controller, on: loop) : controller
            let adapter = HostAdapter(name: "\(number)", transport: transport, on: loop)
            try wait(loop) { adapter.start(completion: $0) }.get()
            adapters.append(adapter)
        }
        let stations = [try Station(adapters[1], on: loop), try Station(adapters[2], on: loop)]
        var visitors: [Visitor] = []
        for (from, to) in [(0, 1), (1, 2)] {
            let device = DeviceAddress(adapters[to].address, .public)
            var attempt: (any ConnectionAttempt)?
            let result: Result<any ATTChannel, LinkFailure> = try wait(loop) {
                attempt = try adapters[from].connect(to: device, timeout: .seconds(10), completion: $0)
            }
            _ = attempt
            visitors.append(try Visitor(try result.get(), on: loop, rounds: Self.rounds))
        }
        // A second central finds that the middle adapter is still advertising while it is also a central.
        let scanner = try adapters[0].makeScanner()
        let heard: DeviceAddress = try wait(loop) { done in
            scanner.onUpdate = { update in
                if update.device.address == DeviceAddress(adapters[1].address, .public) { done(update.device.address) }
            }
            scanner.start(ScanParameters(type: .passive), devices: DeviceTable())
        }
        #expect(heard.address == adapters[1].address)
        scanner.close()

        let end = MonotonicClock.now + .seconds(120)
        func feed() {
            for station in stations where station.subscribed > 0 {
                while station.sent < Self.notifications, (try? station.notifyNext()) == true {}
            }
            let isDone =
                visitors.allSatisfy { $0.isDone && $0.heard.count >= Self.notifications }
                || MonotonicClock.now >= end || visitors.contains { !$0.faults.isEmpty }
            if isDone { return loop.stop() }
            _ = loop.schedule(at: MonotonicClock.now + .milliseconds(1)) { feed() }
        }
        feed()
        try loop.run()
        for (visitor, station) in zip(visitors, stations) {
            #expect(visitor.faults == [])
            #expect(visitor.reads == (0..<Self.rounds).map { UInt8($0) })
            #expect(visitor.heard == (0..<Self.notifications).map { UInt8(truncatingIfNeeded: $0) })
            #expect(station.written == Self.rounds && station.centrals == 1)
        }
        // Ending one role does not affect the other.
        visitors[1].link.close()
        let before = visitors[0].heard.count
        #expect(try stations[0].notifyNext())
        #expect(try loop.run { stations[1].centrals == 0 && visitors[0].heard.count > before })
        #expect(visitors[0].heard.count == before + 1)
        for adapter in adapters { adapter.close() }
    }
}
