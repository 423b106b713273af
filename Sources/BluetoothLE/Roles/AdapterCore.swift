// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
package import LinuxIO

/// Readies an adapter on a loop and calls back once, later.
package typealias AdapterOpener =
    @Sendable (EventLoop, @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void) throws(AdapterError) -> Void

/// One adapter for ever: it is opened, used by both roles, and looked for again when it is lost.
///
/// To be used on the loop's thread.
final class AdapterCore {
    /// How soon a lost adapter is looked for again.
    private static let interval = Duration.seconds(3)

    let loop: EventLoop
    private let opener: AdapterOpener
    private(set) var backend: (any LowEnergyAdapter)?
    private(set) var state = BluetoothState.unknown
    /// Why there is no backend.
    private(set) var failure: BluetoothError?
    private var didStart = false
    private var replies: [Reply<Void>] = []
    private var watchers: [UInt64: BoundedSequence<BluetoothState>.Source] = [:]
    private var lastWatcher: UInt64 = 0
    private(set) lazy var central = CentralCore(self)
    /// The server that advertises here.
    weak var server: ServerCore?

    init(_ loop: EventLoop, _ opener: @escaping AdapterOpener) {
        self.loop = loop
        self.opener = opener
    }

    /// Opens the adapter, the first time; `reply` hears how the first attempt ended.
    func start(_ reply: Reply<Void>? = nil) {
        if let reply {
            if backend != nil { return reply.give(.success(())) }
            if let failure { return reply.give(.failure(failure)) }
            replies.append(reply)
        }
        guard !didStart else { return }
        didStart = true
        open()
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

    /// The adapter, or why there is none.
    func ready() throws(BluetoothError) -> any LowEnergyAdapter {
        if let backend { return backend }
        throw failure ?? .unavailable(state, cause: "Bluetooth is not ready yet", remedy: nil)
    }

    private func open() {
        do throws(AdapterError) {
            try opener(loop) { [weak self] result in self?.opened(result) }
        } catch {
            opened(.failure(error))
        }
    }

    private func opened(_ result: Result<any LowEnergyAdapter, AdapterError>) {
        switch result {
        case .success(let adapter):
            backend = adapter
            failure = nil
            adapter.onLoss = { [weak self] reason in self?.lost(reason) }
            enter(.poweredOn)
        case .failure(let error):
            let error = BluetoothError(error)
            failure = error
            if case .unavailable(let state, _, _) = error { enter(state) }
            openLater()
        }
        let waiting = replies
        replies = []
        for reply in waiting { reply.give(failure.map { .failure($0) } ?? .success(())) }
    }

    private func lost(_ reason: String) {
        guard backend != nil else { return }
        backend = nil
        failure = .unavailable(.resetting, cause: reason, remedy: nil)
        central.adapterLost(reason)
        server?.adapterLost(reason)
        enter(.resetting)
        openLater()
    }

    private func openLater() {
        _ = loop.schedule(at: MonotonicClock.now + Self.interval) { [weak self] in self?.open() }
    }

    private func enter(_ state: BluetoothState) {
        guard state != self.state else { return }
        self.state = state
        for watcher in watchers.values { watcher.send(state) }
    }
}
