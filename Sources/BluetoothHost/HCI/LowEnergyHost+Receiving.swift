// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

extension LowEnergyHost {
    /// Takes a packet from the controller, its indicator included.
    ///
    /// A packet that cannot be read is counted and not used.
    public mutating func receive(_ packet: Span<UInt8>, now: Duration) {
        if case .failed = state { return }
        lastTalk = now
        guard !packet.isEmpty else {
            counters.badPackets &+= 1
            return
        }
        switch HCIPacketType(rawValue: packet[0]) {
        case .event: receiveEvent(packet, now: now)
        case .acl: receiveData(packet, now: now)
        case .synchronous, .isochronous: counters.strayPackets &+= 1
        case .command, nil: counters.badPackets &+= 1
        }
    }

    private mutating func receiveEvent(_ packet: Span<UInt8>, now: Duration) {
        do throws(DecodingError) {
            let event = try HCIEvent(packet)
            switch event {
            case .commandComplete, .commandStatus:
                if let outcome = commands.handle(event, now: now) { take(outcome, now: now) }
                passToScanner(packet, now: now)
            case .disconnectionComplete(let status, let handle, let reason):
                if status == .success { end(handle, reason) }
            case .hardwareError(let code): fail(.hardwareError(code))
            case .leMeta(let subevent, let parameters):
                try receive(subevent, parameters, now: now)
                if AdvertisingReportReader.reads(subevent) || subevent == .scanTimeout {
                    passToScanner(packet, now: now)
                }
            case .other(HCIEvent.Code.numberOfCompletedPackets, let parameters):
                complete(try CompletedPackets(parameters), now: now)
            case .other(let code, let parameters)
            where code == HCIEvent.Code.encryptionChange || code == HCIEvent.Code.encryptionKeyRefreshComplete:
                let change = try EncryptionChange(code: code, parameters)
                changeEncryption(of: change.handle, isOn: change.status == .success && change.isOn, now: now)
            case .other(HCIEvent.Code.dataBufferOverflow, _): counters.overflows &+= 1
            case .other: break
            }
        } catch {
            counters.badPackets &+= 1
        }
    }

    private mutating func passToScanner(_ packet: Span<UInt8>, now: Duration) {
        var updates: [DeviceTable.Update] = []
        updateScanner { scanner in
            scanner.handle(packet, now: now) { update in updates.append(update) }
        }
        for update in updates { emit(.scanned(update)) }
    }

    private mutating func receive(
        _ subevent: LESubevent,
        _ parameters: Span<UInt8>,
        now: Duration
    ) throws(DecodingError) {
        switch subevent {
        case .connectionComplete, .enhancedConnectionComplete:
            take(try LEConnectionComplete(subevent, parameters), now: now)
        case .connectionUpdateComplete:
            let event = try LEConnectionUpdateComplete(parameters)
            links[event.handle]?.isUpdating = false
            guard event.status == .success, links[event.handle] != nil else { return }
            let timing = ConnectionTiming(event)
            links[event.handle]?.timing = timing
            if announced.contains(event.handle) { emit(.timed(handle: event.handle, timing)) }
        case .longTermKeyRequest:
            answer(try LELongTermKeyRequest(parameters))
        case .remoteConnectionParameterRequest:
            let event = try LERemoteConnectionParameterRequest(parameters)
            guard let role = links[event.handle]?.connection.role else { return }
            let wish = event.parameters
            let granted = role == .central ? ConnectionParameterLimits.granted(wish) : wish.isValid ? wish : nil
            count(granted)
            request(
                granted.map { .leRemoteConnectionParameterRequestReply(handle: event.handle, $0) }
                    ?? .leRemoteConnectionParameterRequestNegativeReply(handle: event.handle),
                .reply
            )
        case .phyUpdateComplete:
            let event = try LEPHYUpdateComplete(parameters)
            if event.status == .success { links[event.handle]?.phy = event.receivedPHY }
        case .dataLengthChange:
            let event = try LEDataLengthChange(parameters)
            links[event.handle]?.receivedDataLength = event.receivedOctets
        case .advertisingSetTerminated: take(try LEAdvertisingSetTerminated(parameters))
        default: break
        }
    }

    /// Gives buffers back that the controller has emptied.
    private mutating func complete(_ completed: CompletedPackets, now: Duration) {
        for entry in completed.entries {
            let done = links[entry.handle]?.complete(Int(entry.count), now: now) ?? 0
            freeBuffers &+= done
            if done < Int(entry.count) { counters.falseCompletions &+= 1 }
            endDrained(entry.handle, now: now)
        }
    }

    /// The next data packet: the connections take turns.
    mutating func nextData(now: Duration) -> [UInt8]? {
        guard freeBuffers > 0, let length = buffers?.dataLength else { return nil }
        let ready = links.values.filter { $0.hasOutgoing }.map { $0.connection.handle }.sorted()
        guard let handle = ready.first(where: { $0 > lastServed }) ?? ready.first,
            let packet = links[handle]?.nextPacket(length: Int(length), now: now)
        else { return nil }
        lastServed = handle
        freeBuffers &-= 1
        if links[handle]?.takeRoom() == true { emit(.writable(handle: handle)) }
        return packet
    }

