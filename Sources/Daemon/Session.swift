// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
package import Control
import Devices
import Keystrokes
import LinuxIO
import Texts

/// The way from a chosen device to a link with it, as a pure state machine: events and time in, actions out.
///
/// It connects only to a device that it has just heard, so that an attempt is short, and it listens for as long as it
/// takes. After a loss the next attempt begins `retryInterval` later (LK-19). After a failed attempt it does too, and
/// after each further one twice as long later, up to `longestBackOff` (LK-16); so it is for a device without the service
/// (D-5), and where listening itself fails. A device that refuses may advertise all the time, which is no reason to try
/// it sooner; one that was silent for `absence` and is heard again is tried at once. One link at a time: the next is not
/// asked for before the last is closed, or `closingTimeout` is over.
package struct Session: Sendable {
    package typealias State = SessionState

    /// How long after a loss or a failed attempt the next one may begin.
    package static let retryInterval = Duration.seconds(3)
    /// The longest pause between two attempts, or two tries to listen.
    package static let longestBackOff = Duration.seconds(60)
    /// The silence after which an advertisement brings the next attempt forward.
    package static let absence = Duration.seconds(3)
    /// How long a link stands that makes the next pause the shortest again.
    package static let provenTime = Duration.seconds(60)
    /// How long the device may stay unheard before the state says so.
    package static let patience = Duration.seconds(10)
    /// How long an attempt may take that needs no handshake, from a device just heard to its subscription.
    ///
    /// Each of its requests has the 30 s of `ATTBearer.transactionTimeout`.
    package static let usualAttemptTimeout = Duration.seconds(120)
    /// How long a device that was just heard may take to answer the request to connect.
    package static let connectTimeout = Duration.seconds(30)
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
        /// Listening to a device that is left alone until then, and was heard last, or may have been, at that time.
        case watching(until: Duration, heard: Duration)
        case listening(since: Duration, reported: Bool)
        case attempting(until: Duration)
        case connected(since: Duration)
    }

    package private(set) var state: State
    private let attemptTimeout: Duration
    private var phase = Phase.idle
    private var adapter = Adapter.unknown
    private var isChosen: Bool
    private var isWanted = true
    /// True while a pairing has the radio: no link is begun.
    private var isHeld = false
    /// Before this time no attempt begins, whoever asks.
    private var floor: Duration?
    /// Before this time none begins by itself.
    private var next: Duration?
    /// The pauses between tries to listen.
    private var scanBackoff = Self.backoff
    /// Where the chosen device's name was heard since the session listens, as a reason; nil where it was not.
    private var elsewhere: Reason?
    /// The pauses after attempts that failed, and after devices that were found without the service.
    private var backoff = Self.backoff
    private static let backoff = Backoff(retryInterval...longestBackOff)

    /// A session that knows nothing of its adapter yet.
    package init(isChosen: Bool, attemptTimeout: Duration = usualAttemptTimeout) {
        self.isChosen = isChosen
        self.attemptTimeout = attemptTimeout
        state = isChosen ? .connecting : .unselected
    }

    /// When `.deadline` wants to be told, if no other event comes first.
    package var deadline: Duration? {
        switch phase {
        case .closing(let until), .resting(let until), .watching(let until, _), .attempting(let until): until
        case .listening(let since, reported: false): since + Self.patience
        case .idle, .listening, .connected: nil
        }
    }

    /// True from a `scan` to its end.
    package var isListening: Bool {
        switch phase {
        case .listening, .watching: true
        case .idle, .closing, .resting, .attempting, .connected: false
        }
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
        case .heardElsewhere(let reason): return heardElsewhere(reason)
        case .ready, .unsupported, .attemptFailed, .linkLost, .flooded: return linkChanged(event, now)
        case .pairingBegins(let isLinkEnding): return hold(isLinkEnding, now)
        case .pairingEnds: return release(now)
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
        (floor, next, scanBackoff, backoff) = (nil, nil, Self.backoff, Self.backoff)
        guard case .closing = phase else { return actions + settle(now) }
        let change =
            isChosen ? change(to: .connecting, Reason(ReasonText.closingEarlier.message())) : change(to: .unselected)
        return actions + change
    }

    private mutating func connectAsked(_ now: Duration) -> [Action] {
        guard isChosen else { return [] }
        isWanted = true
        next = floor
        backoff.reset()
        switch phase {
        case .idle, .resting:
            let actions = settle(now)
            // Nobody who asked is to read for three more seconds what was before.
            return actions.isEmpty && adapter == .ready ? change(to: .connecting) : actions
        case .watching:
            guard let floor, now < floor else { return endWatch(now) }
            phase = .watching(until: floor, heard: now)
            return change(to: .connecting)
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

    // MARK: Pairing

    private mutating func hold(_ isLinkEnding: Bool, _ now: Duration) -> [Action] {
        isHeld = true
        switch phase {
        case .idle, .closing: return []
        case .connected where !isLinkEnding: return []
        case .resting, .listening, .watching, .attempting, .connected:
            let actions = leave(now, isLoss: false)
            guard case .closing = phase else { return actions + settle(now) }
            return actions + [heldReport()]
        }
    }

    private mutating func heldReport() -> Action { report(.connecting, Reason(ReasonText.pairing.message())) }

    /// Goes on; whatever has failed before, the new keys may have mended it.
    private mutating func release(_ now: Duration) -> [Action] {
        guard isHeld else { return [] }
        isHeld = false
        next = floor
        backoff.reset()
        guard case .idle = phase, adapter == .ready else { return [] }
        return settle(now)
    }

    // MARK: The device

    private mutating func heard(_ event: Event, _ now: Duration) -> [Action] {
        guard isListening else { return [] }
        switch event {
        case .heard(let device):
            scanBackoff.reset()
            if case .watching(let until, let heard) = phase, now - heard < Self.absence {
                phase = .watching(until: until, heard: now)
                return []
            }
            phase = .attempting(until: now + attemptTimeout)
            return [.stopScan, report(.connecting, Reason(ReasonText.heard.message("\(device)"))), .connect(device)]
        case .scanFailed(let reason):
            return rest(until: now + scanBackoff.next(), reason)
        default: return []
        }
    }

    /// Keeps where the name is until the device has been silent for long, and then says it at once.
    private mutating func heardElsewhere(_ reason: Reason) -> [Action] {
        guard case .listening(_, let isReported) = phase, elsewhere != reason else { return [] }
        elsewhere = reason
        return isReported ? [report(.failed, reason)] : []
    }

    private mutating func linkChanged(_ event: Event, _ now: Duration) -> [Action] {
        switch (event, phase) {
        case (.ready, .attempting):
            phase = .connected(since: now)
            return [report(.connected, nil)]
        case (.unsupported(let reason), .attempting): return fail(now) + [report(.unsupported, reason)]
        case (.attemptFailed(let reason), .attempting), (.linkLost(let reason), .attempting):
            return fail(now) + [report(.failed, reason)]
        case (.attemptFailed(let reason), .listening), (.attemptFailed(let reason), .watching):
            return rest(until: now + Self.retryInterval, reason)
        case (.linkLost(let reason), .connected), (.attemptFailed(let reason), .connected):
            return leave(now, isLoss: true) + [report(.lost, reason)]
        // It counts as a failure, however long the link stood: the next flood is let in the later.
        case (.flooded(let reason), .connected): return fail(now) + [report(.failed, reason)]
        default:
            // An event that comes too late, too early or twice changes nothing.
            return []
        }
    }

    private mutating func deadlinePassed(_ now: Duration) -> [Action] {
        guard let deadline, now >= deadline else { return [] }
        switch phase {
        case .closing, .resting: return settle(now)
        case .watching: return endWatch(now)
        case .listening(let since, _):
            phase = .listening(since: since, reported: true)
            let time = "\(Self.patience.components.seconds)"
            return [report(.failed, elsewhere ?? Reason(LinkFaultText.notHeard.message(time)))]
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
        case .listening, .watching:
            phase = .idle
            return [.stopScan]
        case .attempting, .connected:
            if case .connected(let since) = phase, now - since >= Self.provenTime { backoff.reset() }
            if case .attempting = phase { floor = now + Self.retryInterval }
            if isLoss { floor = now + Self.retryInterval }
            next = floor
            phase = .closing(until: now + Self.closingTimeout)
            return [.closeLink]
        }
    }

    /// Ends an attempt that came to nothing, or a link that is of no use; the next one begins the later, the more have failed.
    private mutating func fail(_ now: Duration) -> [Action] {
        let kept = backoff
        let actions = leave(now, isLoss: true)
        backoff = kept
        next = now + backoff.next()
        return actions
    }

    /// Listens anew, and connects as soon as the device is heard, whether it was silent before or not.
    private mutating func endWatch(_ now: Duration) -> [Action] {
        (phase, elsewhere) = (.listening(since: now, reported: false), nil)
        return [.stopScan, report(.connecting, nil), .scan]
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
        if isHeld { return [heldReport()] }
        if let next, now < next {
            let actions = [.lost, .failed, .unsupported].contains(state) ? [] : change(to: .connecting)
            // Whatever is heard before the floor brings nothing forward.
            if let floor, next <= floor {
                phase = .resting(until: next)
                return actions
            }
            phase = .watching(until: next, heard: now)
            return actions + [.scan]
        }
        (phase, elsewhere) = (.listening(since: now, reported: false), nil)
        return [report(.connecting, nil), .scan]
    }

    private mutating func rest(until: Duration, _ reason: Reason) -> [Action] {
        let until = max(until, next ?? until)
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
