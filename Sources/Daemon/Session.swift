// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
package import Control
import Devices
import Keystrokes
import LinuxIO
import Texts

/// State machine that leads from a selected device to a link with it: receives events and the time, returns actions.
///
/// It performs no I/O. It connects only to a device that was just heard, so that an attempt is short, and it listens
/// without a time limit. After a loss, the next attempt begins `retryInterval` later (LK-19). After a failed attempt,
/// the pause is the same, and it doubles with each further failure up to `longestBackOff` (LK-16); the same applies to
/// a device without the service (D-5) and to a failed scan. If a device advertises but refuses connections, its
/// advertisements do not shorten the pause; a device that is heard again after a silence of `absence` is tried
/// immediately. A keyboard is awaited at once after a loss, because it advertises only briefly when it wakes (D-40).
/// Only one link exists at a time: the next connection is requested only when the previous link is closed,
/// or when `closingTimeout` has passed.
package struct Session: Sendable {
    package typealias State = SessionState

    /// Shortest pause between a loss or a failed attempt and the next attempt.
    package static let retryInterval = Duration.seconds(3)
    /// Longest pause between two attempts to connect, or to listen.
    package static let longestBackOff = Duration.seconds(60)
    /// Silence of a device after which its next advertisement starts an attempt immediately.
    package static let absence = Duration.seconds(3)
    /// Duration of a link after which the back-off is reset to the shortest pause.
    package static let provenTime = Duration.seconds(60)
    /// Silence of the device after which the session reports it.
    package static let patience = Duration.seconds(10)
    /// Time limit of an attempt without a handshake, from the device's advertisement to the subscription.
    ///
    /// In addition, each request of the attempt has the time limit `ATTBearer.transactionTimeout`, 30 s.
    package static let usualAttemptTimeout = Duration.seconds(120)
    /// Time limit of a connection request to a device that was just heard.
    package static let connectTimeout = Duration.seconds(30)
    /// Time limit for closing a link.
    package static let closingTimeout = Duration.seconds(5)

    private enum Adapter: Equatable {
        case unknown
        case ready
        case off(Reason)
        case forbidden(Reason)
    }

    private enum Phase {
        /// Nothing can be done, or nothing is requested.
        case idle
        case closing(until: Duration)
        case resting(until: Duration)
        /// Listening during a pause that ends at `until`.
        ///
        /// `heard` is the latest time at which the device was, or may have been, heard.
        case watching(until: Duration, heard: Duration)
        case listening(since: Duration, reported: Bool)
        case attempting(until: Duration)
        case connected(since: Duration)
    }

    package private(set) var state: State
    /// True if the device is awaited at once after a loss; set before `ready`.
    package var awaitsAtOnce = false
    private let attemptTimeout: Duration
    private var phase = Phase.idle
    private var adapter = Adapter.unknown
    private var isChosen: Bool
    private var isWanted = true
    /// True while a pairing uses the radio, so that no link may be started.
    private var isHeld = false
    /// Earliest time of any attempt, even one that the user requests; nil if there is no limit.
    private var floor: Duration?
    /// Scheduled time of the next automatic attempt; nil if none is scheduled.
    private var next: Duration?
    /// Back-off between attempts to listen.
    private var scanBackoff = Self.backoff
    /// Report that the device's name was heard at another address after listening began; nil if it was not heard there.
    private var elsewhere: Reason?
    /// Back-off after failed attempts, and after links with devices that do not offer the service.
    private var backoff = Self.backoff
    private static let backoff = Backoff(retryInterval...longestBackOff)

    /// Creates a session for which the state of the adapter is unknown.
    package init(isChosen: Bool, attemptTimeout: Duration = usualAttemptTimeout) {
        self.isChosen = isChosen
        self.attemptTimeout = attemptTimeout
        state = isChosen ? .connecting : .unselected
    }

    /// Time of the next `.deadline` event if no other event comes first; nil if none is due.
    package var deadline: Duration? {
        switch phase {
        case .closing(let until), .resting(let until), .watching(let until, _), .attempting(let until): until
        case .listening(let since, reported: false): since + Self.patience
        case .idle, .listening, .connected: nil
        }
    }

    /// True from a `scan` action until the scan ends.
    package var isListening: Bool {
        switch phase {
        case .listening, .watching: true
        case .idle, .closing, .resting, .attempting, .connected: false
        }
    }

    /// True from a `connect` action until the attempt succeeds or fails.
    package var isAttempting: Bool {
        if case .attempting = phase { true } else { false }
    }

    /// Handles an event, and returns the actions to perform, in order.
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
        // Pauses caused by failures of the previous device do not apply to this one.
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
            // Report `connecting` immediately, so that the user does not see the previous state during the pause of 3
            // s.
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

    /// Resumes after a pairing, and resets the back-off, because the new keys may have removed the cause of the
    /// failures.
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

    /// Handles the report that the name was heard at another address.
    ///
    /// The report is stored until the silence of the device is reported; after that, it is reported immediately.
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
        // A resumed keyboard may turn out not to be a keyboard any more.
        case (.unsupported(let reason), .attempting), (.unsupported(let reason), .connected):
            return fail(now) + [report(.unsupported, reason)]
        case (.attemptFailed(let reason), .attempting), (.linkLost(let reason), .attempting):
            return fail(now) + [report(.failed, reason)]
        case (.attemptFailed(let reason), .listening), (.attemptFailed(let reason), .watching):
            return rest(until: now + Self.retryInterval, reason)
        case (.linkLost(let reason), .connected):
            return leave(now, isLoss: !awaitsAtOnce) + [report(.lost, reason)]
        case (.attemptFailed(let reason), .connected): return leave(now, isLoss: true) + [report(.lost, reason)]
        // A flood counts as a failure regardless of the link's duration, so that each flood increases the back-off.
        case (.flooded(let reason), .connected): return fail(now) + [report(.failed, reason)]
        default:
            // The event is ignored because it arrived late, early or twice.
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

    /// Ends the current activity.
    ///
    /// A link or an attempt leads to the phase `closing`, all other activities to `idle`. After a loss, and after an
    /// aborted attempt, no attempt begins for `retryInterval`.
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

    /// Ends a failed attempt or an unusable link, and delays the next attempt according to the back-off.
    private mutating func fail(_ now: Duration) -> [Action] {
        let kept = backoff
        let actions = leave(now, isLoss: true)
        backoff = kept
        next = now + backoff.next()
        return actions
    }

    /// Restarts listening after a pause.
    ///
    /// The next advertisement then starts an attempt, even if there was no silence before it.
    private mutating func endWatch(_ now: Duration) -> [Action] {
        (phase, elsewhere) = (.listening(since: now, reported: false), nil)
        return [.stopScan, report(.connecting, nil), .scan]
    }

    /// Chooses the phase while there is no link, from the adapter's state, the selected device and the user's requests.
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
            // Advertisements cannot start an attempt before the floor, so no scan is needed.
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
