// SPDX-License-Identifier: GPL-2.0-or-later

/// Role of a device in a connection (Core 6.0, Vol 4, Part E, 7.7.65.1: Role).
public enum ConnectionRole: UInt8, Hashable, Sendable {
    /// The device initiated the connection and sets its timing.
    case central = 0
    /// The device advertised.
    case peripheral = 1
}

/// Result of a connection attempt: LE Connection Complete or LE Enhanced Connection Complete [v1] (Core 6.0, Vol 4,
/// Part E, 7.7.65.1 and 7.7.65.10).
public struct LEConnectionComplete: Hashable, Sendable {
    /// Success, or the reason for the failure; if the attempt failed, the other fields have no meaning.
    public var status: HCIStatus
    /// 12-bit connection handle.
    public var handle: UInt16
    /// Role of this host.
    public var role: ConnectionRole
    /// Address of the peer.
    public var peer: DeviceAddress
    /// Connection interval in units of 1.25 ms.
    public var interval: UInt16
    /// Number of connection events that the peripheral may skip.
    public var latency: UInt16
    /// Supervision time-out in units of 10 ms.
    public var supervisionTimeout: UInt16

    /// Parses the parameters that follow the subevent code.
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
            // If the attempt failed, the fields about the peer have no meaning.
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
    /// Success, or the reason for the failure; if the update failed, the parameters have not changed.
    public var status: HCIStatus
    public var handle: UInt16
    /// Connection interval in units of 1.25 ms.
    public var interval: UInt16
    /// Number of connection events that the peripheral may skip.
    public var latency: UInt16
    /// Supervision time-out in units of 10 ms.
    public var supervisionTimeout: UInt16

    /// Parses the parameters that follow the subevent code.
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

/// Request from the peer to change the connection parameters: LE Remote Connection Parameter Request (Core 6.0, Vol 4,
/// Part E, 7.7.65.6).
public struct LERemoteConnectionParameterRequest: Hashable, Sendable {
    /// Handle of the connection.
    public var handle: UInt16
    /// Parameters that the peer requests.
    public var parameters: ConnectionParameters

    /// Parses the parameters that follow the subevent code.
    public init(_ parameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(parameters, packet: "LE Remote Connection Parameter Request")
        handle = try reader.readUInt16("Connection_Handle") & 0x0FFF
        self.parameters = try ConnectionParameters(from: &reader)
        try reader.expectEnd()
    }
}

/// Request from the peer for the long term key with which to encrypt the link: LE Long Term Key Request (Core 6.0, Vol
/// 4, Part E, 7.7.65.5).
public struct LELongTermKeyRequest: Hashable, Sendable {
    /// Handle of the connection.
    public var handle: UInt16
    /// Rand, which identifies a key of LE legacy pairing; 0 for other keys.
    public var random: UInt64
    /// EDIV, which identifies a key of LE legacy pairing; 0 for other keys.
    public var diversifier: UInt16

    /// Parses the parameters that follow the subevent code.
    public init(_ parameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(parameters, packet: "LE Long Term Key Request")
        handle = try reader.readUInt16("Connection_Handle") & 0x0FFF
        random = try reader.readUInt64("Random_Number")
        diversifier = try reader.readUInt16("Encrypted_Diversifier")
        try reader.expectEnd()
    }
}

/// Change of a link's encryption: Encryption Change [v1] or Encryption Key Refresh Complete (Core 6.0, Vol 4, Part E,
/// 7.7.8 and 7.7.39).
public struct EncryptionChange: Hashable, Sendable {
    /// Success, or the reason for the failure; if it failed, the encryption has not changed.
    public var status: HCIStatus
    /// Handle of the connection.
    public var handle: UInt16
    /// True if the link is encrypted.
    public var isOn: Bool

    /// Parses the parameters of the event with this code; a link is always encrypted after a key refresh.
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

/// End of an advertising set: LE Advertising Set Terminated (Core 6.0, Vol 4, Part E, 7.7.65.18).
public struct LEAdvertisingSetTerminated: Hashable, Sendable {
    /// Success if a device has connected; otherwise the reason why advertising ended.
    public var status: HCIStatus
    /// Handle of the advertising set.
    public var advertisingHandle: UInt8
    /// Handle of the new connection, if there is one.
    public var handle: UInt16

    /// Parses the parameters that follow the subevent code.
    public init(_ parameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(parameters, packet: "LE Advertising Set Terminated")
        status = HCIStatus(rawValue: try reader.readUInt8("Status"))
        advertisingHandle = try reader.readUInt8("Advertising_Handle")
        handle = try reader.readUInt16("Connection_Handle") & 0x0FFF
        _ = try reader.readUInt8("Num_Completed_Extended_Advertising_Events")
        try reader.expectEnd()
    }
}

/// Number of data packets that have left the controller's buffers: Number Of Completed Packets (Core 6.0, Vol 4, Part
/// E, 7.7.19).
///
/// The handle and the count of each connection are adjacent, as controllers send them.
public struct CompletedPackets: Hashable, Sendable {
    /// Number of completed packets of one connection.
    public struct Entry: Hashable, Sendable {
        /// Handle of the connection.
        public var handle: UInt16
        /// Number of packets that have left the controller's buffers.
        public var count: UInt16

        public init(handle: UInt16, count: UInt16) {
            self.handle = handle
            self.count = count
        }
    }

    /// Counts of at most 63 connections.
    public var entries: [Entry]

    /// Parses the parameters of the event.
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

/// PHY of a connection (Core 6.0, Vol 4, Part E, 7.7.65.12).
public struct PHY: RawRepresentable, Hashable, Sendable {
    /// Number of the PHY in HCI.
    public let rawValue: UInt8

