// SPDX-License-Identifier: GPL-2.0-or-later

/// A PHY of a connection.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.12.
public struct PHY: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt8

    /// A PHY from its number.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// LE 1M, which every controller has.
    public static let usual = PHY(rawValue: 1)
    /// LE 2M.
    public static let fast = PHY(rawValue: 2)
    /// LE Coded.
    public static let coded = PHY(rawValue: 3)
}

/// The end of a change of PHY: LE PHY Update Complete.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.12.
public struct LEPHYUpdateComplete: Hashable, Sendable {
    /// Success, or the reason why nothing changed.
    public var status: HCIStatus
    /// The connection.
    public var handle: UInt16
    /// The PHY on which the peer sends.
    public var receivedPHY: PHY

    /// Reads the bytes after the subevent's code.
    public init(_ parameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(parameters, packet: "LE PHY Update Complete")
        status = HCIStatus(rawValue: try reader.readUInt8("Status"))
        handle = try reader.readUInt16("Connection_Handle") & 0x0FFF
        _ = try reader.readUInt8("TX_PHY")
        receivedPHY = PHY(rawValue: try reader.readUInt8("RX_PHY"))
        try reader.expectEnd()
    }
}

/// A change of the longest packets: LE Data Length Change.
///
/// Core 6.0, Vol 4, Part E, 7.7.65.7.
public struct LEDataLengthChange: Hashable, Sendable {
    /// The connection.
    public var handle: UInt16
    /// The longest data of one packet from the peer, in bytes.
    public var receivedOctets: UInt16

    /// Reads the bytes after the subevent's code.
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
