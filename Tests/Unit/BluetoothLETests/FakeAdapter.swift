// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO
import SystemPackage

@testable import BluetoothAdapters
@testable import BluetoothLE

/// Simulated adapter whose devices follow a script; used only on the loop's thread.
final class FakeAdapter: LowEnergyAdapter {
    let name = "fake0"
    let address = BluetoothAddress(rawValue: 0xC0FF_EE00_0001)
    var onLoss: ((AdapterLoss) -> Void)?
    var onWake: (() -> Void)?
    var onStalledConnection: (() -> Void)?
    var isConnected = false
    /// Causes of the requested restarts.
    var restarts: [String] = []

    let loop: EventLoop
    /// Responses of the device to PDUs; nil if it does not respond.
    var answers: [[UInt8]: [UInt8]] = [:]
    /// Results of the next connection attempts; an attempt with nil ends only when it is cancelled.
    ///
    /// Attempts after these succeed.
    var attempts: [LinkFailure?] = []
    /// Number of attempts started; the next property counts cancelled ones.
    var begun = 0
    var cancelled = 0
    /// Number of times that the adapter was closed.
    var closings = 0
    /// Function that renews the adapter; without it, nothing is done.
    var onRenew: ((_ completion: @escaping (Bool) -> Void) -> Void)?
    var disconnected: [DeviceAddress] = []
    var scanners: [FakeScanner] = []
    var channels: [FakeChannel] = []
    var advertisement: Advertisement?
    var onConnection: ((any ATTChannel) -> Void)?

    init(_ loop: EventLoop) {
        self.loop = loop
    }

    func makeScanner() throws(ScanError) -> any DeviceScanner {
        let scanner = FakeScanner(loop)
        scanners.append(scanner)
        return scanner
    }

    /// Pairings created by this adapter.
    var pairings: [FakePairing] = []

    func makePairing(_ wish: PairingOptions) -> any DevicePairing {
        let pairing = FakePairing()
        pairings.append(pairing)
        return pairing
    }

    /// Pairable modes created by this adapter.
    var windows: [FakeWindow] = []

    func makePairableMode(_ offer: PairableOptions) -> any PairableMode {
        windows.append(FakeWindow())
        return windows[windows.count - 1]
    }

    /// Bonds that were passed to the adapter last.
    var bonds: [Bond]?

    func use(_ bonds: [Bond]) { self.bonds = bonds }

    func connect(
        to device: DeviceAddress,
        timeout: Duration,
        completion: @escaping (Result<any ATTChannel, LinkFailure>) -> Void
    ) throws(LinkFailure) -> any ConnectionAttempt {
        begun += 1
        let attempt = FakeAttempt(self)
        let outcome: LinkFailure?? = attempts.isEmpty ? .none : .some(attempts.removeFirst())
        if case .some(nil) = outcome { return attempt }
        _ = loop.schedule(at: .zero) { [self] in
            guard !attempt.isCancelled else { return }
            if case .some(let failure?) = outcome { return completion(.failure(failure)) }
            completion(.success(makeChannel(device)))
        }
        return attempt
    }

    /// Devices connected to the adapter; nil if the kernel does not answer.
    var connections: [DeviceAddress]?

    func connections(completion: @escaping ([DeviceAddress]?) -> Void) { completion(connections) }

    var quality: LinkQuality?

    func quality(of device: DeviceAddress) -> LinkQuality? { quality }

    func restart(_ cause: String) {
        restarts.append(cause)
        let handler = onLoss
        onLoss = nil
        handler?(.failed(name, cause: cause))
    }

    func close() { closings += 1 }

    func makeChannel(_ device: DeviceAddress) -> FakeChannel {
        let channel = FakeChannel(device, loop) { [weak self] pdu in self?.answers[pdu] }
        channels.append(channel)
        return channel
    }

    func disconnect(_ device: DeviceAddress, completion: @escaping () -> Void) {
        disconnected.append(device)
        _ = loop.schedule(at: .zero, handler: completion)
    }

