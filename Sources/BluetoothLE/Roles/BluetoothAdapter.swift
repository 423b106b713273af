// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
public import BluetoothPackets
package import LinuxIO

/// A Bluetooth adapter of this machine.
///
/// It is the argument for creating a `Central` and a `PeripheralServer`.
///
/// The adapter and the objects created from it run on one thread, which reads the sockets. A lost adapter is reopened
/// as soon as it is available again; the application must restart scans, connections and advertising.
public actor BluetoothAdapter {
    nonisolated let thread: LoopThread
    nonisolated let roles: LoopBound<AdapterRoles>

    /// The executor of the thread on which the adapter and the objects created from it run.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.executor.asUnownedSerialExecutor()
    }

    /// Creates an adapter that `opener` opens on a thread, which may be shared with other adapters.
    package init(on thread: LoopThread, opener: @escaping SendableAdapterOpener) {
        self.thread = thread
        roles = LoopBound(to: thread.executor) { loop in AdapterRoles(AdapterCore(loop, opener)) }
    }

    /// Creates an adapter that `opener` opens on its own thread; throws if the thread cannot be created.
    package init(opener: @escaping SendableAdapterOpener) throws(BluetoothError) {
        self.init(on: try Self.makeThread(), opener: opener)
    }

    package static func makeThread() throws(BluetoothError) -> LoopThread {
        do {
            return try LoopThread(name: "bluetooth")
        } catch {
            throw .unavailable(
                .unknown,
                cause: AdapterErrorDescription.system("make an event loop", "\(error)"),
                remedy: nil
            )
        }
    }

    /// Creates an adapter that `start` opens; its state is `unknown` until then.
    ///
    /// Throws if the adapter's event loop cannot be created.
    public init(_ transport: AdapterTransport = .any) throws(BluetoothError) {
        try self.init { (loop, completion) throws(AdapterError) in
            try LowEnergyAdapters.open(transport, on: loop, completion: completion)
        }
    }

    /// Finds an adapter and powers it on.
    ///
    /// Throws `unavailable`, with the cause and a remedy, if the adapter cannot be used now.
    public static func open(_ transport: AdapterTransport = .any) async throws(BluetoothError) -> BluetoothAdapter {
        let adapter = try BluetoothAdapter(transport)
        try await adapter.start()
        return adapter
    }

    /// Opens the adapter.
    ///
    /// Throws `unavailable`, with the cause and a remedy, if the adapter cannot be used now. Attempts to open it
    /// continue in that case, and `states` reports their success.
    public func start() async throws(BluetoothError) {
        let reply = Reply<Void>()
        core.start(reply)
        try await reply.value()
    }

    private var core: AdapterCore { roles.value.core }

    /// The current state.
    public var state: BluetoothState { core.state }

    /// The adapter's public address; nil while no adapter is open.
    public var address: BluetoothAddress? { core.adapter?.address }

    /// The adapter's name, such as `hci0`; nil while no adapter is open.
    public var name: String? { core.adapter?.name }

    /// Returns a sequence of the current state and each new one (CB-1).
    ///
    /// At most 64 states are buffered; on overflow the oldest is discarded.
    public func states() -> BoundedSequence<BluetoothState> {
        let roles = roles
        let identifier = core.nextWatcher()
        let executor = thread.executor
        let states = BoundedSequence<BluetoothState>(capacity: 64, dropping: .oldest) { [weak roles] in
            executor.submit { [weak roles] in roles?.value.core.unwatch(identifier) }
        }
        _ = core.watch(states.source)
        return states
    }
}

/// A function that prepares an adapter for use on a loop.
///
/// It calls its completion handler once, later, on the loop's thread; it throws if opening cannot be started.
package typealias AdapterOpener =
    (EventLoop, @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void) throws(AdapterError) -> Void

/// An `AdapterOpener` that may be called on any thread.
package typealias SendableAdapterOpener =
    @Sendable (EventLoop, @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void) throws(AdapterError) -> Void

