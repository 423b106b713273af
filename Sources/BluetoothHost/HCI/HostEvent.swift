// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

extension LowEnergyHost {
    /// The most connections; a controller that makes more is told to end them.
    public static let maximumConnections = 16
    /// The most connections that are asked for at a time.
    public static let maximumAttempts = 16
    /// The most bonds of which pairings add another.
    public static let maximumBonds = 128
    /// The longest time that the controller may keep data, or a connection that ends: more than the longest supervision
    /// time-out (32 s).
    public static let patience = Duration.seconds(40)
    /// The longest time that a connection which is to end goes on for the data that waits: longer than a device with the usual
    /// timing takes for the keys of a pairing.
    public static let drainTime = Duration.seconds(2)
    /// The number of times that Reset is sent before its answer is given up.
    public static let resetAttempts = 2
    /// The number of times that an initialisation is begun anew, with the first.
    public static let mostBeginnings = 4
    /// The longest silence of a controller in use before it is asked for a sign of life.
    public static let silence = Duration.seconds(10)

    /// An established connection.
    public struct Connection: Hashable, Sendable {
        /// The connection handle, 12 bits; free for another connection as soon as this one has ended.
        public let handle: UInt16
        /// The host's own role.
        public let role: ConnectionRole
        /// The peer.
        public let peer: DeviceAddress
    }

    /// The reason why an attempt to connect failed.
    public enum ConnectionFailure: Error, Hashable, Sendable {
        case timedOut
        case status(HCIStatus)
        case refused(HCIOpcode, HCIStatus)
    }

    /// News for the caller.
    public enum Event: Hashable, Sendable {
        case ready
        /// The host has given up; no event follows.
        case failed(HostFailure)
        /// A connection was established, in either role.
        case connected(Connection)
        case connectionFailed(DeviceAddress, ConnectionFailure)
        case disconnected(Connection, reason: HCIStatus)
        case timed(handle: UInt16, ConnectionTiming)
        /// A PDU of the Attribute Protocol.
        case received(handle: UInt16, pdu: [UInt8])
        /// News of a connection's encryption or pairing.
        case security(handle: UInt16, SecurityEvent)
        /// There is room again for a PDU that was not taken.
        case writable(handle: UInt16)
        case advertisingStarted
        case advertisingFailed(HostFailure)
        case advertisingStopped
        case scanStarted
        case scanStopped
        case scanFailed(Scanner.Failure)
        /// A report that the filter lets through.
        case scanned(DeviceTable.Update)
    }

    /// News of a connection's encryption or pairing.
    public enum SecurityEvent: Hashable, Sendable {
        /// The link has this security now, whether that is more or less than before, or could not have more.
        case changed(GATTLinkSecurity)
        /// The user is to enter this passkey, six digits, at the peer.
        case showPasskey(UInt32)
        /// The user is to say which passkey the peer shows: `enter`.
        case askPasskey
        /// The user is to say whether the peer shows this number, six digits: `compare`.
        case compareNumber(UInt32)
        /// The pairing has succeeded; nil where no bond comes of it.
        case paired(Bond?)
        case pairingFailed(SecurityManager.Failure)
    }

    /// Counts for the log.
    public struct Counters: Hashable, Sendable {
        /// Packets from the controller that could not be read.
        public internal(set) var badPackets: UInt64 = 0
        /// Fragments and frames that broke L2CAP's rules.
        public internal(set) var badFrames: UInt64 = 0
        /// Data for connections that do not exist.
        public internal(set) var strayPackets: UInt64 = 0
        /// Frames for channels that do not exist.
        public internal(set) var unknownChannels: UInt64 = 0
        /// Completions of packets that were not under way.
        public internal(set) var falseCompletions: UInt64 = 0
        /// Events and answers that were not kept because the caller or the controller was too slow.
        public internal(set) var dropped: UInt64 = 0
        /// Data Buffer Overflow events.
        public internal(set) var overflows: UInt64 = 0
        /// Resets that were sent again because the one before was not answered.
        public internal(set) var repeatedResets: UInt64 = 0
        /// Times that a controller in use was asked whether it is there, after `silence`.
        public internal(set) var probes: UInt64 = 0
        /// Peers' wishes for other connection parameters that were granted, as a whole or in part.
        public internal(set) var grantedParameters: UInt64 = 0
        /// Peers' wishes for other connection parameters that were refused.
        public internal(set) var refusedParameters: UInt64 = 0
        /// Connections that could not be established and were tried again.
        public internal(set) var repeatedConnections: UInt64 = 0
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
