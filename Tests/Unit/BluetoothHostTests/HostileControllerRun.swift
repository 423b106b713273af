// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport

/// Run of a host with a hostile controller.
///
/// Then the controller behaves correctly, and the host must either work or have failed.
struct HostileControllerRun {
    /// Result of a run.
    enum End: Hashable, CustomStringConvertible {
        /// The host accepts connections and connects again.
        case works
        /// The host has failed, with a typed error.
        case failed(HostFailure)

        var description: String {
            switch self {
            case .works: "works"
            case .failed(.refused): "refused"
            case .failed(.noAnswer): "noAnswer"
            case .failed(.silent): "silent"
            case .failed(.badAnswer): "badAnswer"
            case .failed(.lowEnergyUnsupported): "lowEnergyUnsupported"
            case .failed(.hardwareError): "hardwareError"
            case .failed(.lostCompletions): "lostCompletions"
            case .failed(.lostDisconnection): "lostDisconnection"
            case .failed(.overrun): "overrun"
            }
        }
    }

    private static let peers = (1...3).map { DeviceAddress(BluetoothAddress(rawValue: 0xF000_0000_0000 | $0), .random) }
    /// Number of hostile turns.
    private static let turns = 120
    /// Maximum number of bytes that may be stored on behalf of other devices.
    static let storage = 64 << 10
    /// Maximum virtual time until the host works, once the controller behaves correctly.
    private static let settling = Duration.seconds(150)

    private(set) var host = LowEnergyHost(randomAddress: BluetoothAddress(rawValue: 1))
    private(set) var commands = 0
    private(set) var bytes = 0
    private(set) var wasReady = false
    private(set) var mostStored = 0
    private(set) var now = Duration.zero
    private var controller: HostileController
    private var toHost: [[UInt8]] = []
    private var given = 0
    private var connected: [UInt16] = []
    private var news: [LowEnergyHost.Event] = []
    private var failure: HostFailure?
    private var broken: String?

    init(seed: UInt64) {
        controller = HostileController(seed: seed)
    }

    /// Runs to the end; also returns a description of a violated limit.
    mutating func run() -> (end: End?, broken: String?) {
        for _ in 0..<Self.turns where failure == nil && broken == nil {
            exchange()
            if host.isReady { act() }
            if controller.random.chance(controller.talk) {
                for _ in 0...controller.random.below(4) { toHost.append(controller.whim()) }
            }
            pass()
        }
        let hostile = now
        controller.isHostile = false
        let end = settle()
        if broken == nil, now - hostile > Self.settling * 5 {
            broken = "lasted \(now - hostile) with an honest controller"
        }
        // Each packet for the host may cause a few answers, and each action of its user a few commands.
        if commands > 100 + 8 * Self.turns + 3 * given { broken = "\(commands) commands for \(given) packets" }
        if bytes > 300 * (commands + given) + 40 * 600 * Self.turns { broken = "\(bytes) bytes" }
        return (end, broken)
    }

    // MARK: The user of the host

    private mutating func act() {
        let handle = connected.randomElement(using: &controller.random) ?? 1
        switch controller.random.below(16) {
        case 0, 1:
            let peer = Self.peers[controller.random.below(Self.peers.count)]
            host.connect(to: peer, timeout: .seconds(1 + controller.random.below(20)), now: now)
        case 2: host.cancelConnection(to: Self.peers[controller.random.below(Self.peers.count)], now: now)
        case 3, 4: advertise()
        case 5: host.stopAdvertising()
        case 6: _ = host.startScanning(ScanParameters(type: .active), devices: DeviceTable())
        case 7: host.stopScanning()
        case 8: host.disconnect(handle, now: now)
        case 9, 10, 11:
            for _ in 0...controller.random.below(40) {
                _ = host.send(controller.random.bytes(1 + controller.random.below(600)), on: handle)
            }
        default: break
        }
    }

    private mutating func advertise() {
        _ = host.advertise(AdvertisingParameters(kind: .connectable, interval: 160), data: [2, 1, 6], scanResponse: [])
    }

    // MARK: Time and packets

