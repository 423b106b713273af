// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE

/// What the keyboard does about its one chosen device, as a pure state machine: events and time in, actions out.
///
/// It connects only to a device that it has just heard, so that an attempt is short; it tries for ever, and never sooner
/// than `retryInterval` after the last attempt or loss (LK-16, LK-19).
package struct Session: Sendable {
    /// How long after a loss or a failed attempt the next one may begin.
    package static let retryInterval = Duration.seconds(3)
    /// How long the device may stay unheard before the state says so.
    package static let patience = Duration.seconds(10)
    /// How long until a device without the service is looked at again (D-5).
    package static let recheckInterval = Duration.seconds(600)

    /// What the user sees.
    package enum State: String, Sendable, CaseIterable {
        /// No device is chosen.
        case unselected
        /// The device is looked for, or an attempt is under way.
        case connecting
        /// What the device sends is typed.
        case connected
        /// The link was lost; it is tried again.
        case lost
        /// The user closed the link.
        case disconnected
        /// The last attempt failed, or the device is not heard; it is tried again.
        case failed
        /// The device does not have the service; it is left alone.
        case unsupported
        /// No adapter, or the adapter is off.
        case bluetoothOff
        /// A permission is missing.
        case unauthorized
    }

    /// What happens to the session.
    package enum Event: Sendable {
        /// The adapter is powered and may scan.
        case adapterReady
        /// The adapter went away or was switched off.
        case adapterLost(String)
        /// The chosen device was heard while scanning, and accepts connections.
        case heard(DeviceAddress)
        /// Subscribed: what the device sends arrives from now on.
        case ready
        /// The device answers, but does not offer the service.
        case unsupported(String)
        /// The attempt came to nothing.
        case attemptFailed(String)
        /// The link that was ready is gone.
        case linkLost(String)
        /// Time has passed.
        case deadline
    }

    /// What the driver is to do.
    package enum Action: Equatable, Sendable {
        /// Listen for the chosen device.
        case scan
        /// Stop listening.
        case stopScan
        /// Stop listening, then connect and subscribe.
        case connect(DeviceAddress)
        /// Close the link, or give up the attempt.
        case closeLink
        /// Tell who watches.
        case report(State, reason: String?)
    }

    private enum Phase: Sendable {
        case waitingForAdapter
        case resting(until: Duration)
        case scanning(since: Duration, reported: Bool)
        case connecting
        case ready
    }

    /// What was reported last.
    package private(set) var state = State.connecting
    private var phase = Phase.waitingForAdapter

    /// A session that waits for its adapter.
    package init() {}

    /// When `.deadline` wants to be told, if no other event comes first.
    package var deadline: Duration? {
        switch phase {
        case .resting(let until): until
        case .scanning(let since, reported: false): since + Self.patience
        case .waitingForAdapter, .scanning, .connecting, .ready: nil
        }
    }

    /// Takes one event, and answers with what is to be done, in order.
    package mutating func handle(_ event: Event, now: Duration) -> [Action] {
        switch (event, phase) {
        // From every phase: the adapter comes and goes.
        case (.adapterReady, .waitingForAdapter):
            return beginScan(now: now)
        case (.adapterLost(let reason), .ready), (.adapterLost(let reason), .connecting):
            phase = .waitingForAdapter
            return [.closeLink, report(.bluetoothOff, reason)]
        case (.adapterLost(let reason), _):
            phase = .waitingForAdapter
            return [report(.bluetoothOff, reason)]

        // Origin: scanning.
        case (.heard(let device), .scanning):
            phase = .connecting
            return [.stopScan, report(.connecting, "heard \(device), connecting"), .connect(device)]
        case (.deadline, .scanning(let since, reported: false)) where now >= since + Self.patience:
            phase = .scanning(since: since, reported: true)
            return [report(.failed, "not heard for \(Self.patience.components.seconds) s: is it on and advertising?")]
        case (.attemptFailed(let reason), .scanning):
            return [.stopScan] + rest(.failed, reason, for: Self.retryInterval, now: now)

        // Origin: connecting.
        case (.ready, .connecting):
            phase = .ready
            return [report(.connected, nil)]
        case (.unsupported(let reason), .connecting):
            return [.closeLink] + rest(.unsupported, reason, for: Self.recheckInterval, now: now)
        case (.attemptFailed(let reason), .connecting), (.linkLost(let reason), .connecting):
            return [.closeLink] + rest(.failed, reason, for: Self.retryInterval, now: now)

        // Origin: ready.
        case (.linkLost(let reason), .ready), (.attemptFailed(let reason), .ready):
            return [.closeLink] + rest(.lost, reason, for: Self.retryInterval, now: now)

        // Origin: resting.
        case (.deadline, .resting(let until)) where now >= until:
            return beginScan(now: now)

        // What comes too late, too early or twice.
        case (.adapterReady, _), (.heard, _), (.ready, _), (.unsupported, _), (.attemptFailed, _), (.linkLost, _),
            (.deadline, _):
            return []
        }
    }

    private mutating func beginScan(now: Duration) -> [Action] {
        phase = .scanning(since: now, reported: false)
        return [report(.connecting, nil), .scan]
    }

    private mutating func rest(
        _ state: State,
        _ reason: String,
        for interval: Duration,
        now: Duration
    ) -> [Action] {
        phase = .resting(until: now + interval)
        return [report(state, reason)]
    }

    private mutating func report(_ state: State, _ reason: String?) -> Action {
        self.state = state
        return .report(state, reason: reason)
    }
}
