// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import LinuxIO

/// The state of an application's `BluetoothAdapter` on the loop's thread.
///
/// It consists of the adapter, the tasks that wait for the adapter, the central role, and the pairings.
final class AdapterRoles {
    let core: AdapterCore
    /// The state of the central role: its scan and its connections.
    let central: CentralCore
    /// The pairings and bonds of both roles.
    let pairings: PairingCore

    private var replies: [Reply<Void>] = []
    private var watchers: [UInt64: BoundedSequence<BluetoothState>.Source] = [:]
    private var lastWatcher: UInt64 = 0
    /// The last state that was sent to the watchers.
    private var state = BluetoothState.unknown

    init(_ core: AdapterCore) {
        self.core = core
        central = CentralCore(core.radio)
        pairings = PairingCore(core.radio)
        core.onEvent = { [unowned self] event in take(event) }
    }

    /// Starts opening the adapter; `reply` receives the result of the first attempt.
    func start(_ reply: Reply<Void>) {
        if core.adapter != nil { return reply.give(.success(())) }
        if core.state != .unknown { return reply.give(.failure(core.radio.absence)) }
        replies.append(reply)
        core.start()
    }

    /// Sends the current state and each new state to `source`; returns the identifier for `unwatch`.
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

    private func take(_ event: AdapterCore.Event) {
        tellWatchers(core.state)
        switch event {
        case .ready(let adapter):
            answer(.success(()))
            pairings.use(on: adapter)
        case .failed: answer(.failure(core.radio.absence))
        case .lost(let loss):
            central.adapterLost(loss.cause)
            pairings.adapterLost()
        }
    }

    private func tellWatchers(_ state: BluetoothState) {
        guard state != self.state else { return }
        self.state = state
        for watcher in watchers.values { watcher.send(state) }
    }

    private func answer(_ outcome: Reply<Void>.Outcome) {
        let waiting = replies
        replies = []
        for reply in waiting { reply.give(outcome) }
    }
}
