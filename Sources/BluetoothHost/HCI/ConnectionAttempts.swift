// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Queue of a host's connection attempts; the controller performs only the first one.
struct ConnectionAttempts: Sendable {
    struct Attempt: Sendable {
        enum State: Sendable, Equatable {
            case waiting
            /// LE Create Connection is unanswered.
            case commanded
            case initiating
            /// LE Create Connection Cancel was sent.
            case cancelling
            /// The connection could not be established; the attempt is paused until the next try.
            case resting(until: Duration)
        }

        let device: DeviceAddress
        let parameters: ConnectionParameters
        fileprivate var deadline: Duration
        fileprivate var state = State.waiting
        /// True for an attempt that the caller has cancelled, so that no event reports its end.
        fileprivate var isAbandoned = false
        fileprivate var isLate = false

        fileprivate var isWanted: Bool { !isAbandoned && !isLate }

        /// Time at which the attempt must be retried or given up.
        fileprivate var nextDeadline: Duration {
            if case .resting(let time) = state { min(time, deadline) } else { deadline }
        }
    }

    /// Maximum time within which the controller must finish cancelling an attempt.
    private static let cancelPatience = Duration.seconds(5)
    /// Pause before the retry of a connection that could not be established.
    private static let rest = Duration.milliseconds(100)

    private var attempts: [Attempt] = []

    var count: Int { attempts.count }
    var isInitiating: Bool { attempts.first?.state == .initiating }
    var deadline: Duration? { attempts.lazy.map { $0.nextDeadline }.min() }

    private func place(of device: DeviceAddress) -> Int? {
        attempts.firstIndex { $0.device == device && !$0.isAbandoned }
    }

    func contains(_ device: DeviceAddress) -> Bool { place(of: device) != nil }

    /// Returns true if the first attempt is to connect to `device`.
    func isFirst(_ device: DeviceAddress) -> Bool { attempts.first?.device == device }

    mutating func add(_ device: DeviceAddress, _ parameters: ConnectionParameters, until deadline: Duration) {
        attempts.append(Attempt(device: device, parameters: parameters, deadline: deadline))
    }

    /// Marks the first attempt as started and returns it; returns nil if it was already started or the queue is empty.
    mutating func begin() -> Attempt? {
        guard let first = attempts.first, first.state == .waiting else { return nil }
        attempts[0].state = .commanded
        return first
    }

    mutating func cancel(_ device: DeviceAddress, now: Duration, _ output: inout HostOutput) {
        guard let place = place(of: device) else { return }
        attempts[place].isAbandoned = true
        giveUp(place, now: now, &output)
    }

    /// Processes the answer to LE Create Connection; returns true if the attempt must be retried with the legacy
    /// command.
    mutating func takeConnect(_ outcome: HCICommandQueue.Outcome, now: Duration, _ output: inout HostOutput) -> Bool {
        guard let first = attempts.first, first.state == .commanded else { return false }
        if case .failed(.leExtendedCreateConnection, .unknownHCICommand) = outcome, first.isWanted {
            attempts[0].state = .waiting
            return true
        }
        if case .failed(let opcode, let status) = outcome {
            finish(.refused(opcode, status), &output)
        } else {
            attempts[0].state = .initiating
            if !first.isWanted { giveUp(0, now: now, &output) }
        }
        return false
    }

    mutating func takeCancel(_ outcome: HCICommandQueue.Outcome, now: Duration, _ output: inout HostOutput) {
        guard attempts.first?.state == .cancelling else { return }
        if case .completed = outcome {
            // LE Connection Complete is expected shortly.
            attempts[0].deadline = now + Self.cancelPatience
        } else {
            // The controller is no longer connecting: LE Connection Complete was already received, or will never be
            // sent.
            finish(.timedOut, &output)
        }
    }

    mutating func handleDeadline(now: Duration, _ output: inout HostOutput) {
        if case .resting(let time)? = attempts.first?.state, time <= now, attempts[0].deadline > now {
            attempts[0].state = .waiting
        }
        for place in attempts.indices.reversed() where attempts[place].deadline <= now {
            attempts[place].isLate = true
            giveUp(place, now: now, &output)
        }
    }

    private mutating func giveUp(_ place: Int, now: Duration, _ output: inout HostOutput) {
        switch attempts[place].state {
        case .waiting:
            let attempt = attempts.remove(at: place)
            if !attempt.isAbandoned { output.emit(.connectionFailed(attempt.device, .timedOut)) }
        case .commanded:
            // The attempt is cancelled after the command in progress is answered. If that command times out, the host
            // fails.
            attempts[place].deadline = now + LowEnergyHost.patience
        case .initiating:
            attempts[place].state = .cancelling
            attempts[place].deadline = now + LowEnergyHost.patience
            output.request(.leCreateConnectionCancel, .cancelConnection)
        case .cancelling, .resting: finish(.timedOut, &output)
        }
    }

    /// Ends the first attempt as failed.
    private mutating func finish(_ failure: LowEnergyHost.ConnectionFailure, _ output: inout HostOutput) {
        let attempt = attempts.removeFirst()
        guard !attempt.isAbandoned else { return }
        output.emit(.connectionFailed(attempt.device, attempt.isLate ? .timedOut : failure))
    }

    /// Ends the first attempt as connected; returns false if the connection is no longer wanted.
    mutating func succeed(_ peer: DeviceAddress, _ output: inout HostOutput) -> Bool {
        guard let first = attempts.first, first.state != .waiting, first.device == peer else { return false }
        attempts.removeFirst()
        if !first.isWanted, !first.isAbandoned { output.emit(.connectionFailed(peer, .timedOut)) }
        return first.isWanted
    }

    /// Handles the failure of the first attempt.
    ///
    /// Retries it if the status is Connection Failed to be Established (0x3E), which means that the peer did not
    /// respond within six connection intervals.
    mutating func fail(_ status: HCIStatus, now: Duration, _ output: inout HostOutput) {
        guard let first = attempts.first, first.state != .waiting else { return }
        if case .resting = first.state { return }
        guard status == .connectionFailedToBeEstablished, first.state != .cancelling, first.isWanted else {
            return finish(.status(status), &output)
        }
        output.counters.repeatedConnections &+= 1
        attempts[0].state = .resting(until: now + Self.rest)
    }
}
