// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The attempts of a host to connect; the first is the controller's, the others wait.
struct ConnectionAttempts: Sendable {
    struct Attempt: Sendable {
        enum State: Sendable, Equatable {
            case waiting
            /// LE Create Connection is on its way.
            case commanded
            case initiating
            /// LE Create Connection Cancel was sent.
            case cancelling
            /// The connection could not be established, and is tried again at this time.
            case resting(until: Duration)
        }

        let device: DeviceAddress
        let parameters: ConnectionParameters
        fileprivate var deadline: Duration
        fileprivate var state = State.waiting
        /// True when the attempt was given up; it then ends without an event.
        fileprivate var isAbandoned = false
        fileprivate var isLate = false

        fileprivate var isWanted: Bool { !isAbandoned && !isLate }

        /// The time at which something is to be done.
        fileprivate var nextDeadline: Duration {
            if case .resting(let time) = state { min(time, deadline) } else { deadline }
        }
    }

    /// The longest time that the controller may take to cancel an attempt.
    private static let cancelPatience = Duration.seconds(5)
    /// The pause before a connection that could not be established is tried again.
    private static let rest = Duration.milliseconds(100)

    private var attempts: [Attempt] = []

    var count: Int { attempts.count }
    var isInitiating: Bool { attempts.first?.state == .initiating }
    var deadline: Duration? { attempts.lazy.map { $0.nextDeadline }.min() }

    private func place(of device: DeviceAddress) -> Int? {
        attempts.firstIndex { $0.device == device && !$0.isAbandoned }
    }

    func contains(_ device: DeviceAddress) -> Bool { place(of: device) != nil }

    /// True for the device whose attempt is the controller's, or the next.
    func isFirst(_ device: DeviceAddress) -> Bool { attempts.first?.device == device }

    mutating func add(_ device: DeviceAddress, _ parameters: ConnectionParameters, until deadline: Duration) {
        attempts.append(Attempt(device: device, parameters: parameters, deadline: deadline))
    }

    /// The first attempt, when the controller is free for it; it counts as begun.
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

    /// Takes the answer to LE Create Connection; true for an attempt to be begun again with the legacy command.
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
            // An LE Connection Complete follows, within a short time.
            attempts[0].deadline = now + Self.cancelPatience
        } else {
            // The controller connects no more: its event came, or will never come.
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
            // The command under way is answered or fails the host; the attempt is cancelled then.
            attempts[place].deadline = now + LowEnergyHost.patience
        case .initiating:
            attempts[place].state = .cancelling
            attempts[place].deadline = now + LowEnergyHost.patience
            output.request(.leCreateConnectionCancel, .cancelConnection)
        case .cancelling, .resting: finish(.timedOut, &output)
        }
    }

    /// Ends the first attempt without a connection.
    private mutating func finish(_ failure: LowEnergyHost.ConnectionFailure, _ output: inout HostOutput) {
        let attempt = attempts.removeFirst()
        guard !attempt.isAbandoned else { return }
        output.emit(.connectionFailed(attempt.device, attempt.isLate ? .timedOut : failure))
    }

    /// Ends the first attempt with a connection as central; false where nobody wants that connection any more.
    mutating func succeed(_ peer: DeviceAddress, _ output: inout HostOutput) -> Bool {
        guard let first = attempts.first, first.state != .waiting, first.device == peer else { return false }
        attempts.removeFirst()
        if !first.isWanted, !first.isAbandoned { output.emit(.connectionFailed(peer, .timedOut)) }
        return first.isWanted
    }

    /// The first attempt has come to nothing; a peer that did not answer in six intervals is tried again (0x3E).
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
