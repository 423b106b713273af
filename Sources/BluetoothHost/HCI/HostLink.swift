// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Connection of a host; fragments outgoing frames, and reassembles incoming frames up to a maximum length (Core 6.0,
/// Vol 3, Part A, 7.2 and Vol 4, Part E, 4.1.1).
struct HostLink: Sendable {
    let connection: LowEnergyHost.Connection
    private(set) var timing: ConnectionTiming
    /// Latest RSSI of the peer, in dBm, and the time at which it was requested.
    private(set) var rssi: Int8?
    private var rssiAsked: Duration?
    /// PHY on which the peer sends, and the maximum data length of its packets, as last reported by the controller.
    private(set) var phy: PHY?
    private(set) var receivedDataLength: UInt16?
    /// True once the connection has been reported to the caller.
    private(set) var isAnnounced = false
    /// Number of this connection's packets in the controller's buffers.
    private(set) var inFlight = 0
    /// Time at which the controller last accepted or completed a packet of this connection.
    private var lastProgress = Duration.zero
    /// Frames that have not been completely sent to the controller.
    private var frames: [[UInt8]] = []
    /// Number of bytes of the first frame that have already been sent.
    private var offset = 0
    /// Time by which the controller must have ended the connection; nil if the connection is not being ended.
    private var disconnectDeadline: Duration?
    /// Reason and deadline of a disconnection that waits until the frames have been sent; nil if there is none.
    private var draining: (reason: HCIStatus, until: Duration)?
    /// True while a parameter update that the peer requested is in progress.
    private var isUpdating = false
    /// True if a frame was rejected and `takeRoom` has not yet reported that the queue has room again.
    private var owesRoom = false
    private var partial: [UInt8] = []
    private var isSkipping = true

    /// Maximum number of queued frames; four of them are reserved for this host's own answers.
    private static let frameCapacity = 32
    private static let answerReserve = 4
    /// Maximum length of a reassembled payload, in bytes; the longest attribute value needs 517 bytes.
    static let maximumPayload = 1024

    init(_ connection: LowEnergyHost.Connection, _ timing: ConnectionTiming) {
        self.connection = connection
        self.timing = timing
    }

    var hasOutgoing: Bool { !frames.isEmpty }

    var isEnding: Bool { disconnectDeadline != nil }

    /// Earliest time at which this link must act or the controller must have acted; nil if there is none.
    var deadline: Duration? {
        let completion = inFlight > 0 ? lastProgress + LowEnergyHost.patience : nil
        return [disconnectDeadline, draining?.until, completion].lazy.compactMap { $0 }.min()
    }

    /// Returns the failure if the controller has missed a deadline; otherwise nil.
    func failure(at now: Duration) -> HostFailure? {
        if let disconnectDeadline, disconnectDeadline <= now {
            return .lostDisconnection(handle: connection.handle)
        }
        let isLate = inFlight > 0 && lastProgress + LowEnergyHost.patience <= now
        return isLate ? .lostCompletions(handle: connection.handle) : nil
    }

    mutating func announce() { isAnnounced = true }

    /// Starts the disconnection; from then on, frames to send are rejected and received data is ignored.
    mutating func end(_ reason: HCIStatus, now: Duration) {
        disconnectDeadline = now + LowEnergyHost.patience
        draining = (reason, now + LowEnergyHost.drainTime)
    }

    /// Returns the reason for a delayed disconnection once everything is sent or the drain time is over; returns nil
    /// before that, and on later calls.
    ///
    /// Unsent frames are discarded, including the remainder of a partly sent frame.
    mutating func takeDrained(at now: Duration) -> HCIStatus? {
        guard let draining, frames.isEmpty && inFlight == 0 || draining.until <= now else { return nil }
        self.draining = nil
        frames = []
        offset = 0
        owesRoom = false
        return draining.reason
    }