    func advertise(
        _ advertisement: Advertisement,
        onConnection: @escaping (any ATTChannel) -> Void,
        completion: @escaping (Result<Void, AdapterError>) -> Void
    ) {
        self.advertisement = advertisement
        self.onConnection = onConnection
        _ = loop.schedule(at: .zero) { completion(.success(())) }
    }

    func stopAdvertising(completion: @escaping () -> Void) {
        advertisement = nil
        onConnection = nil
        _ = loop.schedule(at: .zero, handler: completion)
    }
}

final class FakeAttempt: ConnectionAttempt {
    private unowned let adapter: FakeAdapter
    var isCancelled = false

    init(_ adapter: FakeAdapter) {
        self.adapter = adapter
    }

    func cancel() {
        isCancelled = true
        adapter.cancelled += 1
    }
}

/// Pairable mode in which no central requests pairing.
final class FakeWindow: PairableMode {
    var onNews: ((PairableEvent) -> Void)?

    func open() {}
    func answer(_ isSame: Bool) {}
    func answer(passkey: UInt32?) {}
    func close() {}
}

/// Pairing whose progress the test controls.
final class FakePairing: DevicePairing {
    var onNews: ((ManagedPairing.News) -> Void)?
    private(set) var isBegun = false
    private(set) var answers: [Bool] = []
    /// Values of `forgetting` for each call of `close`.
    private(set) var closings: [Bool] = []
    /// Completes the closing.
    private(set) var onClosed: (() -> Void)?

    func begin() { isBegun = true }
    func answer(_ isSame: Bool) { answers.append(isSame) }
    func answer(passkey: UInt32?) {}
    func cancel() {}
    func close(forgetting: Bool, completion: @escaping () -> Void) {
        closings.append(forgetting)
        onClosed = completion
    }
}

/// A channel to a scripted device.
final class FakeChannel: ATTChannel {
    let device: DeviceAddress
    var droppedPackets: UInt32 = 0
    var onReceive: ((Span<UInt8>) -> Void)?
    var onGap: (() -> Void)?
    var onWritable: (() -> Void)?
    var onClosed: ((LinkFailure) -> Void)?
    /// PDUs sent to the device.
    var sent: [[UInt8]] = []
    var security = GATTLinkSecurity()
    /// False if the channel currently accepts no PDU.
    var isWritable = true
    /// Error that `send` throws; nil for none.
    var sendFault: LinkFailure?
    var isClosed = false

    private let loop: EventLoop
    private let answer: ([UInt8]) -> [UInt8]?

    init(_ device: DeviceAddress, _ loop: EventLoop, answer: @escaping ([UInt8]) -> [UInt8]?) {
        self.device = device
        self.loop = loop
        self.answer = answer
    }

    func send(_ pdu: [UInt8]) throws(LinkFailure) -> Bool {
        if let sendFault { throw sendFault }
        guard isWritable else { return false }
        sent.append(pdu)
        if let answer = answer(pdu) { _ = loop.schedule(at: .zero) { [weak self] in self?.deliver(answer) } }
        return true
    }

    func close() {
        isClosed = true
        onReceive = nil
        onWritable = nil
        onClosed = nil
    }

    /// Delivers a PDU from the device.
    func deliver(_ pdu: [UInt8]) {
        onReceive?(pdu.span)
    }

    /// Simulates the loss of the connection.
    func lose(_ failure: LinkFailure) {
        let handler = onClosed
        close()
        handler?(failure)
    }
}

final class FakeScanner: DeviceScanner {
    var onUpdate: ((DeviceTable.Update) -> Void)?
    var onStarted: (() -> Void)?
    var onFailure: ((ScanError) -> Void)?
    var onDisturbed: (() -> Void)?
    var onPacket: ((Span<UInt8>, _ now: Duration) -> Void)?
    var isScanning = false
    var starts = 0
    private var scanner = Scanner(.legacy)
    private let loop: EventLoop

