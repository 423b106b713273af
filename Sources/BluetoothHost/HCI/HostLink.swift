// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// One connection of a host: frames out in fragments, fragments in to frames, both bounded (Core 6.0, Vol 3, Part A,
/// 7.2 and Vol 4, Part E, 4.1.1).
struct HostLink: Sendable {
    let connection: LowEnergyHost.Connection
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

    enum Reception: Equatable {
        case incomplete
        case frame([UInt8])
        case dropped
    }

    init(_ connection: LowEnergyHost.Connection, _ timing: ConnectionTiming) {
        self.connection = connection
        self.timing = timing
    }

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

/// The security of one connection of a host: its Security Manager, and what encrypts the link.
struct HostSecurity: Sendable {
    var manager: SecurityManager
    var inForce: GATTLinkSecurity
    /// The security that the link will have once it is encrypted with the key that was given to the controller; nil while
    /// none was.
    private(set) var pending: GATTLinkSecurity?
    /// True once the controller has taken that key: what it tells before is of no key of ours.
    var isAccepted = false
    /// The outcome that the controller told before its answer to the instruction with that key.
    var early: Bool?

    init(_ manager: SecurityManager) {
        self.manager = manager
        inForce = GATTLinkSecurity(isBonded: manager.bond != nil)
    }

    /// Notes that the controller is given a key with this security, or that it has used it.
    mutating func give(_ security: GATTLinkSecurity?) {
        pending = security
        isAccepted = false
        early = nil
    }

    /// The security that the key gives which the Security Manager has given out last.
    var offered: GATTLinkSecurity {
        guard !manager.isPairing else {
            let level: GATTLinkSecurity.Level = manager.isAuthenticating ? .authenticated : .encrypted
            // A pairing makes no shorter keys.
            return GATTLinkSecurity(level: level, isBonded: inForce.isBonded)
        }
        let role: LongTermKey.Role = manager.role == .central ? .central : .peripheral
        guard let key = manager.bond?.key(for: role) else { return GATTLinkSecurity() }
        return GATTLinkSecurity(level: key.level, keySize: key.size, isBonded: true)
    }
}

/// How long devices that failed to pair have to wait: a bounded table, so that a new connection does not shorten it
/// (Core 6.0, Vol 3, Part H, 2.3.6).
struct PairingBackoffs: Sendable {
    /// The most devices; in a full table the wait that ends first is forgotten.
    static let capacity = 64

    private var waits: [DeviceAddress: PairingBackoff] = [:]

    subscript(device: DeviceAddress) -> PairingBackoff { waits[device] ?? PairingBackoff() }

    var count: Int { waits.count }

    /// Keeps the wait of a device, or forgets it where there is none.
    mutating func keep(_ backoff: PairingBackoff, of device: DeviceAddress) {
        guard let end = backoff.end else {
            waits[device] = nil
            return
        }
        if waits[device] == nil, waits.count >= Self.capacity {
            let first = waits.min { ($0.value.end ?? end) < ($1.value.end ?? end) }
            if let first { waits[first.key] = nil }
        }
        waits[device] = backoff
    }
}

/// The reason why a host has given its controller up; a new host has to begin anew.
public enum HostFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The controller refused a command that nothing works without.
    case refused(HCIOpcode, HCIStatus)
    case noAnswer(HCIOpcode)
    /// The controller was silent for this time while it was in use, and answered nothing when it was asked.
    case silent(Duration)
    /// The controller answered with something that cannot be read, or not be used.
    case badAnswer(HCIOpcode)
    case lowEnergyUnsupported
    /// The controller reported a fault of its own, with the vendor's code.
    case hardwareError(UInt8)
    /// The controller kept data of a connection for too long.
    case lostCompletions(handle: UInt16)
    /// The controller did not end a connection that it was told to end.
    case lostDisconnection(handle: UInt16)
    /// The controller reports more than it takes answers to.
    case overrun

    /// One line for people.
    public var description: String {
        switch self {
        case .refused(let opcode, let status): "\(opcode) was refused: \(status)"
        case .noAnswer(.reset):
            "\(HCIOpcode.reset) was not answered within "
                + "\(HCICommandQueue.resetTimeout * LowEnergyHost.resetAttempts), sent \(LowEnergyHost.resetAttempts) times"
        case .noAnswer(let opcode): "\(opcode) was not answered within \(HCICommandQueue.timeout)"
        case .silent(let time): "the controller has fallen silent: for \(time) it sent nothing, and answers nothing"
        case .badAnswer(let opcode): "the answer to \(opcode) makes no sense"
        case .lowEnergyUnsupported: "the controller has no Low Energy"
        case .hardwareError(let code):
            "the controller reported a hardware error (0x\(Hexadecimal.text(UInt64(code), digits: 2)))"
        case .lostCompletions(let handle):
            "the controller does not send the data of connection \(handle), nor ends it"
        case .lostDisconnection(let handle): "the controller does not end connection \(handle)"
        case .overrun: "the controller tells of more connections than it lets be ended"
        }
    }
}

/// The limits within which a peripheral's wish for other connection parameters is granted.
///
/// A peripheral knows best what its battery allows, so its wish is granted where typing does not suffer. A central may
/// refuse any wish, and the parameters in force stay then (Core 6.0, Vol 3, Part A, 4.20 and Vol 4, Part E, 7.8.32).
enum ConnectionParameterLimits {
    /// The longest interval, in units of 1.25 ms: 200 ms.
    ///
    /// A value waits for the next connection event, so a barcode is typed that much later (Core 6.0, Vol 6, Part B, 4.5.1);
    /// nobody takes a fifth of a second for a fault.
    static let longestInterval: UInt16 = 160
    /// The longest time for which the peripheral need not listen, (latency + 1) × interval, in the same units: 2 s.
    ///
    /// What is written to it waits that long, and a command of a handshake has an answer in time.
    static let longestSilence: UInt32 = 1600
    /// The supervision time-outs, in units of 10 ms: 1 s to 10 s.
    ///
    /// A shorter one ends links that somebody has walked through; a longer one leaves a device that is gone unnoticed, and
    /// its next advertisement unheard (Core 6.0, Vol 6, Part B, 4.5.2).
    static let supervisionTimeouts: ClosedRange<UInt16> = 100...1000

    /// The part of a wish that is granted, nil for none: the longest interval may become shorter, all else stays.
    static func granted(_ wish: ConnectionParameters) -> ConnectionParameters? {
        guard wish.isValid, supervisionTimeouts.contains(wish.supervisionTimeout) else { return nil }
        let longest = min(UInt32(longestInterval), longestSilence / (UInt32(wish.latency) &+ 1))
        guard UInt32(wish.minimumInterval) <= longest else { return nil }
        var granted = wish
        granted.maximumInterval = min(wish.maximumInterval, UInt16(truncatingIfNeeded: longest))
        return granted
    }
}
