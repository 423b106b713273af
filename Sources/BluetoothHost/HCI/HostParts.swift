// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// All parts of a host, each with its own state.
///
/// Passes the controller's packets and the deadlines to the parts that handle them.
struct HostParts: Sendable {
    var core: HostCore
    var attempts = ConnectionAttempts()
    var advertising = HostAdvertising()
    var securities: HostSecurity

    init(_ randomAddress: BluetoothAddress?, _ random: PairingRandomness) {
        core = HostCore(controller: HostController(randomAddress: randomAddress))
        securities = HostSecurity(random)
        core.output.request(.reset, .initialise)
    }

    var isReady: Bool { core.controller.isReady && core.output.failure == nil }

    var isInUse: Bool {
        guard isReady else { return false }
        return core.links.count > 0 || core.scanner.isScanning || attempts.isInitiating || advertising.isOn
    }

    var deadline: Duration? {
        guard core.output.failure == nil else { return nil }
        let command = core.output.commands.deadline(core.scanner)
        let probe = isInUse ? core.output.commands.probeTime : nil
        let times = [command, probe, attempts.deadline, core.links.deadline, securities.deadline]
        return times.lazy.compactMap { $0 }.min()
    }

    mutating func handleDeadline(now: Duration) {
        guard core.output.failure == nil else { return }
        if let answer = core.output.commands.expire(now: now) { take(answer, now: now) }
        core.scanner.handleDeadline(now: now, &core.output)
        noteGeneration()
        attempts.handleDeadline(now: now, &core.output)
        beginAttempt()
        probe(now: now)
        securities.handleDeadline(&core, now: now)
        core.links.handleDeadline(now: now, &core.output)
        finishTurn()
    }

    mutating func receive(_ packet: Span<UInt8>, now: Duration) {
        guard core.output.failure == nil else { return }
        core.output.commands.noteTalk(now)
        do throws(DecodingError) {
            switch packet.isEmpty ? nil : HCIPacketType(rawValue: packet[0]) {
            case .event: try receiveEvent(packet, now: now)
            case .acl: receiveData(packet, now: now)
            case .synchronous, .isochronous: core.output.counters.strayPackets &+= 1
            case .command, nil: core.output.counters.badPackets &+= 1
            }
        } catch {
            core.output.counters.badPackets &+= 1
        }
        finishTurn()
    }

    private mutating func receiveEvent(_ packet: Span<UInt8>, now: Duration) throws(DecodingError) {
        let event = try HCIEvent(packet)
        switch event {
        case .commandComplete, .commandStatus:
            if let answer = core.output.commands.handle(event, now: now) { take(answer, now: now) }
            passToScanner(packet, now: now)
        case .disconnectionComplete(let status, let handle, let reason):
            if status == .success { end(handle, reason, now: now) }
        case .hardwareError(let code): core.output.fail(.hardwareError(code))
        case .leMeta(let subevent, let parameters):
            try receive(subevent, parameters, now: now)
            if AdvertisingReportReader.reads(subevent) || subevent == .scanTimeout {
                passToScanner(packet, now: now)
            }
        case .other(HCIEvent.Code.numberOfCompletedPackets, let parameters):
            core.links.complete(try CompletedPackets(parameters), now: now, &core.output)
        case .other(let code, let parameters)
        where code == HCIEvent.Code.encryptionChange || code == HCIEvent.Code.encryptionKeyRefreshComplete:
            let change = try EncryptionChange(code: code, parameters)
            let isOn = change.status == .success && change.isOn
            securities.changeEncryption(of: change.handle, isOn: isOn, &core, now: now)
        case .other(HCIEvent.Code.dataBufferOverflow, _): core.output.counters.overflows &+= 1
        case .other: break
        }
    }

    private mutating func receive(
        _ subevent: LESubevent,
        _ parameters: Span<UInt8>,
        now: Duration
    ) throws(DecodingError) {
        switch subevent {
        case .connectionComplete, .enhancedConnectionComplete:
            take(try LEConnectionComplete(subevent, parameters), now: now)
        case .longTermKeyRequest:
            let event = try LELongTermKeyRequest(parameters)
            if core.links.contains(event.handle) { securities.answer(event, &core) }
        case .advertisingSetTerminated:
            advertising.take(try LEAdvertisingSetTerminated(parameters), &core)
        default: try core.links.receive(subevent, parameters, &core.output)
        }
    }

    private mutating func receiveData(_ packet: Span<UInt8>, now: Duration) {
        do throws(DecodingError) {
            let data = try ACLPacket(packet)
            let handle = data.handle
            guard core.links.contains(handle) else {
                return core.links.keepEarly(packet, handle, now: now, &core.output.counters)
            }
            guard let bytes = core.links[handle]?.receive(data, &core.output.counters) else { return }
            let frame = try L2CAPFrame(bytes.span)
            switch frame.channel {
            case .attribute: core.output.emit(.received(handle: handle, pdu: [UInt8](copying: frame.payload)))
            case .signalling: core.links[handle]?.receiveSignal(frame.payload, &core.output)
            case .securityManager: securities.receive(frame.payload, handle, &core, now: now)
            default: core.output.counters.unknownChannels &+= 1
            }
        } catch {
            core.output.counters.badPackets &+= 1
        }
    }