    /// Number of bytes in the queued frames and in the frame that is being reassembled.
    var storedBytes: Int { frames.reduce(partial.count) { $0 &+ $1.count } }

    /// Queues a frame; returns false if there is no room for it.
    mutating func enqueue(_ frame: [UInt8], isAnswer: Bool = false) -> Bool {
        let limit = isAnswer ? Self.frameCapacity : Self.frameCapacity &- Self.answerReserve
        guard !isEnding, frames.count < limit else {
            if !isAnswer { owesRoom = true }
            return false
        }
        frames.append(frame)
        return true
    }

    /// Returns the next fragment of at most `length` bytes as a packet and counts it as in flight; nil if there is
    /// none.
    mutating func nextPacket(length: Int, now: Duration) -> [UInt8]? {
        guard let frame = frames.first, length > 0 else { return nil }
        let end = min(frame.count, offset &+ length)
        let packet = ACLPacket.encoded(
            handle: connection.handle,
            offset == 0 ? .firstNonFlushable : .continuing,
            frame.span.extracting(offset..<end)
        )
        if end == frame.count {
            frames.removeFirst()
            offset = 0
        } else {
            offset = end
        }
        inFlight &+= 1
        lastProgress = now
        return packet
    }

    /// Processes the controller's count of completed packets; returns the count, limited to the packets in flight.
    mutating func complete(_ count: Int, now: Duration) -> Int {
        let done = min(count, inFlight)
        inFlight &-= done
        if done > 0 { lastProgress = now }
        return done
    }

    /// Returns true if a frame was rejected since this was last reported, and at least half of the queue is free again.
    mutating func takeRoom() -> Bool {
        guard owesRoom, !isEnding, frames.count <= Self.frameCapacity / 2 else { return false }
        owesRoom = false
        return true
    }

    /// Processes a packet; returns the frame that the packet completes, or nil.
    mutating func receive(_ packet: borrowing ACLPacket, _ counters: inout LowEnergyHost.Counters) -> [UInt8]? {
        guard isAnnounced, !isEnding else { return nil }
        switch packet.boundary {
        case .first, .firstNonFlushable:
            if !partial.isEmpty { counters.badFrames &+= 1 }
            partial.removeAll(keepingCapacity: true)
            isSkipping = false
        case .continuing where !isSkipping: break
        case .continuing, .complete: return drop(&counters)
        }
        let limit = Self.maximumPayload &+ L2CAPFrame.headerLength
        guard partial.count &+ packet.data.count <= limit else { return drop(&counters) }
        for index in packet.data.indices { partial.append(packet.data[index]) }
        guard partial.count >= L2CAPFrame.headerLength else { return nil }
        let length = (Int(partial[0]) | Int(partial[1]) &<< 8) &+ L2CAPFrame.headerLength
        guard length <= limit, partial.count <= length else { return drop(&counters) }
        guard partial.count == length else { return nil }
        let frame = partial
        skip()
        return frame
    }

    private mutating func drop(_ counters: inout LowEnergyHost.Counters) -> [UInt8]? {
        skip()
        counters.badFrames &+= 1
        return nil
    }

    /// Discards fragments until the next frame starts.
    private mutating func skip() {
        partial.removeAll(keepingCapacity: true)
        isSkipping = true
    }

    mutating func answer(_ channel: L2CAPChannel, _ payload: [UInt8], _ counters: inout LowEnergyHost.Counters) {
        guard let frame = L2CAPFrame.encoded(channel, payload), enqueue(frame, isAnswer: true) else {
            counters.dropped &+= 1
            return
        }
    }

