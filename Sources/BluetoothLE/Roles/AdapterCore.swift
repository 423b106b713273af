// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
package import LinuxIO

/// Readies an adapter on a loop and calls back once, later.
package typealias AdapterOpener =
    (EventLoop, @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void) throws(AdapterError) -> Void

/// An opener that may be called on any thread.
package typealias SendableAdapterOpener =
    @Sendable (EventLoop, @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void) throws(AdapterError) -> Void

/// One adapter for ever: it is opened, used through its arbiter, and looked for again when it is lost.
///
/// To be used on the loop's thread.
package final class AdapterCore {
    /// An adapter has come or gone, or is still not there.
    package enum Event {
        /// It can be used.
        case ready(any LowEnergyAdapter)
        /// It cannot be used, and is looked for again.
        case failed(AdapterError)
        /// The one of that name has gone for the reason told, and is looked for again.
        case lost(name: String, String)
    }

    /// How soon a lost adapter is looked for again.
    private static let interval = Duration.seconds(3)

    /// The loop on whose thread everything happens.
    package let loop: EventLoop
    /// Who may use the adapter's radio.
    package let radio: RadioArbiter
    /// The central's part.
    let central: CentralCore
    /// Told what becomes of the adapter.
    package var onEvent: ((Event) -> Void)?
    /// Asked before an adapter that was opened is used; one that is refused is let go of, and looked for again.
    package var isAdmitted: ((any LowEnergyAdapter) -> Bool)?

    private let opener: AdapterOpener
    private(set) var state = BluetoothState.unknown
    private var isStarted = false
    private var isStopped = false
    private var timer: EventLoop.Timer?
    private var replies: [Reply<Void>] = []
    private var watchers: [UInt64: BoundedSequence<BluetoothState>.Source] = [:]
    private var lastWatcher: UInt64 = 0

    /// An adapter that is not looked for yet.
    package init(_ loop: EventLoop, _ opener: @escaping AdapterOpener) {
        self.loop = loop
        self.opener = opener
        radio = RadioArbiter(on: loop)
        central = CentralCore(radio)
        radio.onAdapterGone = { [weak self] in self?.lost(ScanError.adapterGone.cause) }
    }

    /// An adapter that is opened over a transport; `capture` records its packets.
    package convenience init(_ loop: EventLoop, _ transport: AdapterTransport, capture: TrafficCapture? = nil) {
        self.init(loop) { loop, completion throws(AdapterError) in
            try LowEnergyAdapters.open(transport, on: loop, capture: capture, completion: completion)
        }
    }

    /// An adapter of our own host, which is started.
    package convenience init(_ loop: EventLoop, starting adapter: HostAdapter) {
        self.init(loop) { _, completion in adapter.start { result in completion(result.map { adapter }) } }
    }

    /// An adapter that is open already.
    package convenience init(_ loop: EventLoop, using adapter: any LowEnergyAdapter) {
        self.init(loop) { _, completion in completion(.success(adapter)) }
    }

    /// The adapter; nil while there is none.
    package var adapter: (any LowEnergyAdapter)? { radio.adapter }

    /// Opens the adapter, the first time, and looks for it for ever after.
    package func start() {
        guard !isStarted else { return }
        isStarted = true
        open()
    }

    /// Opens the adapter, the first time; `reply` hears how the first attempt ended.
    func start(_ reply: Reply<Void>) {
        if adapter != nil { return reply.give(.success(())) }
        if state != .unknown { return reply.give(.failure(radio.absence)) }
        replies.append(reply)
        start()
    }

    /// Looks for it no more; the one that is there stays open.
    package func stop() {
        isStopped = true
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    /// Hears of every state from now on, the present one first.
    func watch(_ source: BoundedSequence<BluetoothState>.Source) -> UInt64 {
        lastWatcher &+= 1
        watchers[lastWatcher] = source
        source.send(state)
        return lastWatcher
    }

    func unwatch(_ identifier: UInt64) { watchers[identifier] = nil }

    func nextWatcher() -> UInt64 { lastWatcher &+ 1 }

    private func open() {
        guard !isStopped else { return }
        do throws(AdapterError) {
            try opener(loop) { [weak self] result in self?.opened(result) }
        } catch {
            opened(.failure(error))
        }
    }

    private func opened(_ result: Result<any LowEnergyAdapter, AdapterError>) {
        switch result {
        case .success(let adapter):
            guard !isStopped, isAdmitted?(adapter) ?? true else {
                adapter.close()
                return openLater()
            }
            adapter.onLoss = { [weak self] reason in self?.lost(reason) }
            radio.use(adapter)
            enter(.poweredOn)
            reply(.success(()))
            onEvent?(.ready(adapter))
        case .failure(let error):
            radio.absence = BluetoothError(error)
            if case .unavailable(let state, _, _) = radio.absence { enter(state) }
            openLater()
            reply(.failure(radio.absence))
            onEvent?(.failed(error))
        }
    }

    private func reply(_ outcome: Reply<Void>.Outcome) {
        let waiting = replies
        replies = []
        for reply in waiting { reply.give(outcome) }
    }

    private func lost(_ reason: String) {
        guard let adapter else { return }
        adapter.onLoss = nil
        radio.lose(reason)
        central.adapterLost(reason)
        enter(.resetting)
        openLater()
        onEvent?(.lost(name: adapter.name, reason))
    }

    private func openLater() {
        guard !isStopped else { return }
        timer = loop.schedule(at: MonotonicClock.now + Self.interval) { [weak self] in
            self?.timer = nil
            self?.open()
        }
    }

    private func enter(_ state: BluetoothState) {
        guard state != self.state else { return }
        self.state = state
        for watcher in watchers.values { watcher.send(state) }
    }
}
