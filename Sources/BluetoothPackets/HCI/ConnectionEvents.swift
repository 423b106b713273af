// SPDX-License-Identifier: GPL-2.0-or-later

/// A device's role in a connection (Core 6.0, Vol 4, Part E, 7.7.65.1 (Role)).
public enum ConnectionRole: UInt8, Hashable, Sendable {
    /// The device that initiated the connection and sets its timing.
    case central = 0
    /// The device that advertised.
    case peripheral = 1
}

/// Result of a connection attempt: LE Connection Complete or LE Enhanced Connection Complete [v1] (Core 6.0, Vol 4,
/// Part E, 7.7.65.1 and 7.7.65.10).
public struct LEConnectionComplete: Hashable, Sendable {
    /// Success, or the reason for the failure; the other fields are meaningless after a failure.
    public var status: HCIStatus
    /// The connection handle, 12 bits.
    public var handle: UInt16
    /// This host's role.
    public var role: ConnectionRole
    /// The peer.
    public var peer: DeviceAddress
    /// The interval in units of 1.25 ms.
    public var interval: UInt16
    /// Number of connection events that the peripheral may skip.
    public var latency: UInt16
    /// The supervision time-out in units of 10 ms.
    public var supervisionTimeout: UInt16

    /// Reads the parameters after the subevent code.
    public init(_ subevent: LESubevent, _ parameters: Span<UInt8>) throws(DecodingError) {
        let isEnhanced = subevent == .enhancedConnectionComplete
        var reader = ByteReader(
            parameters,
            packet: isEnhanced ? "LE Enhanced Connection Complete" : "LE Connection Complete"
        )
        guard isEnhanced || subevent == .connectionComplete else {
            throw reader.error("Subevent_Code", .unexpectedCode(UInt16(subevent.rawValue)))
        }
        status = HCIStatus(rawValue: try reader.readUInt8("Status"))
        handle = try reader.readUInt16("Connection_Handle") & 0x0FFF
        let roleCode = try reader.readUInt8("Role")
        let typeCode = try reader.readUInt8("Peer_Address_Type")
        if let role = ConnectionRole(rawValue: roleCode), let type = AddressType(hci: typeCode) {
            self.role = role
            peer = DeviceAddress(try reader.readAddress("Peer_Address"), type)
        } else if status == .success {
            let isRole = ConnectionRole(rawValue: roleCode) == nil
            throw reader.error(
                isRole ? "Role" : "Peer_Address_Type",
                .invalidValue(UInt64(isRole ? roleCode : typeCode))
            )
        } else {
            // After a failure the peer's fields are meaningless.
            role = .central
            peer = DeviceAddress(try reader.readAddress("Peer_Address"), .public)
        }
        if isEnhanced {
            _ = try reader.readAddress("Local_Resolvable_Private_Address")
            _ = try reader.readAddress("Peer_Resolvable_Private_Address")
        }
        interval = try reader.readUInt16("Connection_Interval")
        latency = try reader.readUInt16("Peripheral_Latency")
        supervisionTimeout = try reader.readUInt16("Supervision_Timeout")
        _ = try reader.readUInt8("Central_Clock_Accuracy")
        try reader.expectEnd()
    }
}

/// Result of a connection parameter update: LE Connection Update Complete (Core 6.0, Vol 4, Part E, 7.7.65.3).
public struct LEConnectionUpdateComplete: Hashable, Sendable {
    /// Success, or the reason for the failure; nothing has changed then.
    public var status: HCIStatus
    /// The connection handle.
    public var handle: UInt16
    /// The interval in units of 1.25 ms.
    public var interval: UInt16
    /// Number of connection events that the peripheral may skip.
    public var latency: UInt16
    /// The supervision time-out in units of 10 ms.
    public var supervisionTimeout: UInt16

    /// Reads the parameters after the subevent code.
    public init(_ parameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(parameters, packet: "LE Connection Update Complete")
        status = HCIStatus(rawValue: try reader.readUInt8("Status"))
        handle = try reader.readUInt16("Connection_Handle") & 0x0FFF
        interval = try reader.readUInt16("Connection_Interval")
        latency = try reader.readUInt16("Peripheral_Latency")
        supervisionTimeout = try reader.readUInt16("Supervision_Timeout")
        try reader.expectEnd()
    }
}

/// The peer's request for other connection parameters: LE Remote Connection Parameter Request (Core 6.0, Vol 4, Part E,
/// 7.7.65.6).
public struct LERemoteConnectionParameterRequest: Hashable, Sendable {
    /// The connection handle.
    public var handle: UInt16
    /// The requested parameters.
    public var parameters: ConnectionParameters

    /// Reads the parameters after the subevent code.
    public init(_ parameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(parameters, packet: "LE Remote Connection Parameter Request")
        handle = try reader.readUInt16("Connection_Handle") & 0x0FFF
        self.parameters = try ConnectionParameters(from: &reader)
        try reader.expectEnd()
    }
}

