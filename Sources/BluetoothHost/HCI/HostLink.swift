// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// One connection of a host: frames out in fragments, fragments in to frames, both bounded.
///
/// Core 6.0, Vol 3, Part A, 7.2 and Vol 4, Part E, 4.1.1.
struct HostLink: Sendable {
    /// The connection.
    let connection: LowEnergyHost.Connection
    /// The timing in force.
    var timing: ConnectionTiming
    /// The signal strength of the peer in dBm, as it was read last, and the time when it was asked for.
    var rssi: Int8?
    var rssiAsked: Duration?
    /// The PHY on which the peer sends, and the longest data of its packets, as the controller told them last.
    var phy: PHY?
    var receivedDataLength: UInt16?
    /// Frames that the controller has not taken yet.
    private var frames: [[UInt8]] = []
    /// The bytes of the first frame that it has taken.
    private var offset = 0
    /// The packets of this connection in the controller's buffers.
    private(set) var inFlight = 0
    /// The time at which the controller last took or finished a packet of this connection.
    private(set) var lastProgress = Duration.zero
    /// The time by which a connection that was told to end must have ended; nil while it stays.
    var disconnectDeadline: Duration?
    /// Command to send once the frames have left, or at this time; nil for none.
    var draining: (reason: HCIStatus, until: Duration)?
    /// True while the controller changes the connection's parameters for the peer.
    var isUpdating = false
    /// True after a frame was refused: somebody waits for room.
    private(set) var owesRoom = false

    /// The number of frames of which the rest never came.
    private(set) var unfinishedFrames: UInt64 = 0

    private var partial: [UInt8] = []
    private var isSkipping = true

    /// The most frames that wait; a tenth is kept for our own answers.
    static let frameCapacity = 32
    private static let answerReserve = 4
    /// The longest payload that is put together; the longest attribute value needs 517.
    static let maximumPayload = 1024

    /// The outcome of a received fragment.
    enum Reception: Equatable {
        /// More fragments must come.
        case incomplete
        /// A frame is whole.
        case frame([UInt8])
        /// The fragment was thrown away.
        case dropped
    }

    init(_ connection: LowEnergyHost.Connection, _ timing: ConnectionTiming) {
        self.connection = connection
        self.timing = timing
    }

    /// True when there is something to send.
    var hasOutgoing: Bool { !frames.isEmpty }

    /// True for a connection that is to end and has nothing left to send, or no time for it.
    func isDrained(at now: Duration) -> Bool {
        guard let draining else { return false }
        return frames.isEmpty && inFlight == 0 || draining.until <= now
    }

    /// The bytes that wait, in frames to send and in the one being put together.
    var storedBytes: Int { frames.reduce(partial.count) { $0 &+ $1.count } }

    /// Puts a frame at the end; false when there is no room for it.
    mutating func enqueue(_ frame: [UInt8], isAnswer: Bool = false) -> Bool {
        let limit = isAnswer ? Self.frameCapacity : Self.frameCapacity &- Self.answerReserve
        guard disconnectDeadline == nil, frames.count < limit else {
            if !isAnswer { owesRoom = true }
            return false
        }
        frames.append(frame)
        return true
    }

    /// The next fragment of at most `length` bytes, as a packet; it counts as in flight.
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

    /// Takes the controller's count of packets that have left; returns the part of it that can be true.
    mutating func complete(_ count: Int, now: Duration) -> Int {
        let done = min(count, inFlight)
        inFlight &-= done
        if done > 0 { lastProgress = now }
        return done
    }

    /// True once, when a frame was refused and there is room for several again.
    mutating func takeRoom() -> Bool {
        guard owesRoom, disconnectDeadline == nil, frames.count <= Self.frameCapacity / 2 else { return false }
        owesRoom = false
        return true
    }

    /// Throws away what was not sent, the rest of a frame that was begun included: the connection ends.
    mutating func removeOutgoing() {
        frames = []
        offset = 0
        owesRoom = false
    }

    /// Takes a fragment.
    mutating func receive(_ boundary: ACLPacket.Boundary, _ data: Span<UInt8>) -> Reception {
        switch boundary {
        case .first, .firstNonFlushable:
            if !partial.isEmpty { unfinishedFrames &+= 1 }
            partial.removeAll(keepingCapacity: true)
            isSkipping = false
        case .continuing:
            guard !isSkipping else { return .dropped }
        case .complete:
            skip()
            return .dropped
        }
        guard partial.count &+ data.count <= Self.maximumPayload &+ L2CAPFrame.headerLength else {
            skip()
            return .dropped
        }
        for index in data.indices { partial.append(data[index]) }
        guard partial.count >= L2CAPFrame.headerLength else { return .incomplete }
        let length = (Int(partial[0]) | Int(partial[1]) &<< 8) &+ L2CAPFrame.headerLength
        guard length <= Self.maximumPayload &+ L2CAPFrame.headerLength, partial.count <= length else {
            skip()
            return .dropped
        }
        guard partial.count == length else { return .incomplete }
        let frame = partial
        skip()
        return .frame(frame)
    }

    /// Ignores fragments until a frame begins.
    private mutating func skip() {
        partial.removeAll(keepingCapacity: true)
        isSkipping = true
    }
}
