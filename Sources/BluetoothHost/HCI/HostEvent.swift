// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

extension LowEnergyHost {
    /// Maximum number of connections; the host ends additional ones.
    public static let maximumConnections = 16
    /// Maximum number of simultaneous connection attempts.
    public static let maximumAttempts = 16
    /// Maximum number of bonds up to which pairings add further ones.
    public static let maximumBonds = 128
    /// Maximum time for the controller to send data or to end a connection: longer than the maximum supervision
    /// time-out (32 s).
    public static let patience = Duration.seconds(40)
    /// Maximum delay of a disconnection while data is queued: longer than a device with the usual timing needs for the
    /// keys of a pairing.
    public static let drainTime = Duration.seconds(2)
    /// Maximum number of times that Reset is sent without an answer.
    public static let resetAttempts = 2
    /// Maximum number of initialisations, including the first.
    public static let mostBeginnings = 4
    /// Silence of a controller in use after which a liveness probe is sent.
    public static let silence = Duration.seconds(10)

    /// Established connection.
    public struct Connection: Hashable, Sendable {
        /// Connection handle, 12 bits; reusable as soon as this connection has ended.
        public let handle: UInt16
        /// Role of this host.
        public let role: ConnectionRole
        /// Address of the peer.
        public let peer: DeviceAddress
    }

    /// Reason why a connection attempt failed.
    public enum ConnectionFailure: Error, Hashable, Sendable {
        case timedOut
        case status(HCIStatus)
        case refused(HCIOpcode, HCIStatus)
    }

    /// Event for the caller.
    public enum Event: Hashable, Sendable {
        case ready
        /// Failure of the host; no event follows.
        case failed(HostFailure)
        /// Established connection, in either role.
        case connected(Connection)
        case connectionFailed(DeviceAddress, ConnectionFailure)
        case disconnected(Connection, reason: HCIStatus)
        case timed(handle: UInt16, ConnectionTiming)
        /// Received ATT PDU.
        case received(handle: UInt16, pdu: [UInt8])
        /// Change of a connection's encryption, or pairing event.
        case security(handle: UInt16, SecurityEvent)
        /// Room for a PDU after an earlier one was rejected.
        case writable(handle: UInt16)
        case advertisingStarted
        case advertisingFailed(HostFailure)
        case advertisingStopped
        case scanStarted
        case scanStopped
        case scanFailed(Scanner.Failure)
        /// Report that matches the filter.
        case scanned(DeviceTable.Update)
    }

    /// Change of a connection's encryption, or pairing event.
    public enum SecurityEvent: Hashable, Sendable {
        /// Current security of the link, whether it has changed or could not be raised.
        case changed(GATTLinkSecurity)
        /// Passkey of six digits that the user has to enter at the peer.
        case showPasskey(UInt32)
        /// Request for the passkey that the peer shows, to be given by `enter`.
        case askPasskey
        /// Request to compare this number of six digits with the peer's, to be answered by `compare`.
        case compareNumber(UInt32)
        /// Successful pairing; nil if it produced no bond.
        case paired(Bond?)
        case pairingFailed(SecurityManager.Failure)
    }

    /// Counters for the log.
    public struct Counters: Hashable, Sendable {
        /// Packets from the controller that could not be parsed.
        public internal(set) var badPackets: UInt64 = 0
        /// Fragments and frames that violated L2CAP.
        public internal(set) var badFrames: UInt64 = 0
        /// Data packets for unknown connections.
        public internal(set) var strayPackets: UInt64 = 0
        /// Frames for unknown channels.
        public internal(set) var unknownChannels: UInt64 = 0
        /// Completions of packets that were not in the controller.
        public internal(set) var falseCompletions: UInt64 = 0
        /// Events and answers that were discarded because the caller or the controller was too slow.
        public internal(set) var dropped: UInt64 = 0
        /// Data Buffer Overflow events.
        public internal(set) var overflows: UInt64 = 0
        /// Resets that were repeated because the previous one was not answered.
        public internal(set) var repeatedResets: UInt64 = 0
        /// Liveness probes sent to a controller in use after `silence`.
        public internal(set) var probes: UInt64 = 0
        /// Requests of peers for other connection parameters that were granted fully or in part.
        public internal(set) var grantedParameters: UInt64 = 0
        /// Requests of peers for other connection parameters that were rejected.
        public internal(set) var refusedParameters: UInt64 = 0
        /// Connection attempts that failed and were retried.
        public internal(set) var repeatedConnections: UInt64 = 0
    }
}

/// Reason why a host has failed; a new host is needed to start again.
public enum HostFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Failure of a command that the host cannot work without.
    case refused(HCIOpcode, HCIStatus)
    case noAnswer(HCIOpcode)
    /// Silence of the controller for this time while it was in use, without an answer to the probe.
    case silent(Duration)
    /// Answer of the controller that cannot be parsed or used.
    case badAnswer(HCIOpcode)
    case lowEnergyUnsupported
    /// Hardware error reported by the controller, with the vendor's code.
    case hardwareError(UInt8)
    /// Data of a connection that the controller did not send in time.
    case lostCompletions(handle: UInt16)
    /// Connection that the controller did not end when requested.
    case lostDisconnection(handle: UInt16)
    /// More events from the controller than it accepts answers to.
    case overrun

    /// One-line description for people.
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