/// The peer's request for the long term key, to encrypt the link: LE Long Term Key Request (Core 6.0, Vol 4, Part E,
/// 7.7.65.5).
public struct LELongTermKeyRequest: Hashable, Sendable {
    /// The connection handle.
    public var handle: UInt16
    /// Rand, which identifies a key of LE legacy pairing; otherwise 0.
    public var random: UInt64
    /// EDIV, which identifies a key of LE legacy pairing; otherwise 0.
    public var diversifier: UInt16

    /// Reads the parameters after the subevent code.
    public init(_ parameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(parameters, packet: "LE Long Term Key Request")
        handle = try reader.readUInt16("Connection_Handle") & 0x0FFF
        random = try reader.readUInt64("Random_Number")
        diversifier = try reader.readUInt16("Encrypted_Diversifier")
        try reader.expectEnd()
    }
}

/// A change of a link's encryption: Encryption Change [v1], or Encryption Key Refresh Complete (Core 6.0, Vol 4, Part
/// E, 7.7.8 and 7.7.39).
public struct EncryptionChange: Hashable, Sendable {
    /// Success, or the reason for the failure; nothing has changed then.
    public var status: HCIStatus
    /// The connection handle.
    public var handle: UInt16
    /// True if the link is encrypted.
    public var isOn: Bool

    /// Reads the parameters of the event with this code; after a key refresh the link is always encrypted.
    public init(code: UInt8, _ parameters: Span<UInt8>) throws(DecodingError) {
        let isRefresh = code == HCIEvent.Code.encryptionKeyRefreshComplete
        let packet = isRefresh ? "Encryption Key Refresh Complete" : "Encryption Change"
        var reader = ByteReader(parameters, packet: packet)
        status = HCIStatus(rawValue: try reader.readUInt8("Status"))
        handle = try reader.readUInt16("Connection_Handle") & 0x0FFF
        isOn = isRefresh ? true : try reader.readUInt8("Encryption_Enabled") != 0
        try reader.expectEnd()
    }
}

/// The end of an advertising set's advertising: LE Advertising Set Terminated (Core 6.0, Vol 4, Part E, 7.7.65.18).
public struct LEAdvertisingSetTerminated: Hashable, Sendable {
    /// Success if a connection was made, otherwise the reason for the end.
    public var status: HCIStatus
    /// The advertising set.
    public var advertisingHandle: UInt8
    /// Handle of the new connection.
    public var handle: UInt16

    /// Reads the parameters after the subevent code.
    public init(_ parameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(parameters, packet: "LE Advertising Set Terminated")
        status = HCIStatus(rawValue: try reader.readUInt8("Status"))
        advertisingHandle = try reader.readUInt8("Advertising_Handle")
        handle = try reader.readUInt16("Connection_Handle") & 0x0FFF
        _ = try reader.readUInt8("Num_Completed_Extended_Advertising_Events")
        try reader.expectEnd()
    }
}

/// Number of data packets that have left the controller's buffers: Number Of Completed Packets.
///
/// The two fields of each connection are adjacent, as controllers send them. Core 6.0, Vol 4, Part E, 7.7.19.
public struct CompletedPackets: Hashable, Sendable {
    /// The count of one connection.
    public struct Entry: Hashable, Sendable {
        /// The connection handle.
        public var handle: UInt16
        /// Number of completed packets of the connection.
        public var count: UInt16

        /// Creates an entry.
        public init(handle: UInt16, count: UInt16) {
            self.handle = handle
            self.count = count
        }
    }

    /// Counts of the connections, at most 63.
    public var entries: [Entry]

    /// Reads the event's parameters.
    public init(_ parameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(parameters, packet: "Number Of Completed Packets")
        let count = try reader.readUInt8("Num_Handles")
        entries = []
        for _ in 0..<count {
            let handle = try reader.readUInt16("Connection_Handle") & 0x0FFF
            entries.append(Entry(handle: handle, count: try reader.readUInt16("Num_Completed_Packets")))
        }
        try reader.expectEnd()
    }
}

/// A PHY of a connection (Core 6.0, Vol 4, Part E, 7.7.65.12).
public struct PHY: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt8

    /// Creates a PHY from its number.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// LE 2M.
    public static let fast = PHY(rawValue: 2)
}

/// Result of a PHY change: LE PHY Update Complete (Core 6.0, Vol 4, Part E, 7.7.65.12).
public struct LEPHYUpdateComplete: Hashable, Sendable {
    /// Success, or the reason for the failure; nothing has changed then.
    public var status: HCIStatus
    /// The connection handle.
    public var handle: UInt16
    /// The PHY on which the peer transmits.
    public var receivedPHY: PHY

    /// Reads the parameters after the subevent code.
    public init(_ parameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(parameters, packet: "LE PHY Update Complete")
        status = HCIStatus(rawValue: try reader.readUInt8("Status"))
        handle = try reader.readUInt16("Connection_Handle") & 0x0FFF
        _ = try reader.readUInt8("TX_PHY")
        receivedPHY = PHY(rawValue: try reader.readUInt8("RX_PHY"))
        try reader.expectEnd()
    }
}

