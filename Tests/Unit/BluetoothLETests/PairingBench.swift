// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO
import TestSupport
import Testing
import VirtualAdapters

@testable import BluetoothAdapters

/// A peripheral with one value that needs encryption, and two centrals, each the host of a controller in memory; users who
/// do what both sides ask for.
final class PairingBench {
    static let secret: [UInt8] = [0x2A]
    private static let service = BluetoothUUID(UInt16(0xFFE0))
    private static let characteristic = BluetoothUUID(UInt16(0xFFE1))
    /// Far longer than any test waits.
    static let limit = Duration.seconds(300)

    let loop: EventLoop
    private let radio: MemoryRadio
    private let transports: [any PacketTransport]
    /// The transport of the first central.
    let early: EarlyRequestTransport
    /// The peripheral and the centrals.
    private(set) var adapters: [HostAdapter] = []
    private var server: ServerCore?
    let handle: AttributeHandle
    private let database: GATTServerDatabase
    private(set) var window: (any PairableMode)?
    /// What the window has told so far.
    private(set) var news: [PairableEvent] = []
    /// True for a user of the peripheral who answers questions, and reads what it shows out to the central.
    var isAttended = true
    /// What the user of the peripheral says of the numbers.
    var saysSame = true
    /// The passkeys that were shown, and the numbers that were compared, by the central and the peripheral.
    private(set) var shown: [[UInt32]] = [[], []]
    /// True for a central that ends its link in the moment in which it hears how the pairing has ended.
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

    /// The program of an adapter ends, and another begins, which knows these bonds.
    func restart(_ index: Int, _ bonds: [Bond] = []) throws {
        if index == 0 {
            server = nil
            window = nil
        }
        // Once it is gone, so that it does not let go of its successor's transport.
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

    /// Lets the loop turn until something is so.
    func run(until isDone: () -> Bool) throws {
        let isOver = try loop.run {
            questions.removeAll { $0() }
            return isDone()
        }
        try #require(isOver, "\(news)")
    }

    var device: DeviceAddress { DeviceAddress(adapters[0].address, .public) }

    // MARK: The peripheral's window

    /// Opens a window.
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
            // Who compares has seen both.
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

    /// A central begins to pair, as `blewedge pair` does; its result is set when it has ended.
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

    /// A central's pairing.
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

    /// A central pairs, and ends its link.
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

    /// A central connects.
    func connect(_ central: Int) throws -> ATTLink {
        var result: Result<any ATTChannel, LinkFailure>?
        let attempt = try adapters[central].connect(to: device, timeout: .seconds(30)) { result = $0 }
        try withExtendedLifetime(attempt) { try run { result != nil } }
        return ATTLink(try #require(result).get(), on: loop)
    }

    /// A central that is connected pairs on its link, until that is over.
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
        // Behind a failure it is too early for another, and behind a success there is a bond.
        try run { pair() != .busy }
    }

    func disconnect(_ link: ATTLink) throws {
        link.close()
        try run { !adapters[0].isConnected }
    }

    /// What a central reads, or why it does not.
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

    /// Whether a central could encrypt the link by the key that it has.
    func secure(_ link: ATTLink, _ level: GATTLinkSecurity.Level = .encrypted) throws -> Bool {
        var result: Result<Void, LinkFailure>?
        link.onEvent = { event in if case .closed(let failure) = event { result = .failure(failure) } }
        link.secure(level) { result = $0 }
        try run { result != nil }
        guard case .success = result else { return false }
        return true
    }
}
