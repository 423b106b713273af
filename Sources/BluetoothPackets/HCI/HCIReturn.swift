// SPDX-License-Identifier: GPL-2.0-or-later

/// The return parameters of commands in Command Complete; a status other than success is refused.
///
/// Core 6.0, Vol 4, Part E, 7.4 and 7.8.
public enum HCIReturn {
    /// The address, from Read BD_ADDR (7.4.6).
    public static func address(_ parameters: Span<UInt8>) throws(DecodingError) -> BluetoothAddress {
        var reader = try reader(parameters, "Read BD_ADDR")
        let address = try reader.readAddress("BD_ADDR")
        try reader.expectEnd()
        return address
    }

    /// Eight bytes of features, from Read Local Supported Features (7.4.3) or LE Read Local Supported Features (7.8.3).
    public static func features(_ parameters: Span<UInt8>) throws(DecodingError) -> UInt64 {
        var reader = try reader(parameters, "Read Local Supported Features")
        let features = try reader.readUInt64("Features")
        try reader.expectEnd()
        return features
    }

    /// The signal strength in dBm of a connection, from Read RSSI (7.5.4); nil for 127, which says that there is none.
    ///
    /// The answer for another connection is refused as an impossible value.
    public static func rssi(_ parameters: Span<UInt8>, of handle: UInt16) throws(DecodingError) -> Int8? {
        var reader = try reader(parameters, "Read RSSI")
        let answered = try reader.readUInt16("Handle") & 0x0FFF
        guard answered == handle else { throw reader.error("Handle", .invalidValue(UInt64(answered))) }
        let rssi = Int8(bitPattern: try reader.readUInt8("RSSI"))
        try reader.expectEnd()
        return rssi == 127 ? nil : rssi
    }

    @_lifetime(copy parameters)
    static func reader(_ parameters: Span<UInt8>, _ name: String) throws(DecodingError) -> ByteReader {
        var reader = ByteReader(parameters, packet: name)
        let status = HCIStatus(rawValue: try reader.readUInt8("Status"))
        guard status == .success else { throw reader.error("Status", .invalidValue(UInt64(status.rawValue))) }
        return reader
    }
}

/// The buffers of a controller for data on its way to the air.
public struct DataBuffers: Hashable, Sendable {
    /// The longest data of one ACL packet, in bytes; 0 where LE has no buffers of its own.
    public var dataLength: UInt16
    /// The number of packets that it keeps.
    public var packetCount: UInt16

    /// Buffers of a size.
    public init(dataLength: UInt16, packetCount: UInt16) {
        self.dataLength = dataLength
        self.packetCount = packetCount
    }

    /// Reads the return parameters of LE Read Buffer Size [v1]: zeros say that those of Read Buffer Size are shared.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.2.
    public init(leReadBufferSize parameters: Span<UInt8>) throws(DecodingError) {
        var reader = try HCIReturn.reader(parameters, "LE Read Buffer Size")
        dataLength = try reader.readUInt16("LE_ACL_Data_Packet_Length")
        packetCount = UInt16(try reader.readUInt8("Total_Num_LE_ACL_Data_Packets"))
        try reader.expectEnd()
    }

    /// Reads the return parameters of Read Buffer Size.
    ///
    /// Core 6.0, Vol 4, Part E, 7.4.5.
    public init(readBufferSize parameters: Span<UInt8>) throws(DecodingError) {
        var reader = try HCIReturn.reader(parameters, "Read Buffer Size")
        dataLength = try reader.readUInt16("ACL_Data_Packet_Length")
        _ = try reader.readUInt8("Synchronous_Data_Packet_Length")
        packetCount = try reader.readUInt16("Total_Num_ACL_Data_Packets")
        _ = try reader.readUInt16("Total_Num_Synchronous_Data_Packets")
        try reader.expectEnd()
    }
}