    /// Passes the answer to a command to the part that sent the command.
    private mutating func take(_ answer: HostCommands.Answer, now: Duration) {
        let (outcome, purpose) = answer
        if case .timedOut(let opcode) = outcome { return takeSilence(opcode, purpose) }
        switch purpose {
        case .initialise:
            core.controller.take(outcome, &core.output)
            if case .completed(.readLocalSupportedCommands, _) = outcome {
                core.scanner.begin(core.controller.scanGeneration)
            }
        case .advertise: advertising.take(outcome, &core)
        case .connect:
            if attempts.takeConnect(outcome, now: now, &core.output) { core.controller.useLegacy() }
            beginAttempt()
        case .cancelConnection:
            attempts.takeCancel(outcome, now: now, &core.output)
            beginAttempt()
        case .disconnect(let handle):
            guard case .failed(let opcode, let status) = outcome, core.links.contains(handle) else { return }
            // The connection had already ended, but Disconnection Complete has not arrived yet.
            if status == .unknownConnectionIdentifier {
                end(handle, .connectionTerminatedByLocalHost, now: now)
            } else {
                core.output.fail(.refused(opcode, status))
            }
        case .encrypt(let handle): securities.take(outcome, of: handle, &core, now: now)
        case .update(let handle), .optional(let handle): core.links[handle]?.take(outcome, &core.output.counters)
        case .reply, .probe: break
        }
    }

    /// Handles a command time-out: ignores it for an optional command, repeats Reset once, and otherwise fails the
    /// host.
    private mutating func takeSilence(_ opcode: HCIOpcode, _ purpose: HostCommands.Purpose) {
        if case .optional = purpose {
            core.output.commands.noteUnanswered(opcode)
        } else if purpose == .probe {
            core.output.fail(.silent(LowEnergyHost.silence + HCICommandQueue.timeout))
        } else if opcode == .reset, core.controller.resetAgain() {
            core.output.counters.repeatedResets &+= 1
            core.output.request(.reset, .initialise)
        } else {
            core.output.fail(.noAnswer(opcode))
        }
    }

    private mutating func passToScanner(_ packet: Span<UInt8>, now: Duration) {
        core.scanner.receive(packet, now: now, &core.output)
        noteGeneration()
    }

    private mutating func noteGeneration() {
        if core.scanner.isLegacy, advertising.isIdle { core.controller.useLegacy() }
    }

    /// Probes a silent controller by reading its address, a command that every controller answers at any time.
    private mutating func probe(now: Duration) {
        guard isInUse, let time = core.output.commands.probeTime, time <= now else { return }
        core.output.commands.noteProbe()
        core.output.counters.probes &+= 1
        core.output.request(.readBDADDR, .probe)
    }

    /// Starts the first queued attempt if the controller is not busy with another one.
    mutating func beginAttempt() {
        guard let attempt = attempts.begin() else { return }
        // The controller must connect to the device's current address.
        let device = core.scanner.address(of: attempt.device)
        core.output.request(core.controller.createConnection(to: device, attempt.parameters), .connect)
    }

    /// Processes any version of LE Connection Complete.
    private mutating func take(_ event: LEConnectionComplete, now: Duration) {
        guard isReady else { return }
        guard event.status == .success else {
            // A failure in the peripheral role, after a directed or extended advertisement timed out, does not belong
            // to an attempt.
            if event.role == .central {
                attempts.fail(event.status, now: now, &core.output)
                beginAttempt()
            }
            return
        }
        let handle = event.handle
        // A new connection cannot have a handle in use: the controller has failed to report the end of the old
        // connection.
        if core.links.contains(handle) { end(handle, .unspecifiedError, now: now) }
        // The peer is reported with the address that the caller requested, or else with its identity address.
        let peer = attempts.isFirst(event.peer) ? event.peer : securities.identity(of: event.peer)
        let connection = LowEnergyHost.Connection(handle: handle, role: event.role, peer: peer)
        core.links.add(connection, ConnectionTiming(event))
        var isWanted = core.links.count <= LowEnergyHost.maximumConnections
        if event.role == .peripheral {
            advertising.noteConnection(&core)
        } else {
            isWanted = attempts.succeed(peer, &core.output) && isWanted
            beginAttempt()
        }
        guard isWanted else {
            // The caller is not informed of the beginning or the end of this connection.
            core.links.end(handle, .remoteUserTerminatedConnection, now: now, &core.output)
            return core.links.dropEarlyData(of: handle)
        }
        securities.add(connection, core.controller)
        core.output.emit(.connected(connection))
        if event.role == .central { core.controller.improve(handle, &core.output) }
        for packet in core.links.announce(handle, now: now, &core.output.counters) {
            receiveData(packet.span, now: now)
        }
    }

    /// Removes a connection and reports its end.
    private mutating func end(_ handle: UInt16, _ reason: HCIStatus, now: Duration) {
        guard let link = core.links.remove(handle) else { return }
        securities.remove(handle, now: now)
        if link.isAnnounced { core.output.emit(.disconnected(link.connection, reason: reason)) }
        advertising.resume(&core)
    }

    /// Discards the connections, attempts and advertising if the host has failed.
    mutating func finishTurn() {
        guard core.output.failure != nil else { return }
        core.links = ConnectionTable()
        securities.removeAll()
        attempts = ConnectionAttempts()
        advertising = HostAdvertising()
    }
}
