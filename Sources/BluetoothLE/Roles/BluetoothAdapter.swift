// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
public import BluetoothPackets
package import LinuxIO

/// A Bluetooth adapter of this machine.
///
/// A `Central` and a `PeripheralServer` are made from it.
///
/// The adapter and everything made from it run on one thread, which reads the sockets. An adapter that was lost is
/// opened again as soon as it is back; scans, connections and advertising have to be started again by the
/// application.
public actor BluetoothAdapter {
    nonisolated let thread: LoopThread
    nonisolated let roles: LoopBound<AdapterRoles>

    /// The executor of the thread on which the adapter and everything made from it run.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.executor.asUnownedSerialExecutor()
    }

    /// Makes an adapter that `opener` opens on a thread, which may be other adapters' too.
    package init(on thread: LoopThread, opener: @escaping SendableAdapterOpener) {
        self.thread = thread
        roles = LoopBound(to: thread.executor) { loop in AdapterRoles(AdapterCore(loop, opener)) }
    }

    /// Makes an adapter that `opener` opens on a thread of its own; throws if that cannot be made.
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

    /// Makes an adapter that is not opened before `start`; its state is `unknown` until then.
    ///
    /// Throws if the adapter's event loop cannot be made.
    public init(_ transport: AdapterTransport = .any) throws(BluetoothError) {
        try self.init { (loop, completion) throws(AdapterError) in
            try LowEnergyAdapters.open(transport, on: loop, completion: completion)
        }
    }

    /// Finds an adapter and switches it on.
    ///
    /// Throws `unavailable`, with the cause and a remedy, if it cannot be used now.
    public static func open(_ transport: AdapterTransport = .any) async throws(BluetoothError) -> BluetoothAdapter {
        let adapter = try BluetoothAdapter(transport)
        try await adapter.start()
        return adapter
    }

    /// Opens the adapter.
    ///
    /// Throws `unavailable`, with the cause and a remedy, if it cannot be used now; attempts to open it go on all the
    /// same, and `states` tells of their end.
    public func start() async throws(BluetoothError) {
        let reply = Reply<Void>()
        core.start(reply)
        try await reply.value()
    }

    private var core: AdapterCore { roles.value.core }

    /// The present state.
    public var state: BluetoothState { core.state }

    /// The adapter's public address; nil while the adapter is lost.
    public var address: BluetoothAddress? { core.adapter?.address }

    /// The adapter's name, such as `hci0`; nil while the adapter is lost.
    public var name: String? { core.adapter?.name }

    /// The present state, followed by each new one (CB-1).
    ///
    /// At most 64 states wait for the reader; beyond that the oldest is dropped.
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

/// A function that makes an adapter ready for use on a loop.
///
/// It calls its completion handler once, later, on the loop's thread; it throws when it cannot even begin.
package typealias AdapterOpener =
    (EventLoop, @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void) throws(AdapterError) -> Void

/// An `AdapterOpener` that may be called on any thread.
package typealias SendableAdapterOpener =
    @Sendable (EventLoop, @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void) throws(AdapterError) -> Void

/// The management of one adapter: opens it, lends its radio through an arbiter, and opens it again every 3 s after it
/// was lost or could not be opened.
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

    /// The loop on whose thread all methods and handlers are called.
    package let loop: EventLoop
    /// The arbiter of the adapter's radio; all scans, connections and advertising go through it.
    package let radio: RadioArbiter
    /// The handler of events, called on the loop's thread.
    package var onEvent: ((Event) -> Void)?
    /// A test of each adapter by its name: before it is opened where the transport names it, and before it is used.
    ///
    /// An adapter for which it returns false is not opened, or closed again, and the next attempt follows in 3 s. Without
    /// a test every adapter is used.
    package var isAdmitted: ((_ name: String) -> Bool)?
    /// Whether the process that had the adapter before has ended without giving it back, as by SIGKILL; asked when it
    /// was admitted.
    ///
    /// Such an adapter is renewed before it is used: what was begun may go on in its controller.
    package var isAbandoned: (() -> Bool)?

    private let opener: AdapterOpener
    /// The adapter's name, where opening it would already disturb who has it.
    private let exclusiveName: String?
    /// The present state, which `watch` reports.
    private(set) var state = BluetoothState.unknown
    private var isStarted = false
    private var isStopped = false
    private let timer = LoopTimer()
    private var replies: [Reply<Void>] = []
    private var watchers: [UInt64: BoundedSequence<BluetoothState>.Source] = [:]
    private var lastWatcher: UInt64 = 0

    /// Makes a core whose adapter is not opened before `start`.
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

    /// Makes a core whose adapter is opened over a transport; `capture` records the adapter's packets.
    package convenience init(_ loop: EventLoop, _ transport: AdapterTransport, capture: TrafficCapture? = nil) {
        // Numbers are given anew each time that an adapter is plugged in: its address tells which it was.
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

    /// Makes a core for an adapter of the host stack in this process, which `start` starts.
    package convenience init(_ loop: EventLoop, starting adapter: HostAdapter) {
        self.init(loop) { _, completion in adapter.start { result in completion(result.map { adapter }) } }
    }

    /// Makes a core for an adapter that is open already.
    package convenience init(_ loop: EventLoop, using adapter: any LowEnergyAdapter) {
        self.init(loop) { _, completion in completion(.success(adapter)) }
    }

    package var adapter: (any LowEnergyAdapter)? { radio.adapter }

    /// Begins to open the adapter, and keeps trying until `stop`; calls after the first do nothing.
    package func start() {
        guard !isStarted else { return }
        isStarted = true
        open()
    }

    /// Begins to open the adapter, as `start()` does; `reply` is given the result of the first attempt.
    func start(_ reply: Reply<Void>) {
        if adapter != nil { return reply.give(.success(())) }
        if state != .unknown { return reply.give(.failure(radio.absence)) }
        replies.append(reply)
        start()
    }

    /// Ends the attempts to open an adapter; an adapter that is open stays open.
    package func stop() {
        isStopped = true
        timer.cancel()
    }

    /// Ends the attempts to open an adapter, and releases one that is open; `completion` is called when somebody else may
    /// use it.
    package func release(completion: @escaping () -> Void) {
        stop()
        guard let adapter else { return completion() }
        adapter.release(completion: completion)
    }

    /// Sends the present state, then each new one, to `source`; returns the number for `unwatch`.
    func watch(_ source: BoundedSequence<BluetoothState>.Source) -> UInt64 {
        lastWatcher &+= 1
        watchers[lastWatcher] = source
        source.send(state)
        return lastWatcher
    }

    /// Ends the watch with this number.
    func unwatch(_ identifier: UInt64) { watchers[identifier] = nil }

    /// The number that the next call of `watch` returns.
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