    init(_ loop: EventLoop) {
        self.loop = loop
    }

    func start(_ parameters: ScanParameters, devices: DeviceTable) {
        isScanning = true
        starts += 1
        scanner = Scanner(.legacy, devices: devices)
        scanner.start(parameters)
    }

    /// False to never report the end of the scan.
    var tellsEnd = true

    private var onStopped: (() -> Void)?

    /// Reports the end of the scan.
    func tellEnd() { onStopped?() }

    func stop(completion: @escaping () -> Void) {
        isScanning = false
        onStopped = completion
        guard tellsEnd else { return }
        _ = loop.schedule(at: .zero) { [weak self] in self?.onStopped?() }
    }

    func close() { isScanning = false }

    var devices: DeviceTable { scanner.devices }
    let droppedReports: UInt32 = 0
    func expireDevices() {}

    /// Delivers an LE Advertising Report (ADV_IND) from a random address.
    func hear(_ device: UInt64, _ data: [UInt8]) {
        let address = (0..<6).map { UInt8(truncatingIfNeeded: device >> UInt64(8 * $0)) }
        let parameters = [0x02, 0x01, 0x00, 0x01] + address + [UInt8(data.count)] + data + [0xCE]
        let packet = [0x04, 0x3E, UInt8(parameters.count)] + parameters
        var updates: [DeviceTable.Update] = []
        let now = MonotonicClock.now
        scanner.handle(packet.span, now: now) { update in updates.append(update) }
        for update in updates { onUpdate?(update) }
        onPacket?(packet.span, now)
    }
}

/// Port of a simulated adapter; used only on the loop's thread.
final class FakePort: @unchecked Sendable {
    /// True while the adapter is unplugged.
    var isEmpty = false
    private var waiting: [() -> Void] = []

    /// Opens the adapter now, or when it is plugged in.
    func whenPlugged(_ open: @escaping () -> Void) {
        if isEmpty { waiting.append(open) } else { open() }
    }

    func plug() {
        isEmpty = false
        for open in waiting { open() }
        waiting = []
    }
}

extension BluetoothAdapter {
    /// Returns a simulated adapter that is ready; `prepare` sets its script.
    static func fake(
        in port: FakePort = FakePort(),
        _ prepare: @escaping @Sendable (FakeAdapter) -> Void = { _ in }
    ) async throws -> BluetoothAdapter {
        let adapter = try BluetoothAdapter { (loop, completion) throws(AdapterError) in
            port.whenPlugged {
                let fake = FakeAdapter(loop)
                prepare(fake)
                _ = loop.schedule(at: .zero) { completion(.success(fake)) }
            }
        }
        try await adapter.start()
        return adapter
    }

    /// Unplugs the simulated adapter: opening it waits until it is plugged in again.
    func unplug(_ port: FakePort) {
        port.isEmpty = true
        roles.value.core.adapter?.onLoss?(.removed("fake0"))
    }

    /// Plugs in the simulated adapter again.
    func plug(_ port: FakePort) { port.plug() }

    /// Runs `body` with the simulated adapter on the loop's thread.
    func fake<Value: Sendable>(_ body: @Sendable (FakeAdapter) -> Value) throws -> Value {
        guard let fake = roles.value.core.adapter as? FakeAdapter else { throw BluetoothError.notConnected }
        return body(fake)
    }

