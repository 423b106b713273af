// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO
import TestSupport
import Testing
import VirtualAdapters

@testable import BluetoothAdapters

/// A peripheral with a value that needs encryption, and two centrals, all on simulated controllers; the users follow
/// the instructions of both sides.
final class PairingBench {
    static let secret: [UInt8] = [0x2A]
    private static let service = BluetoothUUID(UInt16(0xFFE0))
    private static let characteristic = BluetoothUUID(UInt16(0xFFE1))
    /// Much longer than any test waits.
    static let limit = Duration.seconds(300)

    let loop: EventLoop
    private let radio: MemoryRadio
    private let transports: [any PacketTransport]
    /// Transport of the first central.
    let early: EarlyRequestTransport
    /// Adapters of the peripheral and the centrals.
    private(set) var adapters: [HostAdapter] = []
    private var server: ServerCore?
    let handle: AttributeHandle
    private let database: GATTServerDatabase
    private(set) var window: (any PairableMode)?
    /// Events of the pairable mode until now.
    private(set) var news: [PairableEvent] = []
    /// True if the peripheral's user answers questions, and tells the central's user what the peripheral displays.
    var isAttended = true
    /// Result of the comparison by the peripheral's user.
    var saysSame = true
    /// Displayed passkeys and compared numbers on the central and the peripheral.
    private(set) var shown: [[UInt32]] = [[], []]
    /// True if the central disconnects as soon as the pairing has ended.
    var closesAtOnce = false
    private var questions: [() -> Bool] = []

    init(read access: GATTAccess = .encrypted) throws {
        loop = try EventLoop()
        let radio = MemoryRadio(on: loop, speed: 20)
        self.radio = radio
        let controllers = ([1, 2, 3] as [UInt64]).map {
            radio.addController(BluetoothAddress(rawValue: 0xC0FF_EE00_0000 | $0))
        }
        early = EarlyRequestTransport(controllers[1])
        transports = [controllers[0], early, controllers[2]]
        var builder = try GATTDatabaseBuilder(deviceName: "test")
        let secret = GATTCharacteristicDefinition(
            uuid: Self.characteristic,
            properties: .read,
            value: .constant(Self.secret),
            read: access
        )
        let service = try builder.add(GATTServiceDefinition(uuid: Self.service, characteristics: [secret]))
        handle = try #require(service.value(of: Self.characteristic))
        database = builder.database
        for index in transports.indices { adapters.append(try start(index)) }
        try advertise()
    }

    deinit { for adapter in adapters { adapter.close() } }

    private func start(_ index: Int) throws -> HostAdapter {
        let adapter = HostAdapter(name: "\(index)", transport: transports[index], on: loop)
        var outcome: Result<Void, AdapterError>?
        adapter.start { outcome = $0 }
        try run { outcome != nil }
        try outcome?.get()
        return adapter
    }

    /// Replaces the program of an adapter with a new one that knows these bonds.
    func restart(_ index: Int, _ bonds: [Bond] = []) throws {
        if index == 0 {
            server = nil
            window = nil
        }
        // The old adapter must be gone first, so that it does not close the transport of the new one.
        adapters.remove(at: index).close()
        let adapter = try start(index)
        adapter.use(bonds)
        adapters.insert(adapter, at: index)
        if index == 0 { try advertise() }
    }

    private func advertise() throws {
        let core = ServerCore(
            RadioArbiter(on: loop, using: adapters[0]),
            database,
            onEvent: { _, _ in },
            onConnection: { _, _, _ in }
        )
        server = core
        var isAdvertising = false
        try core.advertise(Advertisement(data: [], interval: .milliseconds(20))) { _ in isAdvertising = true }
        try run { isAdvertising }
    }

    /// Runs the loop until a condition is met.
    func run(until isDone: () -> Bool) throws {
        let isOver = try loop.run {
            questions.removeAll { $0() }
            return isDone()
        }
        try #require(isOver, "\(news)")
    }

    var device: DeviceAddress { DeviceAddress(adapters[0].address, .public) }

    // MARK: The peripheral's pairable mode

    /// Starts pairable mode.
    func open(
        _ capability: IOCapability = .noInputNoOutput,
        required: GATTLinkSecurity.Level = .encrypted,
        limit: Duration = PairingBench.limit
    ) throws {
        let offer = PairableOptions(capability, required: required, limit: limit)
        let window = adapters[0].makePairableMode(offer)
        self.window = window
        news = []
        window.onNews = { [unowned self] news in take(news) }
        window.open()
    }

