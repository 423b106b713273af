// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

extension LowEnergyHost {
    /// An attempt to connect; the first attempt is the controller's, the others wait.
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
        var deadline: Duration
        var state = State.waiting
        /// True when the attempt was given up; it then ends without an event.
        var isAbandoned = false
        var isLate = false

        /// The time at which something is to be done.
        var nextDeadline: Duration {
            if case .resting(let time) = state { min(time, deadline) } else { deadline }
        }
    }

    /// The longest time that the controller may take to cancel an attempt.
    private static let cancelPatience = Duration.seconds(5)
    /// The pause before a connection that could not be established is tried again.
    static let rest = Duration.milliseconds(100)

    /// Connects, one device after the other; `connected` or `connectionFailed` follows.
    public mutating func connect(
        to device: DeviceAddress,
        _ parameters: ConnectionParameters = .standard,
        timeout: Duration,
        now: Duration
    ) {
        let isThere =
            links.values.contains { $0.connection.peer == device }
            || attempts.contains { $0.device == device && !$0.isAbandoned }
        if isThere {
            emit(.connectionFailed(device, .status(.connectionAlreadyExists)))
        } else if !isReady || attempts.count >= Self.maximumAttempts || links.count >= Self.maximumConnections {
            emit(.connectionFailed(device, .status(isReady ? .connectionLimitExceeded : .commandDisallowed)))
        } else {
            attempts.append(Attempt(device: device, parameters: parameters, deadline: now + timeout))
            advanceAttempts()
        }
    }

    /// Gives an attempt up; no event follows.
    public mutating func cancelConnection(to device: DeviceAddress, now: Duration) {
        guard let index = attempts.firstIndex(where: { $0.device == device && !$0.isAbandoned }) else { return }
        attempts[index].isAbandoned = true
        giveUp(index, now: now)
    }

    /// Ends a connection when what waits to be sent has left, or after `drainTime`; `disconnected` follows.
    ///
    /// The peer would not get the last PDUs otherwise: keys that it has to keep, or why a pairing has failed.
    public mutating func disconnect(
        _ handle: UInt16,
        reason: HCIStatus = .remoteUserTerminatedConnection,
        now: Duration
    ) {
        guard let link = links[handle], link.disconnectDeadline == nil else { return }
        links[handle]?.disconnectDeadline = now + Self.patience
        links[handle]?.draining = (reason, now + Self.drainTime)
        endDrained(handle, now: now)
    }

    /// Has the controller end a connection that is to end, once nothing of it waits, or no longer.
    mutating func endDrained(_ handle: UInt16, now: Duration) {
        guard let link = links[handle], link.isDrained(at: now), let reason = link.draining?.reason else { return }
        links[handle]?.draining = nil
        links[handle]?.removeOutgoing()
        request(.disconnect(handle: handle, reason: reason), .disconnect(handle))
    }

    /// Begins the first attempt that waits, when the controller is free for it.
    mutating func advanceAttempts() {
        guard let first = attempts.first, first.state == .waiting else { return }
        attempts[0].state = .commanded
        // The controller waits for the address that the device has now.
        let device = scanner?.devices.resolver?.address(of: first.device) ?? first.device
        let own: ScanParameters.OwnAddressType = ownAddress?.type == .random ? .random : .public
        request(
            isExtended
                ? .leExtendedCreateConnection(to: device, first.parameters, ownAddressType: own)
                : .leCreateConnection(to: device, first.parameters, ownAddressType: own),
            .connect
        )
    }

    /// Takes the answer to LE Create Connection.
    mutating func takeConnect(_ outcome: HCICommandQueue.Outcome, now: Duration) {
        guard let first = attempts.first, first.state == .commanded else { return }
        if case .failed(.leExtendedCreateConnection, .unknownHCICommand) = outcome, isExtended, !first.isAbandoned,
            !first.isLate
        {
            // The controller does not know the extended commands, whatever it says.
            isExtended = false
            attempts[0].state = .waiting
            advanceAttempts()
        } else if case .failed(let opcode, let status) = outcome {
            finish(.refused(opcode, status))
        } else {
            attempts[0].state = .initiating
            if first.isAbandoned || first.isLate { giveUp(0, now: now) }
        }
    }

    /// Takes the answer to LE Create Connection Cancel.
    mutating func takeCancel(_ outcome: HCICommandQueue.Outcome, now: Duration) {
        guard let first = attempts.first, first.state == .cancelling else { return }
        switch outcome {
        // An LE Connection Complete follows, within a short time.
        case .completed: attempts[0].deadline = now + Self.cancelPatience
        // The controller connects no more: its event came, or will never come.
        case .failed, .timedOut: finish(.timedOut)
        }
    }

    mutating func expireAttempts(now: Duration) {
        if case .resting(let time)? = attempts.first?.state, time <= now, attempts[0].deadline > now {
            attempts[0].state = .waiting
            advanceAttempts()
        }
        for index in attempts.indices.reversed() where attempts[index].deadline <= now {
            attempts[index].isLate = true
            giveUp(index, now: now)
        }
    }

    private mutating func giveUp(_ index: Int, now: Duration) {
        switch attempts[index].state {
        case .waiting:
            let attempt = attempts.remove(at: index)
            if !attempt.isAbandoned { emit(.connectionFailed(attempt.device, .timedOut)) }
        case .commanded:
            // The command under way is answered or fails the host; the attempt is cancelled then.
            attempts[index].deadline = now + Self.patience
        case .initiating:
            attempts[index].state = .cancelling
            attempts[index].deadline = now + Self.patience
            request(.leCreateConnectionCancel, .cancelConnection)
        case .cancelling, .resting: finish(.timedOut)
        }
    }

    /// Ends the first attempt without a connection.
    private mutating func finish(_ failure: ConnectionFailure) {
        guard !attempts.isEmpty else { return }
        let attempt = attempts.removeFirst()
        if !attempt.isAbandoned {
            emit(.connectionFailed(attempt.device, attempt.isLate ? .timedOut : failure))
        }
        advanceAttempts()
    }

    /// Takes LE Connection Complete, of whichever kind.
    mutating func take(_ event: LEConnectionComplete, now: Duration) {
        guard isReady else { return }
        guard event.status == .success else {
            // A failure as peripheral (a directed or extended advertisement that timed out) has no attempt.
            if event.role == .central { failed(event.status, now: now) }
            return
        }
        // A handle that is in use cannot be new: the controller has forgotten to say that the old connection ended.
        if links[event.handle] != nil { end(event.handle, .unspecifiedError) }
        let connection = Connection(handle: event.handle, role: event.role, peer: peer(of: event))
        links[event.handle] = HostLink(connection, ConnectionTiming(event))
        if event.role == .peripheral {
            noteConnectionOfAdvertising()
        }
        var isWanted = links.count <= Self.maximumConnections
        if event.role == .central {
            if let first = attempts.first, first.state != .waiting, first.device == connection.peer {
                attempts.removeFirst()
                if first.isAbandoned || first.isLate {
                    isWanted = false
                    if !first.isAbandoned { emit(.connectionFailed(first.device, .timedOut)) }
                }
                advanceAttempts()
            } else {
                isWanted = false
            }
        }
        guard isWanted else {
            // The caller is told neither of this connection nor of its end.
            disconnect(event.handle, now: now)
            early.removeAll { $0.handle == event.handle }
            return
        }
        announced.insert(event.handle)
        guardConnection(connection)
        emit(.connected(connection))
        if event.role == .central { improve(event.handle) }
        dropLateData(now: now)
        let packets = early.filter { $0.handle == event.handle }.map { $0.packet }
        early.removeAll { $0.handle == event.handle }
        for packet in packets { receiveData(packet.span, now: now) }
    }

    /// The peer of a connection: by the address that was asked for, else by its identity.
    private mutating func peer(of event: LEConnectionComplete) -> DeviceAddress {
        attempts.first?.device == event.peer ? event.peer : resolver?.identity(of: event.peer) ?? event.peer
    }

    /// The first attempt has come to nothing; a peer that did not answer in six intervals is tried again (0x3E).
    private mutating func failed(_ status: HCIStatus, now: Duration) {
        guard let first = attempts.first, first.state != .waiting else { return }
        if case .resting = first.state { return }
        guard status == .connectionFailedToBeEstablished, first.state != .cancelling, !first.isAbandoned, !first.isLate
        else { return finish(.status(status)) }
        counters.repeatedConnections &+= 1
        attempts[0].state = .resting(until: now + Self.rest)
    }

    /// Drops the data whose connection did not begin in time: it is the rest of one that has ended (BT-9).
    mutating func dropLateData(now: Duration) {
        let before = early.count
        early.removeAll { now - $0.time > Self.earlyLife }
        counters.strayPackets &+= UInt64(before - early.count)
    }

    /// Forgets a connection, and gives its buffers back: the controller has thrown its data away (Core 6.0, Vol 4, Part
    /// E, 4.3).
    mutating func end(_ handle: UInt16, _ reason: HCIStatus) {
        guard let link = links.removeValue(forKey: handle) else { return }
        freeBuffers &+= link.inFlight
        endSecurity(of: link.connection)
        early.removeAll { $0.handle == handle }
        if announced.remove(handle) != nil { emit(.disconnected(link.connection, reason: reason)) }
        rearmAdvertising()
    }
}