    /// Waits up to two minutes until the simulated adapter meets a condition.
    func until(_ condition: @Sendable (FakeAdapter) -> Bool) async throws -> Bool {
        for _ in 0..<12_000 {
            if try fake(condition) { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }
}

/// Device of the tests: a battery service at 0x0010, with its level at 0x0012 and the configuration at 0x0013.
enum Script {
    static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
    static let battery = BluetoothUUID(UInt16(0x180F))
    static let level = BluetoothUUID(UInt16(0x2A19))

    static let answers: [[UInt8]: [UInt8]] = [
        // MTU exchange: 517 requested, 100 in the response.
        [0x02, 0x05, 0x02]: [0x03, 0x64, 0x00],
        // Finds the service by its UUID, and no second one.
        [0x06, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28, 0x0F, 0x18]: [0x07, 0x10, 0x00, 0x14, 0x00],
        [0x06, 0x15, 0x00, 0xFF, 0xFF, 0x00, 0x28, 0x0F, 0x18]: [0x01, 0x06, 0x15, 0x00, 0x0A],
        // All services.
        [0x10, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28]: [0x11, 0x06, 0x10, 0x00, 0x14, 0x00, 0x0F, 0x18],
        [0x10, 0x15, 0x00, 0xFF, 0xFF, 0x00, 0x28]: [0x01, 0x10, 0x15, 0x00, 0x0A],
        // Characteristics: readable, writable, with notifications.
        [0x08, 0x10, 0x00, 0x14, 0x00, 0x03, 0x28]: [0x09, 0x07, 0x11, 0x00, 0x1A, 0x12, 0x00, 0x19, 0x2A],
        [0x08, 0x12, 0x00, 0x14, 0x00, 0x03, 0x28]: [0x01, 0x08, 0x12, 0x00, 0x0A],
        // No included services.
        [0x08, 0x10, 0x00, 0x14, 0x00, 0x02, 0x28]: [0x01, 0x08, 0x10, 0x00, 0x0A],
        // Descriptors.
        [0x04, 0x13, 0x00, 0x14, 0x00]: [0x05, 0x01, 0x13, 0x00, 0x02, 0x29],
        [0x04, 0x14, 0x00, 0x14, 0x00]: [0x01, 0x04, 0x14, 0x00, 0x0A],
        // Subscribing and unsubscribing.
        [0x12, 0x13, 0x00, 0x01, 0x00]: [0x13],
        [0x12, 0x13, 0x00, 0x00, 0x00]: [0x13],
        // Reads and writes 0x0012; reading 0x0014 is refused.
        [0x0A, 0x12, 0x00]: [0x0B, 0x64],
        [0x0C, 0x12, 0x00, 0x00, 0x00]: [0x0D, 0x64],
        [0x12, 0x12, 0x00, 0x2A]: [0x13],
        [0x0A, 0x14, 0x00]: [0x01, 0x0A, 0x14, 0x00, 0x02],
        // Long and reliable write of two bytes.
        [0x16, 0x12, 0x00, 0x00, 0x00, 0x01, 0x02]: [0x17, 0x12, 0x00, 0x00, 0x00, 0x01, 0x02],
        [0x18, 0x01]: [0x19],
    ]

    /// Device without a Heart Rate service.
    static let withoutHeartRate: [[UInt8]: [UInt8]] = [
        [0x06, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28, 0x0D, 0x18]: [0x01, 0x06, 0x01, 0x00, 0x0A]
    ]

    /// Generic Access service with a name of three letters and padding.
    static let genericAccess: [[UInt8]: [UInt8]] = [
        [0x06, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28, 0x00, 0x18]: [0x07, 0x01, 0x00, 0x05, 0x00],
        [0x06, 0x06, 0x00, 0xFF, 0xFF, 0x00, 0x28, 0x00, 0x18]: [0x01, 0x06, 0x06, 0x00, 0x0A],
        [0x08, 0x01, 0x00, 0x05, 0x00, 0x03, 0x28]: [0x09, 0x07, 0x02, 0x00, 0x02, 0x03, 0x00, 0x00, 0x2A],
        [0x08, 0x03, 0x00, 0x05, 0x00, 0x03, 0x28]: [0x01, 0x08, 0x03, 0x00, 0x0A],
        [0x0A, 0x03, 0x00]: [0x0B, 0x53, 0x63, 0x61, 0x00, 0x20],
    ]

    static func play(_ adapter: FakeAdapter) { adapter.answers = answers }
}