/// The owner of one adapter: opens it, shares its radio through an arbiter, and retries every 3 s after a loss or a
/// failure.
///
/// Every method is called on the loop's thread.
package final class AdapterCore {
    /// A change of the adapter's availability, or a failed attempt to open it.
    package enum Event {
        case ready(any LowEnergyAdapter)
        /// The adapter could not be opened; the next attempt follows in 3 s.
        case failed(AdapterError)
        /// The adapter was lost; the next attempt to open it follows in 3 s.
        case lost(AdapterLoss)
    }

    /// The time from a loss, or from a failed attempt, to the next attempt to open the adapter.
    private static let interval = Duration.seconds(3)

    /// The loop whose thread calls all methods and handlers.
    package let loop: EventLoop
    /// The arbiter of the adapter's radio; all scans, connections and advertising go through it.
    package let radio: RadioArbiter
    /// The handler of events, called on the loop's thread.
    package var onEvent: ((Event) -> Void)?
    /// A filter of adapters by name, called before opening if the transport contains the name, and before use.
    ///
    /// An adapter for which it returns false is not opened, or closed again, and the next attempt follows in 3 s.
    /// Without a filter every adapter is used.
    package var isAdmitted: ((_ name: String) -> Bool)?
    /// A function that returns true if the adapter's previous process ended without releasing it, for example by
    /// SIGKILL.
    ///
    /// It is called after `isAdmitted`. Such an adapter is renewed before use, because its controller may still execute
    /// that process's operations.
    package var isAbandoned: (() -> Bool)?

    private let opener: AdapterOpener
    /// The adapter's name if opening it would disturb its current user; nil otherwise.
    private let exclusiveName: String?
    /// The current state, which `watch` reports.
    private(set) var state = BluetoothState.unknown
    private var isStarted = false
    private var isStopped = false
    private let timer = LoopTimer()
    private var replies: [Reply<Void>] = []
    private var watchers: [UInt64: BoundedSequence<BluetoothState>.Source] = [:]
    private var lastWatcher: UInt64 = 0

    /// Creates a core whose adapter `start` opens.
    package convenience init(_ loop: EventLoop, _ opener: @escaping AdapterOpener) {
        self.init(loop, watching: ScanWatch(), RadioArbiter.Limits(), opener)
    }

    init(
        _ loop: EventLoop,
        watching watch: ScanWatch,
        _ limits: RadioArbiter.Limits,
        exclusive name: String? = nil,
        _ opener: @escaping AdapterOpener
    ) {
        self.loop = loop
        self.opener = opener
        exclusiveName = name
        radio = RadioArbiter(on: loop, watch, limits)
        radio.onAdapterGone = { [weak self] in
            self?.lost(.failed(self?.adapter?.name ?? "", cause: ScanError.adapterGone.cause))
        }
    }

    /// Creates a core that opens its adapter over a transport; `capture` records the adapter's packets.
    package convenience init(_ loop: EventLoop, _ transport: AdapterTransport, capture: TrafficCapture? = nil) {
        // An adapter gets a new index each time it is plugged in, so it is identified by its address.
        var known: BluetoothAddress?
        self.init(loop, watching: ScanWatch(), RadioArbiter.Limits(), exclusive: transport.exclusiveName) {
            loop,
            completion throws(AdapterError) in
            try LowEnergyAdapters.open(transport, on: loop, known: known, capture: capture) { result in
                if case .success(let adapter) = result { known = adapter.address }
                completion(result)
            }
        }
    }

    /// Creates a core for an adapter of this process's host stack; `start` initialises it.
    package convenience init(_ loop: EventLoop, starting adapter: HostAdapter) {
        self.init(loop) { _, completion in adapter.start { result in completion(result.map { adapter }) } }
    }

    /// Creates a core for an open adapter.
    package convenience init(_ loop: EventLoop, using adapter: any LowEnergyAdapter) {
        self.init(loop) { _, completion in completion(.success(adapter)) }
    }

    package var adapter: (any LowEnergyAdapter)? { radio.adapter }

    /// Starts opening the adapter, and retries until `stop`; calls after the first do nothing.
    package func start() {
        guard !isStarted else { return }
        isStarted = true
        open()
    }

    /// Starts opening the adapter, like `start()`; `reply` receives the result of the first attempt.
    func start(_ reply: Reply<Void>) {
        if adapter != nil { return reply.give(.success(())) }
        if state != .unknown { return reply.give(.failure(radio.absence)) }
        replies.append(reply)
        start()
    }

    /// Stops the attempts to open an adapter; an open adapter remains open.
    package func stop() {
        isStopped = true
        timer.cancel()
    }

    /// Stops the attempts to open an adapter, and releases an open one; `completion` is called when another program may
    /// use it.
    package func release(completion: @escaping () -> Void) {
        stop()
        guard let adapter else { return completion() }
        adapter.release(completion: completion)
    }

    /// Sends the current state and each new one to `source`; returns the identifier for `unwatch`.
    func watch(_ source: BoundedSequence<BluetoothState>.Source) -> UInt64 {
        lastWatcher &+= 1
        watchers[lastWatcher] = source
        source.send(state)
        return lastWatcher
    }

    /// Ends the watch with this identifier.
    func unwatch(_ identifier: UInt64) { watchers[identifier] = nil }

    /// Returns the identifier that the next call of `watch` will return.
    func nextWatcher() -> UInt64 { lastWatcher &+ 1 }

    private func open() {
        guard !isStopped else { return }
        if let exclusiveName, let isAdmitted, !isAdmitted(exclusiveName) { return openLater() }
        do throws(AdapterError) {
            try opener(loop) { [weak self] result in self?.opened(result) }
        } catch {
            opened(.failure(error))
        }
    }

    private func opened(_ result: Result<any LowEnergyAdapter, AdapterError>) {
        switch result {
        case .success(let adapter):
            guard !isStopped, isAdmitted?(adapter.name) ?? true else {
                adapter.close()
                return openLater()
            }
            if isAbandoned?() == true { renew(adapter) } else { use(adapter) }
        case .failure(let error):
            radio.absence = BluetoothError(error)
            if case .unavailable(let state, _, _) = radio.absence { enter(state) }
            openLater()
            reply(.failure(radio.absence))
            onEvent?(.failed(error))
        }
    }

    private func renew(_ adapter: any LowEnergyAdapter) {
        var loss: AdapterLoss?
        adapter.onLoss = { loss = $0 }
        adapter.renew { [weak self] isRestarted in
            guard let self, !isStopped else { return adapter.close() }
            if isRestarted { radio.noteRestart() }
            use(adapter)
            if let loss { lost(loss) }
        }
    }

    private func use(_ adapter: any LowEnergyAdapter) {
        adapter.onLoss = { [weak self] loss in self?.lost(loss) }
        radio.use(adapter)
        enter(.poweredOn)
        reply(.success(()))
        onEvent?(.ready(adapter))
    }

    private func reply(_ outcome: Reply<Void>.Outcome) {
        let waiting = replies
        replies = []
        for reply in waiting { reply.give(outcome) }
    }

    private func lost(_ loss: AdapterLoss) {
        guard let adapter else { return }
        adapter.onLoss = nil
        radio.lose(loss)
        enter(loss.state)
        openLater()
        onEvent?(.lost(loss))
    }

    private func openLater() {
        guard !isStopped else { return }
        timer.set(on: loop, after: Self.interval) { [weak self] in self?.open() }
    }

    private func enter(_ state: BluetoothState) {
        guard state != self.state else { return }
        self.state = state
        for watcher in watchers.values { watcher.send(state) }
    }
}