    mutating func receiveData(_ packet: Span<UInt8>, now: Duration) {
        do throws(DecodingError) {
            let data = try ACLPacket(packet)
            guard let link = links[data.handle] else {
                // Over USB, data may overtake the event that its connection begins with.
                dropLateData(now: now)
                if isReady, early.count < Self.earlyCapacity, packet.count <= HostLink.maximumPayload {
                    early.append((data.handle, [UInt8](copying: packet), now))
                } else {
                    counters.strayPackets &+= 1
                }
                return
            }
            guard announced.contains(data.handle), link.disconnectDeadline == nil else { return }
            let reception = links[data.handle]?.receive(data.boundary, data.data)
            counters.badFrames &+= (links[data.handle]?.unfinishedFrames ?? 0) &- link.unfinishedFrames
            switch reception {
            case .frame(let frame): try receiveFrame(frame.span, link.connection, now: now)
            case .dropped: counters.badFrames &+= 1
            case .incomplete, nil: break
            }
        } catch {
            counters.badPackets &+= 1
        }
    }

    private mutating func receiveFrame(
        _ bytes: Span<UInt8>,
        _ connection: Connection,
        now: Duration
    ) throws(DecodingError) {
        let frame = try L2CAPFrame(bytes)
        switch frame.channel {
        case .attribute: emit(.received(handle: connection.handle, pdu: [UInt8](copying: frame.payload)))
        case .signalling: receiveSignal(frame.payload, connection)
        case .securityManager:
            renewPolicy(of: connection)
            securities[connection.handle]?.manager.receive(frame.payload, now: now)
            carryOut(connection, now: now)
        default: counters.unknownChannels &+= 1
        }
    }

    private mutating func receiveSignal(_ payload: Span<UInt8>, _ connection: Connection) {
        let signal: L2CAPSignal
        do throws(DecodingError) {
            signal = try L2CAPSignal(payload)
        } catch {
            counters.badFrames &+= 1
            // The code and the identifier are enough to refuse a command; a broken response is not answered.
            guard payload.count >= 2, payload[1] != 0,
                !L2CAPSignal.other(code: payload[0], identifier: payload[1]).isResponse
            else { return }
            reject(payload[1], .notUnderstood, [], connection)
            return
        }
        let identifier = signal.identifier
        switch signal {
        case .connectionParameterUpdateRequest(_, let wish) where connection.role == .central:
            let isFree = links[connection.handle]?.isUpdating == false && waiting.count < Self.commandCapacity
            let granted = isFree ? ConnectionParameterLimits.granted(wish) : nil
            count(granted)
            let isAccepted = granted != nil
            let response = L2CAPSignal.connectionParameterUpdateResponse(identifier: identifier, isAccepted: isAccepted)
            answer(.signalling, response.encoded, connection)
            guard let granted else { return }
            links[connection.handle]?.isUpdating = true
            request(.leConnectionUpdate(handle: connection.handle, granted), .update(connection.handle))
        case .disconnectionRequest(_, let destination, let source):
            var channels = ByteWriter()
            channels.write(destination.rawValue)
            channels.write(source.rawValue)
            reject(identifier, .invalidChannel, channels.bytes, connection)
        case .leCreditBasedConnectionRequest:
            let refusal = L2CAPSignal.leCreditBasedConnectionRefusal(identifier: identifier, .spsmNotSupported)
            answer(.signalling, refusal.encoded, connection)
        case .creditBasedConnectionRequest:
            let refusal = L2CAPSignal.creditBasedConnectionRefusal(identifier: identifier, .spsmNotSupported)
            answer(.signalling, refusal.encoded, connection)
        default:
            if !signal.isResponse { reject(identifier, .notUnderstood, [], connection) }
        }
    }

    /// Counts a wish for other parameters, by what became of it.
    private mutating func count(_ granted: ConnectionParameters?) {
        if granted == nil { counters.refusedParameters &+= 1 } else { counters.grantedParameters &+= 1 }
    }

    private mutating func reject(
        _ identifier: UInt8,
        _ reason: L2CAPSignal.RejectReason,
        _ data: [UInt8],
        _ connection: Connection
    ) {
        let reject = L2CAPSignal.commandReject(identifier: identifier, reason: reason, data: data)
        answer(.signalling, reject.encoded, connection)
    }

    /// Puts a frame of this host's own at the end; false, and counted, where there is no room for it.
    @discardableResult
    mutating func answer(_ channel: L2CAPChannel, _ payload: [UInt8], _ connection: Connection) -> Bool {
        guard let frame = L2CAPFrame.encoded(channel, payload),
            links[connection.handle]?.enqueue(frame, isAnswer: true) == true
        else {
            counters.dropped &+= 1
            return false
        }
        return true
    }
}
