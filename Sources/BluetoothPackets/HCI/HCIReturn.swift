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

/// The kernel's description of a controller: the 280 bytes that Read Controller Information returns.
///
/// BlueZ, doc/mgmt-protocol.rst (Read Controller Information).
public struct ControllerInformation: Hashable, Sendable {
    /// Its public address; zero where it has none.
    public var address: BluetoothAddress
    /// The Core version's number: 9 is 5.0 (Assigned Numbers, 2.1).
    public var version: UInt8
    /// The company's number.
    public var manufacturer: UInt16
    /// The settings that it supports.
    public var supportedSettings: ManagementSettings
    /// The settings that are on.
    public var currentSettings: ManagementSettings
    /// The class of device, 24 bits.
    public var deviceClass: UInt32
    /// Its name.
    public var name: LocalName
    /// Its short name.
    public var shortName: LocalName

    /// The length of the names' fields, each with a zero byte at its end.
    private static let nameLength = 249
    private static let shortNameLength = 11

    /// Reads the return parameters of Read Controller Information.
    public init(returnParameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(returnParameters, packet: "Read Controller Information")
        address = try reader.readAddress("Address")
        version = try reader.readUInt8("Bluetooth_Version")
        manufacturer = try reader.readUInt16("Manufacturer")
        supportedSettings = ManagementSettings(rawValue: try reader.readUInt32("Supported_Settings"))
        currentSettings = ManagementSettings(rawValue: try reader.readUInt32("Current_Settings"))
        let classBytes = try reader.readSpan(count: 3, "Class_Of_Device")
        deviceClass = UInt32(classBytes[0]) | UInt32(classBytes[1]) &<< 8 | UInt32(classBytes[2]) &<< 16
        name = LocalName(try reader.readSpan(count: Self.nameLength, "Name"), isComplete: true)
        shortName = LocalName(try reader.readSpan(count: Self.shortNameLength, "Short_Name"), isComplete: true)
        try reader.expectEnd()
    }
}

/// The version of the kernel's management protocol, from Read Management Version Information.
public struct ManagementVersion: Hashable, Sendable {
    /// The version: 1 since 2012.
    public var version: UInt8
    /// The revision, which counts the protocol's additions.
    public var revision: UInt16

    /// Reads the return parameters.
    public init(returnParameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(returnParameters, packet: "Read Management Version Information")
        version = try reader.readUInt8("Version")
        revision = try reader.readUInt16("Revision")
        try reader.expectEnd()
    }
}

/// The return parameters of other management commands.
public enum ManagementReturn {
    /// Controllers, from Read Controller Index List.
    public static func indexList(_ parameters: Span<UInt8>) throws(DecodingError) -> [ControllerIndex] {
        var reader = ByteReader(parameters, packet: "Read Controller Index List")
        let count = Int(try reader.readUInt16("Num_Controllers"))
        var list: [ControllerIndex] = []
        for _ in 0..<count { list.append(ControllerIndex(rawValue: try reader.readUInt16("Controller_Index"))) }
        try reader.expectEnd()
        return list
    }

    /// Connected devices, from Get Connections.
    public static func connections(_ parameters: Span<UInt8>) throws(DecodingError) -> [ManagementAddress] {
        var reader = ByteReader(parameters, packet: "Get Connections")
        let count = Int(try reader.readUInt16("Connection_Count"))
        var list: [ManagementAddress] = []
        for _ in 0..<count { list.append(try ManagementAddress(from: &reader)) }
        try reader.expectEnd()
        return list
    }

    /// The device, from Pair Device, Unpair Device and the user's replies.
    public static func device(_ parameters: Span<UInt8>) throws(DecodingError) -> ManagementAddress {
        var reader = ByteReader(parameters, packet: "Device")
        let device = try ManagementAddress(from: &reader)
        try reader.expectEnd()
        return device
    }

    /// The device and its signal strength in dBm, from Get Connection Information; nil for 127, which says that there is
    /// none.
    public static func rssi(
        _ parameters: Span<UInt8>
    ) throws(DecodingError) -> (device: ManagementAddress, rssi: Int8?) {
        var reader = ByteReader(parameters, packet: "Get Connection Information")
        let device = try ManagementAddress(from: &reader)
        let rssi = Int8(bitPattern: try reader.readUInt8("RSSI"))
        _ = try reader.readUInt8("TX_Power")
        _ = try reader.readUInt8("Max_TX_Power")
        try reader.expectEnd()
        return (device, rssi == 127 ? nil : rssi)
    }

    /// The settings after Set Powered, Set Low Energy and their like.
    public static func settings(_ parameters: Span<UInt8>) throws(DecodingError) -> ManagementSettings {
        var reader = ByteReader(parameters, packet: "Settings")
        let settings = ManagementSettings(rawValue: try reader.readUInt32("Current_Settings"))
        try reader.expectEnd()
        return settings
    }
}