    /// Transfers packets in both directions until there are none left.
    private mutating func exchange() {
        for _ in 0..<2000 {
            take()
            guard failure == nil, broken == nil else { return }
            if let packet = host.nextOutgoing(now: now) {
                check(packet)
                toHost += controller.answers(to: packet)
            } else if !toHost.isEmpty {
                given += 1
                let packet = toHost.removeFirst()
                host.receive(packet.span, now: now)
            } else {
                return
            }
            mostStored = max(mostStored, host.storedBytes)
        }
        // A controller that sends ever more data could continue forever; the queued packets are dropped.
        toHost = []
    }

    private mutating func check(_ packet: [UInt8]) {
        bytes += packet.count
        switch packet.first {
        case 1 where packet.count >= 4 && packet.count == 4 + Int(packet[3]): commands += 1
        case 2 where packet.count >= 5 && packet.count == 5 + Int(packet[3]) + Int(packet[4]) << 8:
            let length = packet.count - 5
            if length > Int(host.buffers?.dataLength ?? 0) { broken = "\(length) bytes of data for the controller" }
        default: broken = "sent what no controller reads: \(packet)"
        }
        let free = host.freeBufferCount
        if free < 0 || free > Int(host.buffers?.packetCount ?? 0) { broken = "\(free) free buffers" }
        if host.storedBytes > Self.storage { broken = "\(host.storedBytes) bytes kept" }
    }

    private mutating func take() {
        while let event = host.nextEvent() {
            if failure != nil { broken = "\(event) after the end" }
            switch event {
            case .ready: wasReady = true
            case .failed(let reason): failure = reason
            case .connected(let connection): connected.append(connection.handle)
            case .disconnected(let connection, _):
                guard let index = connected.firstIndex(of: connection.handle) else {
                    broken = "the end of a connection that nobody heard of"
                    return
                }
                connected.remove(at: index)
            default: break
            }
            news.append(event)
        }
    }

    /// Advances the time by a little, or to the host's next deadline.
    private mutating func pass() {
        if controller.random.chance(70) {
            now += .milliseconds(controller.random.below(200))
        } else if let deadline = host.deadline {
            now = max(now, deadline)
        }
        if let deadline = host.deadline, deadline <= now { host.handleDeadline(now: now) }
    }

    // MARK: Correct behavior

    /// Runs until the event occurs or the time is over; returns true if it occurred.
    private mutating func until(_ isFound: (LowEnergyHost.Event) -> Bool) -> Bool {
        let end = now + Self.settling
        for _ in 0..<10_000 {
            exchange()
            if failure != nil || broken != nil || news.contains(where: isFound) { return true }
            guard let deadline = host.deadline, deadline <= end else {
                now = end
                return false
            }
            now = max(now, deadline)
            host.handleDeadline(now: now)
        }
        return false
    }

    /// Checks that the host has failed, or can advertise, accept a connection, and connect.
    private mutating func settle() -> End? {
        // Lets pending operations end first.
        _ = until { _ in false }
        if let failure { return .failed(failure) }
        guard broken == nil else { return nil }
        guard wasReady else { return stuck("neither ready nor failed") }
        news = []
        host.stopAdvertising()
        _ = until { $0 == .advertisingStopped }
        if let failure { return .failed(failure) }
        for handle in connected { host.disconnect(handle, now: now) }
        _ = until { _ in false }
        if let failure { return .failed(failure) }
        guard connected.isEmpty else { return stuck("\(connected.count) connections do not end") }
        news = []
        advertise()
        guard until({ $0 == .advertisingStarted }) else { return stuck("does not advertise") }
        if let failure { return .failed(failure) }
        toHost.append(controller.central())
        guard until({ if case .connected(let new) = $0 { new.role == .peripheral } else { false } }) else {
            return stuck("is not connected to")
        }
        if let failure { return .failed(failure) }
        let device = DeviceAddress(BluetoothAddress(rawValue: 0xF000_0000_0099), .random)
        news = []
        for _ in 0..<20 {
            host.connect(to: device, timeout: .seconds(5), now: now)
            _ = until { event in
                switch event {
                case .connected(let new): new.peer == device
                case .connectionFailed(device, _): true
                default: false
                }
            }
            if let failure { return .failed(failure) }
            if news.contains(where: { if case .connected(let new) = $0 { new.peer == device } else { false } }) {
                return .works
            }
            news = []
        }
        return stuck("does not connect")
    }

    private mutating func stuck(_ reason: String) -> End? {
        broken = broken ?? reason
        return nil
    }
}
