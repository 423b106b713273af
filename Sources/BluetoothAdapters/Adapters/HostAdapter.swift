// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO
import SystemPackage

/// An adapter for a controller used exclusively by this process: this library's host stack on the event loop.
package final class HostAdapter: LowEnergyAdapter {
    let loop: EventLoop
    let transport: any PacketTransport
    private(set) var host: LowEnergyHost
    private var channels: [UInt16: HostChannel] = [:]
    private var attempts: [HostAttempt] = []
    private var onReady: ((Result<Void, AdapterError>) -> Void)?
    private var disconnecting: [(handle: UInt16, completion: () -> Void)] = []
    private var onConnection: ((any ATTChannel) -> Void)?
    private var onAdvertising: ((Result<Void, AdapterError>) -> Void)?
    private var onAdvertisingStopped: [() -> Void] = []
    private let timer = LoopTimer()
    private var timerDeadline: Duration?
    private var isPumping = false
    private var isPumpScheduled = false
    private(set) var isOpen = true
    private var onReleased: (() -> Void)?
    weak var activeScanner: HostScanner?
    /// The pairing started by the user.
    weak var pairing: HostPairing?
    /// The pairable mode, in which centrals may pair.
    weak var window: HostPairableMode?

    /// Maximum time to wait for the response to the last Reset.
    private static let releaseTimeout = Duration.seconds(1)

    package let name: String
    package var onLoss: ((AdapterLoss) -> Void)?
    /// Never called: a suspend of the machine does not affect the controller.
    package var onWake: (() -> Void)?
    /// Never called: this process sends the connection commands itself.
    package var onStalledConnection: (() -> Void)?
    package var isConnected: Bool { !host.connections.isEmpty }
    /// The handler of a change of the bonds that this host uses, other than by a new pairing.
    package var onBonds: (([Bond]) -> Void)?
    /// The handler of every HCI packet, for a capture; `isSent` is true for a packet to the controller.
    package var onPacket: ((_ isSent: Bool, Span<UInt8>) -> Void)?

    /// Creates an adapter; `start` sends the first command to the controller.
    package init(name: String, transport: any PacketTransport, on loop: EventLoop) {
        self.name = name
        self.loop = loop
        self.transport = transport
        host = LowEnergyHost(randomAddress: BluetoothAddress(rawValue: UInt64.random(in: 1...UInt64.max)))
        transport.onReceive = { [weak self] packet in self?.receive(packet) }
        transport.onClosed = { [weak self] reason in self?.lose(reason) }
        transport.onUnreadable = { [weak self] in self?.beginAnew() ?? false }
    }

    deinit { close() }

    /// Initialises the controller.
    ///
    /// `completion` is called once, asynchronously. Call the method only once.
    package func start(completion: @escaping (Result<Void, AdapterError>) -> Void) {
        onReady = completion
        flush()
    }

    package func restart(_ cause: String) { lose(cause) }

    /// Resets and releases the controller without waiting for its response; no handler is called afterwards.
    package func close() {
        if isOpen { reset() }
        let wasReleased = onReleased
        onReleased = nil
        closeTransport()
        wasReleased?()
    }

    /// Resets the controller, and releases it when it has answered or after `releaseTimeout`.
    ///
    /// Without this wait, the Reset of the next host could arrive before this one.
    package func release(completion: @escaping () -> Void) {
        guard isOpen else { return completion() }
        onReleased = completion
        transport.onReceive = { [weak self] packet in self?.receiveLast(packet) }
        transport.onClosed = { [weak self] _ in self?.close() }
        transport.onUnreadable = nil
        reset()
        // The handler keeps the adapter alive until the time-out.
        timer.set(on: loop, after: Self.releaseTimeout) { [self] in close() }
    }

    /// Sends a Reset, which ends all activity of the controller; best effort, because the transport may be closed.
    private func reset() {
        isOpen = false
        timer.cancel()
        onLoss = nil
        onReady = nil
        // A Reset in progress has the same effect.
        guard !host.isAwaitingReset else { return }
        let reset = HCICommand.reset.encoded
        onPacket?(true, reset.span)
        transport.send(reset)
    }

    private func receiveLast(_ packet: Span<UInt8>) {
        onPacket?(false, packet)
        guard let event = try? HCIEvent(packet) else { return }
        switch event {
        case .commandComplete(_, .reset, _), .commandStatus(_, _, .reset): close()
        default: break
        }
    }

    private func closeTransport() {
        timer.cancel()
        transport.onReceive = nil
        transport.onClosed = nil
        transport.onUnreadable = nil
        transport.close()
    }

    /// The address that peers see; zero before the adapter is ready.
    package var address: BluetoothAddress { host.ownAddress?.address ?? BluetoothAddress(rawValue: 0) }
    /// The address that peers see, with its type; nil before the adapter is ready.
    package var deviceAddress: DeviceAddress? { host.ownAddress }
    package var counters: LowEnergyHost.Counters { host.counters }

    package func connect(
        to device: DeviceAddress,
        timeout: Duration,
        completion: @escaping (Result<any ATTChannel, LinkFailure>) -> Void
    ) throws(LinkFailure) -> any ConnectionAttempt {
        guard isOpen, host.failure == nil else { throw .system(.operationNotSupportedByDevice) }
        guard !attempts.contains(where: { $0.device == device }) else { throw .system(.alreadyInProcess) }
        let attempt = HostAttempt(device, timeout, self, completion)
        attempts.append(attempt)
        host.connect(to: device, timeout: timeout, now: MonotonicClock.now)
        flush()
        return attempt
    }

    package func disconnect(_ device: DeviceAddress, completion: @escaping () -> Void) {
        guard let connection = host.connections.first(where: { $0.peer == device }) else {
            _ = loop.schedule(at: MonotonicClock.now, handler: completion)
            return
        }
        disconnecting.append((connection.handle, completion))
        end(connection)
    }

    package func advertise(
        _ advertisement: Advertisement,
        onConnection: @escaping (any ATTChannel) -> Void,
        completion: @escaping (Result<Void, AdapterError>) -> Void
    ) {
        let replaced = onAdvertising
        onAdvertising = nil
        replaced?(.failure(.controller("another advertisement took this one's place")))
        let kind: AdvertisingParameters.Kind =
            advertisement.isConnectable
            ? .connectable : advertisement.scanResponse.isEmpty ? .nonConnectable : .scannable
        let isTaken = host.advertise(
            AdvertisingParameters(kind: kind, interval: advertisement.intervalSlots),
            data: advertisement.data,
            scanResponse: advertisement.scanResponse
        )
        guard isTaken else {
            let reason =
                host.isReady
                ? "advertising data of \(advertisement.data.count) bytes and a scan response of "
                    + "\(advertisement.scanResponse.count) do not fit: each may have 31"
                : "the controller is not ready"
            _ = loop.schedule(at: MonotonicClock.now) { completion(.failure(.controller(reason))) }
            return
        }
        self.onConnection = onConnection
        onAdvertising = completion
        flush()
    }

    package func stopAdvertising(completion: @escaping () -> Void) {
        guard host.isReady else {
            _ = loop.schedule(at: MonotonicClock.now, handler: completion)
            return
        }
        onConnection = nil
        let replaced = onAdvertising
        onAdvertising = nil
        replaced?(.failure(.controller("advertising was stopped before it began")))
        onAdvertisingStopped.append(completion)
        host.stopAdvertising()
        flush()
    }

    // MARK: For channels, attempts and scanners

    func send(_ pdu: [UInt8], on handle: UInt16) -> Bool {
        let isTaken = host.send(pdu, on: handle)
        // Sends the packet immediately, even if a handler is running: if a disconnection followed, it would discard
        // packets that are still queued.
        if isPumping { sendOutgoing() } else { flush() }
        return isTaken
    }

    func end(_ connection: LowEnergyHost.Connection) {
        guard host.connections.contains(connection) else { return }
        host.disconnect(connection.handle, now: MonotonicClock.now)
        flush()
    }

    func cancel(_ attempt: HostAttempt) {
        guard let index = attempts.firstIndex(where: { $0 === attempt }) else { return }
        attempts.remove(at: index)
        host.cancelConnection(to: attempt.device, now: MonotonicClock.now)
        flush()
    }

    func perform<Result, Failure: Error>(
        _ body: (inout LowEnergyHost) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bonds = onBonds == nil ? [] : host.bonds
        defer {
            flush()
            if let onBonds, bonds != host.bonds { onBonds(host.bonds) }
        }
        return try body(&host)
    }

    /// Calls `handler` from the loop, after the current call has returned.
    func later(_ handler: @escaping () -> Void) {
        _ = loop.schedule(at: MonotonicClock.now, handler: handler)
    }

    // MARK: Event loop

    private func receive(_ packet: Span<UInt8>) {
        guard isOpen else { return }
        onPacket?(false, packet)
        let now = MonotonicClock.now
        host.receive(packet, now: now)
        pump()
        activeScanner?.onPacket?(packet, now)
    }

    /// Reinitialises the controller, and returns true, if it was taken over in the middle of a packet; otherwise
    /// returns false.
    private func beginAnew() -> Bool {
        guard isOpen, host.beginAnew() else { return false }
        flush()
        return true
    }

    /// Reports the events of the host stack, and sends the queued packets.
    private func pump() {
        // A handler may call this method again. The loop below does the work, so no nested loop is started.
        guard isOpen, !isPumping else { return }
        isPumping = true
        repeat {
            while isOpen, let event = host.nextEvent() { handle(event) }
            sendOutgoing()
        } while isOpen && host.hasEvents
        isPumping = false
        armTimer()
    }

    /// Sends the queued packets, but leaves the events to be reported later from the loop.
    private func flush() {
        guard isOpen, !isPumping else { return }
        sendOutgoing()
        armTimer()
        guard host.hasEvents, !isPumpScheduled else { return }
        isPumpScheduled = true
        later { [weak self] in
            self?.isPumpScheduled = false
            self?.pump()
        }
    }

    private func sendOutgoing() {
        while isOpen, let packet = host.nextOutgoing(now: MonotonicClock.now) {
            onPacket?(true, packet.span)
            transport.send(packet)
        }
    }

    /// Sets the timer to the next deadline.
    ///
    /// If the timer is already set to an earlier time, it is not changed; it is set again when it fires.
    private func armTimer() {
        guard isOpen, let deadline = host.deadline else { return }
        if timer.isSet, let timerDeadline, timerDeadline <= deadline { return }
        timerDeadline = deadline
        timer.set(on: loop, at: deadline) { [weak self] in
            guard let self else { return }
            host.handleDeadline(now: MonotonicClock.now)
            pump()
        }
    }

    private func handle(_ event: LowEnergyHost.Event) {
        switch event {
        case .ready: report(.success(()))
        case .failed(.noAnswer(.reset)) where transport.droppedBytes > 0:
            lose("\(HostFailure.noAnswer(.reset)); \(transport.droppedBytes) bytes came that are no answer to it")
        case .failed(let failure): lose("\(failure)")
        case .connected(let connection): admit(connection)
        case .connectionFailed(let device, let failure):
            guard let index = attempts.firstIndex(where: { $0.device == device }) else { return }
            let attempt = attempts.remove(at: index)
            switch failure {
            case .timedOut: attempt.finish(.failure(.timedOut(attempt.timeout)))
            case .status(let status): attempt.finish(.failure(LinkFailure(status)))
            case .refused(let opcode, let status): attempt.finish(.failure(.refused("\(opcode)", "\(status)")))
            }
        case .disconnected(let connection, let reason):
            channels.removeValue(forKey: connection.handle)?.noteEnd(LinkFailure(reason))
            window?.noteEnd(of: connection)
            let completions = disconnecting.filter { $0.handle == connection.handle }
            disconnecting.removeAll { $0.handle == connection.handle }
            for entry in completions { entry.completion() }
        case .timed(let handle, let timing): channels[handle]?.take(timing)
        case .received(let handle, let pdu): channels[handle]?.receive(pdu)
        case .security(let handle, .changed(let security)): channels[handle]?.take(security)
        case .security(let handle, let news):
            pairing?.take(news, of: handle)
            if let connection = channels[handle]?.connection { window?.take(news, of: connection) }
        case .writable(let handle): channels[handle]?.onWritable?()
        case .advertisingStarted: finishAdvertising(.success(()))
        case .advertisingFailed(let failure): finishAdvertising(.failure(.controller("cannot advertise: \(failure)")))
        case .advertisingStopped:
            let completions = onAdvertisingStopped
            onAdvertisingStopped = []
            for completion in completions { completion() }
        case .scanStarted: activeScanner?.noteStart()
        case .scanStopped: activeScanner?.noteStop()
        case .scanFailed(let failure): activeScanner?.noteFailure(.controller(failure))
        case .scanned(let update): activeScanner?.onUpdate?(update)
        }
    }

    private func admit(_ connection: LowEnergyHost.Connection) {
        let channel = HostChannel(connection, self)
        switch connection.role {
        case .central:
            guard let index = attempts.firstIndex(where: { $0.device == connection.peer }) else {
                host.disconnect(connection.handle, now: MonotonicClock.now)
                return
            }
            channels[connection.handle] = channel
            attempts.remove(at: index).finish(.success(channel))
        case .peripheral:
            guard let onConnection else {
                host.disconnect(connection.handle, now: MonotonicClock.now)
                return
            }
            channels[connection.handle] = channel
            onConnection(channel)
        }
    }

    private func finishAdvertising(_ result: Result<Void, AdapterError>) {
        let completion = onAdvertising
        onAdvertising = nil
        if case .failure = result { onConnection = nil }
        completion?(result)
    }

    private func report(_ result: Result<Void, AdapterError>) {
        let completion = onReady
        onReady = nil
        completion?(result)
    }

    /// Ends all operations after the host stack has failed or the connection to the controller was lost.
    private func lose(_ reason: String) {
        guard isOpen else { return }
        isOpen = false
        closeTransport()
        let failure = LinkFailure.adapterLost(reason)
        for attempt in attempts { attempt.finish(.failure(failure)) }
        attempts = []
        for channel in channels.values { channel.noteEnd(failure) }
        channels = [:]
        for entry in disconnecting { entry.completion() }
        disconnecting = []
        finishAdvertising(.failure(.controller(reason)))
        let stopped = onAdvertisingStopped
        onAdvertisingStopped = []
        for completion in stopped { completion() }
        if onReady != nil {
            report(.failure(.controller(reason)))
        } else {
            onLoss?(.failed(name, cause: reason))
        }
        // Notify the scan last: its error does not state the cause, which the handlers above have already received.
        activeScanner?.noteFailure(.adapterGone)
    }
}
