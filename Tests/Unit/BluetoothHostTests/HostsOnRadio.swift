// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport
import VirtualRadio

/// Two hosts with their own controllers on one simulated radio, in virtual time.
final class HostsOnRadio {
    /// Result of a session.
    enum End: Hashable {
        /// All requested operations succeeded.
        case done
        /// A host has failed.
        case failed(HostFailure)
        /// An operation was refused or given up, with a description.
        case refused(String)
        /// An expected event did not occur in time.
        case silent(String)
    }

    static let size = 100
    static let count = 5

    let controllers: [VirtualController]
    var hosts: [LowEnergyHost] = []
    private(set) var now = Duration.zero
    private let radio: VirtualRadio
    var events: [[LowEnergyHost.Event]] = [[], []]
    /// Handles a packet from a controller instead of its host; returns false to pass it to the host.
    var intercept: ((_ index: Int, _ packet: [UInt8]) -> Bool)?

    init(_ generation: VirtualController.Generation, seed: UInt64) {
        let radio = VirtualRadio(seed: seed)
        self.radio = radio
        controllers = ([1, 2] as [UInt64]).map { number in
            let address = BluetoothAddress(rawValue: 0xC000_0000_0000 | number)
            return radio.addController(VirtualController.Configuration(address: address, generation: generation))
        }
        hosts = (1...2).map { LowEnergyHost(random: PairingRandomness(seed: seed &* 2 &+ $0)) }
    }

    /// The failure of a host, if one has failed.
    var failure: HostFailure? { hosts.compactMap(\.failure).first }

    // MARK: Time

    func pump() {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            for index in hosts.indices {
                while let event = hosts[index].nextEvent() { events[index].append(event) }
                while let packet = hosts[index].nextOutgoing(now: now) {
                    isQuiet = false
                    controllers[index].receive(packet, now: now)
                }
                while let packet = controllers[index].nextPacket() {
                    isQuiet = false
                    if intercept?(index, packet) == true { continue }
                    hosts[index].receive(packet.span, now: now)
                }
            }
        }
    }

    /// Advances the time until an event occurs or the time-out ends; returns true if it occurred.
    @discardableResult
    func until(_ index: Int, within time: Duration, _ isFound: (LowEnergyHost.Event) -> Bool) -> Bool {
        let end = now + time
        pump()
        while failure == nil, !events[index].contains(where: isFound) {
            let times = hosts.compactMap(\.deadline) + [radio.deadline].compactMap { $0 }
            guard let next = times.min(), next <= end else {
                now = end
                radio.advance(to: now)
                pump()
                return events[index].contains(where: isFound)
            }
            now = max(now, next)
            radio.advance(to: now)
            for index in hosts.indices {
                if let deadline = hosts[index].deadline, deadline <= now { hosts[index].handleDeadline(now: now) }
            }
            pump()
        }
        return failure == nil
    }

    // MARK: A session

    /// Initializes both controllers.
    func bringUp() -> End {
        for index in hosts.indices {
            guard until(index, within: .seconds(60), { $0 == .ready }) else { return ended("ready") }
        }
        return .done
    }

    /// Runs a session: the first host advertises, the second scans and connects, both send data, and the second
    /// disconnects.
    func session() -> End {
        events = [[], []]
        guard
            hosts[0].advertise(
                AdvertisingParameters(kind: .connectable, interval: 160),
                data: [2, 1, 6],
                scanResponse: []
            )
        else { return .refused("advertise") }
        guard until(0, within: .seconds(30), { $0 == .advertisingStarted || Self.isRefusal($0) }) else {
            return ended("advertisingStarted")
        }
        if let refusal = events[0].first(where: Self.isRefusal) { return .refused("\(refusal)") }
        guard hosts[1].startScanning(ScanParameters(type: .active), devices: DeviceTable()) else {
            return .refused("scan")
        }
        until(1, within: .seconds(5)) { if case .scanned = $0 { true } else { Self.isRefusal($0) } }
        hosts[1].stopScanning()
        until(1, within: .seconds(5)) { $0 == .scanStopped || Self.isRefusal($0) }
        guard failure == nil else { return ended("scan") }
        if let refusal = events[1].first(where: Self.isRefusal) { return .refused("\(refusal)") }
        return connection()
    }

    private func connection() -> End {
        let device = DeviceAddress(controllers[0].configuration.address, .public)
        hosts[1].connect(to: device, timeout: .seconds(5), now: now)
        guard until(1, within: .seconds(60), { Self.connection($0) != nil || Self.isRefusal($0) }) else {
            return ended("connected")
        }
        guard let near = events[1].compactMap(Self.connection).last else {
            return .refused(events[1].first(where: Self.isRefusal).map { "\($0)" } ?? "nothing was told")
        }
        until(0, within: .seconds(5)) { Self.connection($0) != nil }
        if let far = events[0].compactMap(Self.connection).last {
            for (index, handle) in [(0, far.handle), (1, near.handle)] {
                for number in 0..<Self.count {
                    _ = hosts[index].send([UInt8](repeating: UInt8(number), count: Self.size), on: handle)
                }
            }
        }
        for index in hosts.indices { until(index, within: .seconds(45)) { Self.isLast($0) || Self.isEnd($0) } }
        let isComplete = events.allSatisfy { $0.contains(where: Self.isLast) }
        hosts[1].disconnect(near.handle, now: now)
        guard until(1, within: .seconds(60), Self.isEnd) else { return ended("disconnected") }
        if !hosts[0].connections.isEmpty { until(0, within: .seconds(60), Self.isEnd) }
        hosts[0].stopAdvertising()
        until(0, within: .seconds(60)) { $0 == .advertisingStopped }
        if let failure { return .failed(failure) }
        return isComplete ? .done : .refused("data lost")
    }

    private func ended(_ step: String) -> End { failure.map { .failed($0) } ?? .silent(step) }

    private static func isLast(_ event: LowEnergyHost.Event) -> Bool {
        if case .received(_, let pdu) = event { pdu.first == UInt8(count - 1) } else { false }
    }

    static func isEnd(_ event: LowEnergyHost.Event) -> Bool {
        if case .disconnected = event { true } else { false }
    }

    private static func isRefusal(_ event: LowEnergyHost.Event) -> Bool {
        switch event {
        case .advertisingFailed, .scanFailed, .connectionFailed: true
        default: false
        }
    }

    static func connection(_ event: LowEnergyHost.Event) -> LowEnergyHost.Connection? {
        if case .connected(let connection) = event { connection } else { nil }
    }
}