    private func take(_ told: PairableEvent) {
        news.append(told)
        switch told {
        case .show(let passkey, _): shown[1].append(passkey)
        case .ask(.compare(let number), _):
            shown[1].append(number)
            guard isAttended else { return }
            // The user compares the numbers only after both are displayed.
            questions.append { [unowned self] in
                guard let other = shown[0].last else { return false }
                window?.answer(saysSame && other == number)
                return true
            }
        case .ask(.enter, _):
            guard isAttended else { return }
            questions.append { [unowned self] in
                guard let passkey = shown[0].last else { return false }
                window?.answer(passkey: passkey)
                return true
            }
        case .failed, .refused, .ended: break
        }
    }

    // MARK: The centrals

    /// Starts pairing by a central, as `blewedge pair` does; the result is set when it has ended.
    func begin(
        _ central: Int,
        _ capability: IOCapability = .noInputNoOutput,
        required: GATTLinkSecurity.Level = .encrypted
    ) -> Attempt {
        let wish = PairingOptions(device, capability, required: required, limit: Self.limit)
        let attempt = Attempt(adapters[central].makePairing(wish), adapters[central].address)
        attempt.pairing.onNews = { [unowned self, unowned attempt] news in take(news, attempt) }
        attempt.pairing.begin()
        return attempt
    }

    /// Pairing by a central.
    final class Attempt {
        let pairing: any DevicePairing
        let central: BluetoothAddress
        fileprivate(set) var result: Result<Bond, ManagedPairing.Failure>?

        init(_ pairing: any DevicePairing, _ central: BluetoothAddress) {
            self.pairing = pairing
            self.central = central
        }
    }

    private func take(_ news: ManagedPairing.News, _ attempt: Attempt) {
        switch news {
        case .show(let passkey): shown[0].append(passkey)
        case .ask(.compare(let number)):
            shown[0].append(number)
            attempt.pairing.answer(true)
        case .ask(.enter):
            questions.append { [unowned self, weak attempt] in
                guard isAttended, let passkey = shown[1].last else { return attempt == nil }
                attempt?.pairing.answer(passkey: passkey)
                return true
            }
        case .ended(let result):
            attempt.result = result
            if closesAtOnce { attempt.pairing.close(forgetting: false) {} }
        }
    }

    /// Lets a central pair and then disconnect.
    func pair(
        _ central: Int,
        _ capability: IOCapability = .noInputNoOutput,
        required: GATTLinkSecurity.Level = .encrypted
    ) throws -> Result<Bond, ManagedPairing.Failure> {
        let attempt = begin(central, capability, required: required)
        try run { attempt.result != nil }
        try close(attempt)
        return try #require(attempt.result)
    }

    func close(_ attempt: Attempt) throws {
        var isClosed = false
        attempt.pairing.close(forgetting: false) { isClosed = true }
        try run { isClosed && !adapters[0].host.connections.contains { $0.peer.address == attempt.central } }
    }

    /// Connects a central.
    func connect(_ central: Int) throws -> ATTLink {
        var result: Result<any ATTChannel, LinkFailure>?
        let attempt = try adapters[central].connect(to: device, timeout: .seconds(30)) { result = $0 }
        try withExtendedLifetime(attempt) { try run { result != nil } }
        return ATTLink(try #require(result).get(), on: loop)
    }

    /// Pairs over the existing link of a central, and waits until this has ended.
    func pairHere(_ central: Int) throws {
        let handle = try #require(adapters[central].host.connections.first).handle
        func pair() -> SecurityManager.Refusal? {
            adapters[central].perform { host in
                do throws(SecurityManager.Refusal) {
                    try host.pair(handle, now: MonotonicClock.now)
                    return nil
                } catch {
                    return error
                }
            }
        }
        try #require(pair() == nil)
        // After a failure, the next attempt is rejected as too early; after a success, because there is a bond.
        try run { pair() != .busy }
    }

    func disconnect(_ link: ATTLink) throws {
        link.close()
        try run { !adapters[0].isConnected }
    }

    /// Returns the value that a central reads, or the reason for the failure.
    func read(_ link: ATTLink) throws -> Answer {
        var answer: Answer?
        link.onEvent = { event in
            switch event {
            case .procedure(let event):
                switch event.result {
                case .success(.value(let value)): answer = .value(value)
                case .failure(.errorResponse(_, _, let error)): answer = .refused(error)
                default: answer = .lost
                }
            case .closed: answer = .lost
            }
        }
        try link.perform { client, now throws(GATTError) in _ = try client.read(handle, now: now) }
        try run { answer != nil }
        return try #require(answer)
    }

    enum Answer: Equatable {
        case value([UInt8])
        case refused(ATTError)
        case lost
    }

    /// Returns true if a central could encrypt the link with its key.
    func secure(_ link: ATTLink, _ level: GATTLinkSecurity.Level = .encrypted) throws -> Bool {
        var result: Result<Void, LinkFailure>?
        link.onEvent = { event in if case .closed(let failure) = event { result = .failure(failure) } }
        link.secure(level) { result = $0 }
        try run { result != nil }
        guard case .success = result else { return false }
        return true
    }
}