    /// Creates a PHY from its number.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// LE 2M PHY.
    public static let fast = PHY(rawValue: 2)
}

/// Result of a PHY change: LE PHY Update Complete (Core 6.0, Vol 4, Part E, 7.7.65.12).
public struct LEPHYUpdateComplete: Hashable, Sendable {
    /// Success, or the reason for the failure; if the change failed, the PHY has not changed.
    public var status: HCIStatus
    /// Handle of the connection.
    public var handle: UInt16
    /// PHY on which the peer sends.
    public var receivedPHY: PHY

    /// Parses the parameters that follow the subevent code.
    public init(_ parameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(parameters, packet: "LE PHY Update Complete")
        status = HCIStatus(rawValue: try reader.readUInt8("Status"))
        handle = try reader.readUInt16("Connection_Handle") & 0x0FFF
        _ = try reader.readUInt8("TX_PHY")
        receivedPHY = PHY(rawValue: try reader.readUInt8("RX_PHY"))
        try reader.expectEnd()
    }
}

/// Change of the maximum packet length: LE Data Length Change (Core 6.0, Vol 4, Part E, 7.7.65.7).
public struct LEDataLengthChange: Hashable, Sendable {
    /// Handle of the connection.
    public var handle: UInt16
    /// Maximum payload length of packets from the peer, in bytes.
    public var receivedOctets: UInt16

    /// Parses the parameters that follow the subevent code.
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
    /// Maximum connection interval, in units of 1.25 ms: 0x0006 … 0x0C80 (7.5 ms … 4 s).
    public var maximumInterval: UInt16
    /// Number of connection events that the peripheral may skip: 0 … 499.
    public var latency: UInt16
    /// Supervision time-out, in units of 10 ms: 0x000A … 0x0C80 (100 ms … 32 s).
    ///
    /// If nothing is received from the peer for this time, the connection is lost.
    public var supervisionTimeout: UInt16

    /// Range of valid intervals, in units of 1.25 ms.
    public static let intervals: ClosedRange<UInt16> = 0x0006...0x0C80
    /// Range of valid latencies, in connection events.
    public static let latencies: ClosedRange<UInt16> = 0...0x01F3
    /// Range of valid supervision time-outs, in units of 10 ms.
    public static let supervisionTimeouts: ClosedRange<UInt16> = 0x000A...0x0C80

    /// Creates parameters from values in the specification's units.
    public init(minimumInterval: UInt16, maximumInterval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// Interval of 15 ms to 30 ms, no latency, time-out of 4 s.
    ///
    /// These values are fast enough for typing, and are the ones that most peripherals request.
    public static let standard = ConnectionParameters(
        minimumInterval: 0x000C,
        maximumInterval: 0x0018,
        latency: 0,
        supervisionTimeout: 0x0190
    )

    /// True if every value is in its range and the time-out is more than twice as long as the longest silence that the
    /// latency permits.
    ///
    /// In milliseconds, the condition is timeout × 10 > (1 + latency) × interval × 1.25 × 2.
    public var isValid: Bool {
        Self.intervals.contains(minimumInterval) && Self.intervals.contains(maximumInterval)
            && minimumInterval <= maximumInterval
            && Self.latencies.contains(latency) && Self.supervisionTimeouts.contains(supervisionTimeout)
            && UInt32(supervisionTimeout) &* 4 > (1 &+ UInt32(latency)) &* UInt32(maximumInterval)
    }

    /// Reads the four values in the order that HCI and L2CAP use; does not check their ranges.
    @_lifetime(reader: copy reader)
    init(from reader: inout ByteReader) throws(DecodingError) {
        minimumInterval = try reader.readUInt16("Interval_Min")
        maximumInterval = try reader.readUInt16("Interval_Max")
        latency = try reader.readUInt16("Latency")
        supervisionTimeout = try reader.readUInt16("Timeout")
    }

    /// Writes the four values in the order that HCI and L2CAP use.
    package func write(to writer: inout ByteWriter) {
        writer.write(minimumInterval)
        writer.write(maximumInterval)
        writer.write(latency)
        writer.write(supervisionTimeout)
    }
}

/// Current connection parameters (Core 6.0, Vol 4, Part E, 7.7.65.1 and 7.7.65.3).
public struct ConnectionTiming: Hashable, Sendable {
    /// Connection interval in units of 1.25 ms.
    public var interval: UInt16
    /// Number of connection events that the peripheral may skip.
    public var latency: UInt16
    /// Supervision time-out in units of 10 ms.
    public var supervisionTimeout: UInt16

    /// Creates a timing from values in the specification's units.
    public init(interval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// Longest time between two packets from the peripheral if it skips the permitted number of connection events.
    public var longestSilence: Duration { .microseconds(1250) * Int(interval) * (Int(latency) + 1) }

    /// Creates the slowest timing that the parameters permit.
    public init(slowest parameters: ConnectionParameters) {
        self.init(
            interval: parameters.maximumInterval,
            latency: parameters.latency,
            supervisionTimeout: parameters.supervisionTimeout
        )
    }

    /// Creates the initial timing of a new connection.
    public init(_ event: LEConnectionComplete) {
        self.init(interval: event.interval, latency: event.latency, supervisionTimeout: event.supervisionTimeout)
    }

    /// Creates the timing that results from a successful update.
    public init(_ event: LEConnectionUpdateComplete) {
        self.init(interval: event.interval, latency: event.latency, supervisionTimeout: event.supervisionTimeout)
    }
}
