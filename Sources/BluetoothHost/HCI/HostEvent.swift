// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

extension LowEnergyHost {
    /// Maximum number of connections; the host ends additional ones.
    public static let maximumConnections = 16
    /// Maximum number of simultaneous connection attempts.
    public static let maximumAttempts = 16
    /// Number of bonds at which the host stops adding new ones.
    public static let maximumBonds = 128
    /// Maximum time that the controller may take to send data or end a connection.
    ///
    /// It is longer than the maximum supervision time-out (32 s).
    public static let patience = Duration.seconds(40)
    /// Maximum time for which a disconnection is delayed while data is queued.
    ///
    /// It is longer than a device with typical connection parameters needs to transfer the keys of a pairing.
    public static let drainTime = Duration.seconds(2)
    /// Maximum number of Reset commands that are sent if the controller does not answer.
    public static let resetAttempts = 2
    /// Maximum number of initialisations, including the first one.
    public static let mostBeginnings = 4
    /// Time for which a controller in use may be silent before a liveness probe is sent.
    public static let silence = Duration.seconds(10)

    /// Established connection.
    public struct Connection: Hashable, Sendable {
        /// 12-bit connection handle; the controller may reuse it once this connection has ended.
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

    /// Event for the caller to process.
    public enum Event: Hashable, Sendable {
        case ready
        /// The host failed; no more events follow.
        case failed(HostFailure)
        /// A connection was established, in either role.
        case connected(Connection)
        case connectionFailed(DeviceAddress, ConnectionFailure)
        case disconnected(Connection, reason: HCIStatus)
        case timed(handle: UInt16, ConnectionTiming)
        /// An ATT PDU was received.
        case received(handle: UInt16, pdu: [UInt8])
        /// The encryption of a connection changed, or a pairing event occurred.
        case security(handle: UInt16, SecurityEvent)
        /// A connection whose queue was full accepts PDUs again.
        case writable(handle: UInt16)
        case advertisingStarted
        case advertisingFailed(HostFailure)
        case advertisingStopped
        case scanStarted
        case scanStopped
        case scanFailed(Scanner.Failure)
        /// A report that matches the filter was received.
        case scanned(DeviceTable.Update)
    }

    /// Change in a connection's encryption, or pairing event.
    public enum SecurityEvent: Hashable, Sendable {
        /// The link's security has changed, or could not be raised; the value is the current security.
        case changed(GATTLinkSecurity)
        /// The user must enter this six-digit passkey at the peer.
        case showPasskey(UInt32)
        /// The user must be asked for the passkey that the peer shows; answer with `enter`.
        case askPasskey
        /// The user must be asked whether the peer shows this six-digit number; answer with `compare`.
        case compareNumber(UInt32)
        /// The pairing succeeded; the bond is nil if the pairing produced none.
        case paired(Bond?)
        case pairingFailed(SecurityManager.Failure)
    }

    /// Counters for the log.
    public struct Counters: Hashable, Sendable {
        /// Number of packets from the controller that could not be parsed.
        public internal(set) var badPackets: UInt64 = 0
        /// Number of fragments and frames that violated L2CAP.
        public internal(set) var badFrames: UInt64 = 0
        /// Number of data packets for unknown connections.
        public internal(set) var strayPackets: UInt64 = 0
        /// Number of frames for unknown channels.
        public internal(set) var unknownChannels: UInt64 = 0
        /// Number of packets that the controller reported as completed although they were not in its buffers.
        public internal(set) var falseCompletions: UInt64 = 0
        /// Number of events and answers that were discarded because the caller or the controller was too slow.
        public internal(set) var dropped: UInt64 = 0
        /// Number of Data Buffer Overflow events.
        public internal(set) var overflows: UInt64 = 0
        /// Number of Reset commands that were repeated because the previous one was not answered.
        public internal(set) var repeatedResets: UInt64 = 0
        /// Number of liveness probes sent to a controller that was silent for `silence` while in use.
        public internal(set) var probes: UInt64 = 0
        /// Number of peers' requests to change the connection parameters that were granted in full or in part.
        public internal(set) var grantedParameters: UInt64 = 0
        /// Number of peers' requests to change the connection parameters that were rejected.
        public internal(set) var refusedParameters: UInt64 = 0
        /// Number of connection attempts that failed and were retried.
        public internal(set) var repeatedConnections: UInt64 = 0
    }
}
