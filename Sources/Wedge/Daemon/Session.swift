// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Keystrokes
import Texts

/// The way from a chosen device to a link with it, as a pure state machine: events and time in, actions out.
///
/// It connects only to a device that it has just heard, so that an attempt is short, and it listens for as long as it
/// takes: that is how an advertisement brings an attempt forward (LK-16). No attempt begins sooner than `retryInterval`
/// after the end of the last one, or after a loss (LK-19). Where listening itself fails, nothing can be heard, and the
/// next try waits twice as long each time, up to `longestBackOff`. One link at a time: the next is not asked for before
/// the last is closed, or `closingTimeout` is over.
package struct Session: Sendable {
    /// How long after a loss or a failed attempt the next one may begin.
    package static let retryInterval = Duration.seconds(3)
    /// The longest pause between two tries to listen.
    package static let longestBackOff = Duration.seconds(60)
    /// How long the device may stay unheard before the state says so.
    package static let patience = Duration.seconds(10)
    /// How long until a device without the service is looked at again (D-5).
    package static let recheckInterval = Duration.seconds(600)
    /// How long an attempt may take that needs no handshake, from a device just heard to its subscription.
    package static let usualAttemptTimeout = Duration.seconds(15)
    /// How long the end of a link is waited for.
    package static let closingTimeout = Duration.seconds(5)

    private enum Adapter: Equatable {
        case unknown
        case ready
        case off(Reason)
        case forbidden(Reason)
    }

    private enum Phase {
        /// Nothing can be done, or nothing is wanted.
        case idle
        case closing(until: Duration)
        case resting(until: Duration)
        case listening(since: Duration, reported: Bool)
        case attempting(until: Duration)
        case connected
    }

    /// The state that was reported last.
    package private(set) var state: State
    private let attemptTimeout: Duration
    private var phase = Phase.idle
    private var adapter = Adapter.unknown
    private var isChosen: Bool
    private var isWanted = true
    /// Before this time no attempt begins, whoever asks.
    private var floor: Duration?
    /// Before this time none begins by itself.
    private var next: Duration?
    private var scanFailures = 0

    /// A session that knows nothing of its adapter yet.
    package init(isChosen: Bool, attemptTimeout: Duration = usualAttemptTimeout) {
        self.isChosen = isChosen
        self.attemptTimeout = attemptTimeout
        state = isChosen ? .connecting : .unselected
    }

    /// When `.deadline` wants to be told, if no other event comes first.
    package var deadline: Duration? {
        switch phase {
        case .closing(let until), .resting(let until), .attempting(let until): until
        case .listening(let since, reported: false): since + Self.patience
        case .idle, .listening, .connected: nil
        }
    }

    /// True from a `scan` to its end.
    package var isListening: Bool {
        if case .listening = phase { true } else { false }
    }

    /// True from a `connect` to its outcome.
    package var isAttempting: Bool {
        if case .attempting = phase { true } else { false }
    }

    /// Takes one event, and answers with what is to be done, in order.
    package mutating func handle(_ event: Event, now: Duration) -> [Action] {
        switch event {
        case .adapterReady: return adapterReady(now)
        case .adapterLost(let reason): return adapterLost(.off(reason), now)
        case .forbidden(let reason): return adapterLost(.forbidden(reason), now)
        case .switched: return choose(true, dropping: .switched, now)
        case .forgotten: return isChosen ? choose(false, dropping: .disconnected, now) : []
        case .connectAsked: return connectAsked(now)
        case .disconnectAsked: return disconnectAsked(now)
        case .heard, .scanFailed: return heard(event, now)
        case .ready, .unsupported, .attemptFailed, .linkLost: return linkChanged(event, now)
        case .linkClosed:
            guard case .closing = phase else { return [] }
            return settle(now)
        case .deadline: return deadlinePassed(now)
        }
    }

    // MARK: The adapter

    private mutating func adapterReady(_ now: Duration) -> [Action] {
        guard adapter != .ready else { return [] }
        adapter = .ready
        return settle(now)
    }

    private mutating func adapterLost(_ loss: Adapter, _ now: Duration) -> [Action] {
        guard adapter != loss else { return [] }
        adapter = loss
        let actions = leave(now, isLoss: true)
        return actions + settle(now)
    }

    // MARK: The user

    private mutating func choose(_ isChosen: Bool, dropping cause: Gate.Drop, _ now: Duration) -> [Action] {
        self.isChosen = isChosen
        isWanted = true
        let actions = [.drop(cause)] + leave(now, isLoss: false)
        // The waiting times that failures of the device before have led to do not hold for this one.
        (floor, next, scanFailures) = (nil, nil, 0)
        guard case .closing = phase else { return actions + settle(now) }
        let change =
            isChosen ? change(to: .connecting, Reason(ReasonText.closingEarlier.message())) : change(to: .unselected)
        return actions + change
    }

    private mutating func connectAsked(_ now: Duration) -> [Action] {
        guard isChosen else { return [] }
        isWanted = true
        next = floor
        switch phase {
        case .idle, .resting:
            let actions = settle(now)
            // Nobody who asked is to read for three more seconds what was before.
            return actions.isEmpty && adapter == .ready ? change(to: .connecting) : actions
        case .closing, .listening, .attempting, .connected: return []
        }
    }

    private mutating func disconnectAsked(_ now: Duration) -> [Action] {
        guard isChosen, isWanted else { return [] }
        isWanted = false
        next = nil
        let actions = [.drop(.disconnected)] + leave(now, isLoss: false)
        guard case .closing = phase else { return actions + settle(now) }
        return actions + change(to: .disconnected)
    }

    // MARK: The device

    private mutating func heard(_ event: Event, _ now: Duration) -> [Action] {
        guard case .listening = phase else { return [] }
        switch event {
        case .heard(let device):
            phase = .attempting(until: now + attemptTimeout)
            scanFailures = 0
            return [.stopScan, report(.connecting, Reason(ReasonText.heard.message("\(device)"))), .connect(device)]
        case .scanFailed(let reason):
            let wait = min(Self.retryInterval * (1 << min(scanFailures, 5)), Self.longestBackOff)
            scanFailures += 1
            return rest(until: now + wait, reason)
        default: return []
        }
    }

    private mutating func linkChanged(_ event: Event, _ now: Duration) -> [Action] {
        switch (event, phase) {
        case (.ready, .attempting):
            phase = .connected
            return [report(.connected, nil)]
        case (.unsupported(let reason), .attempting):
            let actions = leave(now, isLoss: true)
            next = now + Self.recheckInterval
            return actions + [report(.unsupported, reason)]
        case (.attemptFailed(let reason), .attempting), (.linkLost(let reason), .attempting):
            return leave(now, isLoss: true) + [report(.failed, reason)]
        case (.attemptFailed(let reason), .listening):
            return rest(until: now + Self.retryInterval, reason)
        case (.linkLost(let reason), .connected), (.attemptFailed(let reason), .connected):
            return leave(now, isLoss: true) + [report(.lost, reason)]
        default:
            // An event that comes too late, too early or twice changes nothing.
            return []
        }
    }

    private mutating func deadlinePassed(_ now: Duration) -> [Action] {
        guard let deadline, now >= deadline else { return [] }
        switch phase {
        case .closing, .resting: return settle(now)
        case .listening(let since, _):
            phase = .listening(since: since, reported: true)
            let time = "\(Self.patience.components.seconds)"
            return [report(.failed, Reason(LinkFaultText.notHeard.message(time)))]
        case .attempting:
            let limit = attemptTimeout.components.seconds
            return linkChanged(.attemptFailed(Reason(LinkFaultText.notFinished.message("\(limit)"))), now)
        case .idle, .connected: return []
        }
    }

    // MARK: Steps

    /// Ends what is going on; a link or an attempt leads to `closing`, all else to `idle`.
    ///
    /// After a loss, and after an attempt that was given up, the device is left alone for a while.
    private mutating func leave(_ now: Duration, isLoss: Bool) -> [Action] {
        switch phase {
        case .idle: return []
        case .resting:
            phase = .idle
            return []
        case .closing: return []
        case .listening:
            phase = .idle
            return [.stopScan]
        case .attempting, .connected:
            if case .attempting = phase { floor = now + Self.retryInterval }
            if isLoss { floor = now + Self.retryInterval }
            next = floor
            phase = .closing(until: now + Self.closingTimeout)
            return [.closeLink]
        }
    }

    /// Does what the adapter, the choice and the user's will ask for, when no link stands.
    private mutating func settle(_ now: Duration) -> [Action] {
        phase = .idle
        switch adapter {
        case .unknown: return change(to: !isChosen ? .unselected : isWanted ? .connecting : .disconnected)
        case .off(let reason): return [report(.bluetoothOff, reason)]
        case .forbidden(let reason): return [report(.unauthorized, reason)]
        case .ready: break
        }
        guard isChosen else { return change(to: .unselected) }
        guard isWanted else { return change(to: .disconnected) }
        if let next, now < next {
            phase = .resting(until: next)
            return [.lost, .failed, .unsupported].contains(state) ? [] : change(to: .connecting)
        }
        phase = .listening(since: now, reported: false)
        return [report(.connecting, nil), .scan]
    }

    /// Listens no more for a while.
    private mutating func rest(until: Duration, _ reason: Reason) -> [Action] {
        next = until
        phase = .resting(until: until)
        return [.stopScan, report(.failed, reason)]
    }

    private mutating func change(to state: State, _ reason: Reason? = nil) -> [Action] {
        self.state == state ? [] : [report(state, reason)]
    }

    private mutating func report(_ state: State, _ reason: Reason?) -> Action {
        self.state = state
        return .report(state, reason)
    }
}