    mutating func receiveSignal(_ payload: Span<UInt8>, _ output: inout HostOutput) {
        let signal: L2CAPSignal
        do throws(DecodingError) {
            signal = try L2CAPSignal(payload)
        } catch {
            output.counters.badFrames &+= 1
            // The code and the identifier are sufficient to reject a command; a malformed response is not answered.
            guard payload.count >= 2, payload[1] != 0 else { return }
            refuse(.other(code: payload[0], identifier: payload[1]), &output)
            return
        }
        let identifier = signal.identifier
        switch signal {
        case .connectionParameterUpdateRequest(_, let wish) where connection.role == .central:
            let isFree = !isUpdating && !output.commands.isCrowded
            let granted = isFree ? ConnectionParameterLimits.granted(wish) : nil
            count(granted, &output)
            answer(.connectionParameterUpdateResponse(identifier: identifier, isAccepted: granted != nil), &output)
            guard let granted else { return }
            isUpdating = true
            output.request(.leConnectionUpdate(handle: connection.handle, granted), .update(connection.handle))
        case .disconnectionRequest(_, let destination, let source):
            var channels = ByteWriter()
            channels.write(destination.rawValue)
            channels.write(source.rawValue)
            answer(.commandReject(identifier: identifier, reason: .invalidChannel, data: channels.bytes), &output)
        case .leCreditBasedConnectionRequest:
            answer(.leCreditBasedConnectionRefusal(identifier: identifier, .spsmNotSupported), &output)
        case .creditBasedConnectionRequest:
            answer(.creditBasedConnectionRefusal(identifier: identifier, .spsmNotSupported), &output)
        default: refuse(signal, &output)
        }
    }

    /// Rejects an unknown command; ignores a response.
    private mutating func refuse(_ signal: L2CAPSignal, _ output: inout HostOutput) {
        guard !signal.isResponse else { return }
        answer(.commandReject(identifier: signal.identifier, reason: .notUnderstood, data: []), &output)
    }

    private mutating func answer(_ signal: L2CAPSignal, _ output: inout HostOutput) {
        answer(.signalling, signal.encoded, &output.counters)
    }

    /// Counts a request to change the connection parameters as granted or rejected.
    private func count(_ granted: ConnectionParameters?, _ output: inout HostOutput) {
        if granted == nil {
            output.counters.refusedParameters &+= 1
        } else {
            output.counters.grantedParameters &+= 1
        }
    }

    func take(_ event: LERemoteConnectionParameterRequest, _ output: inout HostOutput) {
        let wish = event.parameters
        let granted =
            connection.role == .central ? ConnectionParameterLimits.granted(wish) : wish.isValid ? wish : nil
        count(granted, &output)
        output.request(
            granted.map { .leRemoteConnectionParameterRequestReply(handle: event.handle, $0) }
                ?? .leRemoteConnectionParameterRequestNegativeReply(handle: event.handle),
            .reply
        )
    }

    mutating func take(_ event: LEConnectionUpdateComplete, _ output: inout HostOutput) {
        isUpdating = false
        guard event.status == .success else { return }
        timing = ConnectionTiming(event)
        if isAnnounced { output.emit(.timed(handle: event.handle, timing)) }
    }

    mutating func take(_ event: LEPHYUpdateComplete) {
        if event.status == .success { phy = event.receivedPHY }
    }

    mutating func take(_ event: LEDataLengthChange) {
        receivedDataLength = event.receivedOctets
    }

    /// Processes the answer to a command for this connection.
    mutating func take(_ outcome: HCICommandQueue.Outcome, _ counters: inout LowEnergyHost.Counters) {
        switch outcome {
        // If the command fails, no LE Connection Update Complete follows.
        case .failed(.leConnectionUpdate, _): isUpdating = false
        case .completed(.readRSSI, let returned):
            do throws(DecodingError) {
                rssi = try HCIReturn.rssi(returned.span, of: connection.handle)
            } catch {
                counters.badPackets &+= 1
            }
        default: break
        }
    }

    /// Returns true and records the request if the RSSI has not been requested within `life`.
    mutating func asksSignal(_ life: Duration, now: Duration) -> Bool {
        if isEnding { return false }
        if let asked = rssiAsked, now - asked < life { return false }
        rssiAsked = now
        return true
    }
}