/// A change of the maximum packet length: LE Data Length Change (Core 6.0, Vol 4, Part E, 7.7.65.7).
public struct LEDataLengthChange: Hashable, Sendable {
    /// The connection handle.
    public var handle: UInt16
    /// Maximum payload of a packet from the peer, in bytes.
    public var receivedOctets: UInt16

    /// Reads the parameters after the subevent code.
    public init(_ parameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(parameters, packet: "LE Data Length Change")
        handle = try reader.readUInt16("Connection_Handle") & 0x0FFF
        _ = try reader.readUInt16("Max_TX_Octets")
        _ = try reader.readUInt16("Max_TX_Time")
        receivedOctets = try reader.readUInt16("Max_RX_Octets")
        _ = try reader.readUInt16("Max_RX_Time")
        try reader.expectEnd()
    }
}

/// Requested connection parameters, for a new connection or for an update (Core 6.0, Vol 4, Part E, 7.8.12 and Vol 3,
/// Part A, 4.20).
public struct ConnectionParameters: Hashable, Sendable {
    /// Minimum connection interval, in units of 1.25 ms: 0x0006 … 0x0C80 (7.5 ms … 4 s).
    public var minimumInterval: UInt16
    /// Maximum connection interval, in the same units and range.
    public var maximumInterval: UInt16
    /// Number of connection events that the peripheral may skip: 0 … 499.
    public var latency: UInt16
    /// Supervision time-out, after which a silent peer is considered disconnected, in units of 10 ms: 0x000A … 0x0C80
    /// (100 ms … 32 s).
    public var supervisionTimeout: UInt16

    /// Range of valid intervals.
    public static let intervals: ClosedRange<UInt16> = 0x0006...0x0C80
    /// Range of valid latencies.
    public static let latencies: ClosedRange<UInt16> = 0...0x01F3
    /// Range of valid supervision time-outs.
    public static let supervisionTimeouts: ClosedRange<UInt16> = 0x000A...0x0C80

    /// Creates parameters, in the specification's units.
    public init(minimumInterval: UInt16, maximumInterval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// Interval of 15 ms to 30 ms, no latency, time-out of 4 s: fast enough for typing, and requested by most
    /// peripherals.
    public static let standard = ConnectionParameters(
        minimumInterval: 0x000C,
        maximumInterval: 0x0018,
        latency: 0,
        supervisionTimeout: 0x0190
    )

    /// True if every value is in its range and the time-out is longer than twice the longest permitted silence.
    ///
    /// In milliseconds: timeout × 10 > (1 + latency) × interval × 1.25 × 2.
    public var isValid: Bool {
        Self.intervals.contains(minimumInterval) && Self.intervals.contains(maximumInterval)
            && minimumInterval <= maximumInterval
            && Self.latencies.contains(latency) && Self.supervisionTimeouts.contains(supervisionTimeout)
            && UInt32(supervisionTimeout) &* 4 > (1 &+ UInt32(latency)) &* UInt32(maximumInterval)
    }

    /// Reads the four values in the order used by HCI and L2CAP; does not check their ranges.
    @_lifetime(reader: copy reader)
    init(from reader: inout ByteReader) throws(DecodingError) {
        minimumInterval = try reader.readUInt16("Interval_Min")
        maximumInterval = try reader.readUInt16("Interval_Max")
        latency = try reader.readUInt16("Latency")
        supervisionTimeout = try reader.readUInt16("Timeout")
    }

    /// Writes the four values in the order used by HCI and L2CAP.
    package func write(to writer: inout ByteWriter) {
        writer.write(minimumInterval)
        writer.write(maximumInterval)
        writer.write(latency)
        writer.write(supervisionTimeout)
    }
}

/// Current timing of a connection (Core 6.0, Vol 4, Part E, 7.7.65.1 and 7.7.65.3).
public struct ConnectionTiming: Hashable, Sendable {
    /// The interval in units of 1.25 ms.
    public var interval: UInt16
    /// Number of connection events that the peripheral may skip.
    public var latency: UInt16
    /// The supervision time-out in units of 10 ms.
    public var supervisionTimeout: UInt16

    /// Creates a timing, in the specification's units.
    public init(interval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// Maximum time between packets from the peripheral: one interval plus the skipped ones.
    public var longestSilence: Duration { .microseconds(1250) * Int(interval) * (Int(latency) + 1) }

    /// Creates the slowest timing that the requested parameters permit.
    public init(slowest parameters: ConnectionParameters) {
        self.init(
            interval: parameters.maximumInterval,
            latency: parameters.latency,
            supervisionTimeout: parameters.supervisionTimeout
        )
    }

    /// Creates the initial timing of a connection.
    public init(_ event: LEConnectionComplete) {
        self.init(interval: event.interval, latency: event.latency, supervisionTimeout: event.supervisionTimeout)
    }

    /// Creates the timing after a successful update.
    public init(_ event: LEConnectionUpdateComplete) {
        self.init(interval: event.interval, latency: event.latency, supervisionTimeout: event.supervisionTimeout)
    }
}
