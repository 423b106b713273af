// SPDX-License-Identifier: GPL-2.0-or-later

/// Error code of a controller, which is also used as the reason for a disconnection (Core 6.0, Vol 1, Part F, 1.3).
public struct HCIStatus: RawRepresentable, Hashable, Sendable {
    /// Error code as a number.
    public let rawValue: UInt8

    /// Creates a status from its code; every value is valid.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The command succeeded (0x00).
    public static let success = HCIStatus(rawValue: 0x00)
    /// The controller does not support the command (0x01).
    public static let unknownHCICommand = HCIStatus(rawValue: 0x01)
    /// There is no connection with this handle (0x02).
    public static let unknownConnectionIdentifier = HCIStatus(rawValue: 0x02)
    /// The controller's hardware failed (0x03).
    public static let hardwareFailure = HCIStatus(rawValue: 0x03)
    /// No packet was received within the supervision time-out (0x08).
    public static let connectionTimeout = HCIStatus(rawValue: 0x08)
    /// The controller cannot accept more connections (0x09).
    public static let connectionLimitExceeded = HCIStatus(rawValue: 0x09)
    /// The command is not allowed in the controller's current state (0x0C).
    public static let commandDisallowed = HCIStatus(rawValue: 0x0C)
    /// A parameter or a combination of parameters is not supported (0x11).
    public static let unsupportedFeatureOrParameterValue = HCIStatus(rawValue: 0x11)
    /// A parameter is outside its range (0x12).
    public static let invalidHCICommandParameters = HCIStatus(rawValue: 0x12)
    /// The requested connection already exists (0x0B).
    public static let connectionAlreadyExists = HCIStatus(rawValue: 0x0B)
    /// The peer ended the connection (0x13).
    public static let remoteUserTerminatedConnection = HCIStatus(rawValue: 0x13)
    /// This host ended the connection (0x16).
    public static let connectionTerminatedByLocalHost = HCIStatus(rawValue: 0x16)
    /// No other error code applies (0x1F).
    public static let unspecifiedError = HCIStatus(rawValue: 0x1F)
    /// The connection parameters cannot be accepted (0x3B).
    public static let unacceptableConnectionParameters = HCIStatus(rawValue: 0x3B)
    /// The connection could not be established, because the peer did not respond (0x3E).
    public static let connectionFailedToBeEstablished = HCIStatus(rawValue: 0x3E)
    /// There is no such advertising set (0x42).
    public static let unknownAdvertisingIdentifier = HCIStatus(rawValue: 0x42)
}

extension HCIStatus: CustomStringConvertible {
    /// The specification's name and the code, such as `Command Disallowed (0x0C)`.
    public var description: String {
        "\(name ?? "Reserved Error") (0x\(Hexadecimal.text(UInt64(rawValue), digits: 2)))"
    }

    /// Name of the error in the specification; nil if the specification does not name the code.
    public var name: String? {
        Int(rawValue) < Self.names.count ? Self.names[Int(rawValue)] : nil
    }

    /// Names by error code, starting with 0x00 (Core 6.0, Vol 1, Part F, 1.3, table 1.1).
    private static let names: [String?] = [
        "Success",
        "Unknown HCI Command",
        "Unknown Connection Identifier",
        "Hardware Failure",
        "Page Timeout",
        "Authentication Failure",
        "PIN or Key Missing",
        "Memory Capacity Exceeded",
        "Connection Timeout",
        "Connection Limit Exceeded",
        "Synchronous Connection Limit to a Device Exceeded",
        "Connection Already Exists",
        "Command Disallowed",
        "Connection Rejected due to Limited Resources",
        "Connection Rejected due to Security Reasons",
        "Connection Rejected due to Unacceptable BD_ADDR",
        // Codes from 0x10.
        "Connection Accept Timeout Exceeded",
        "Unsupported Feature or Parameter Value",
        "Invalid HCI Command Parameters",
        "Remote User Terminated Connection",
        "Remote Device Terminated Connection due to Low Resources",
        "Remote Device Terminated Connection due to Power Off",
        "Connection Terminated by Local Host",
        "Repeated Attempts",
        "Pairing Not Allowed",
        "Unknown LMP PDU",
        "Unsupported Remote Feature",
        "SCO Offset Rejected",
        "SCO Interval Rejected",
        "SCO Air Mode Rejected",
        "Invalid LMP Parameters / Invalid LL Parameters",
        "Unspecified Error",
        // Codes from 0x20.
        "Unsupported LMP Parameter Value / Unsupported LL Parameter Value",
        "Role Change Not Allowed",
        "LMP Response Timeout / LL Response Timeout",
        "LMP Error Transaction Collision / LL Procedure Collision",
        "LMP PDU Not Allowed",
        "Encryption Mode Not Acceptable",
        "Link Key cannot be Changed",
        "Requested QoS Not Supported",
        "Instant Passed",
        "Pairing With Unit Key Not Supported",
        "Different Transaction Collision",
        nil,
        "QoS Unacceptable Parameter",
        "QoS Rejected",
        "Channel Classification Not Supported",
        "Insufficient Security",
        // Codes from 0x30.
        "Parameter Out Of Mandatory Range",
        nil,
        "Role Switch Pending",
        nil,
        "Reserved Slot Violation",
        "Role Switch Failed",
        "Extended Inquiry Response Too Large",
        "Secure Simple Pairing Not Supported By Host",
        "Host Busy - Pairing",
        "Connection Rejected due to No Suitable Channel Found",
        "Controller Busy",
        "Unacceptable Connection Parameters",
        "Advertising Timeout",
        "Connection Terminated due to MIC Failure",
        "Connection Failed to be Established / Synchronization Timeout",
        "MAC Connection Failed",
        // Codes from 0x40.
        "Coarse Clock Adjustment Rejected but Will Try to Adjust Using Clock Dragging",
        "Type0 Submap Not Defined",
        "Unknown Advertising Identifier",
        "Limit Reached",
        "Operation Cancelled by Host",
        "Packet Too Long",
        "Too Late",
        "Too Early",
        "Insufficient Channels",
    ]
}

/// Parsers for the return parameters in Command Complete; they throw an error if the status is not success (Core 6.0,
/// Vol 4, Part E, 7.4 and 7.8).
public enum HCIReturn {
    /// Returns the address from the parameters of Read BD_ADDR (7.4.6).
    public static func address(_ parameters: Span<UInt8>) throws(DecodingError) -> BluetoothAddress {
        var reader = try reader(parameters, "Read BD_ADDR")
        let address = try reader.readAddress("BD_ADDR")
        try reader.expectEnd()
        return address
    }

    /// Returns eight bytes of feature bits from the parameters of Read Local Supported Features (7.4.3) or LE Read
    /// Local Supported Features (7.8.3).
    public static func features(_ parameters: Span<UInt8>) throws(DecodingError) -> UInt64 {
        var reader = try reader(parameters, "Read Local Supported Features")
        let features = try reader.readUInt64("Features")
        try reader.expectEnd()
        return features
    }

    /// Returns the signal strength of a connection in dBm from the parameters of Read RSSI (7.5.4).
    ///
    /// Returns nil for 127, which means that the value is not available. Throws an `invalidValue` error if the response
    /// is for another connection.
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

/// Buffers in which a controller stores outgoing data.
public struct DataBuffers: Hashable, Sendable {
    /// Maximum data length of one ACL packet, in bytes; 0 if there are no separate buffers for LE.
    public var dataLength: UInt16
    /// Number of packets that the buffers can hold.
    public var packetCount: UInt16

    /// Creates buffers from their size and the number of packets.
    public init(dataLength: UInt16, packetCount: UInt16) {
        self.dataLength = dataLength
        self.packetCount = packetCount
    }

    /// Parses the return parameters of LE Read Buffer Size [v1] (Core 6.0, Vol 4, Part E, 7.8.2).
    ///
    /// Zeros mean that LE shares the buffers that Read Buffer Size reports.
    public init(leReadBufferSize parameters: Span<UInt8>) throws(DecodingError) {
        var reader = try HCIReturn.reader(parameters, "LE Read Buffer Size")
        dataLength = try reader.readUInt16("LE_ACL_Data_Packet_Length")
        packetCount = UInt16(try reader.readUInt8("Total_Num_LE_ACL_Data_Packets"))
        try reader.expectEnd()
    }

    /// Parses the return parameters of Read Buffer Size (Core 6.0, Vol 4, Part E, 7.4.5).
    public init(readBufferSize parameters: Span<UInt8>) throws(DecodingError) {
        var reader = try HCIReturn.reader(parameters, "Read Buffer Size")
        dataLength = try reader.readUInt16("ACL_Data_Packet_Length")
        _ = try reader.readUInt8("Synchronous_Data_Packet_Length")
        packetCount = try reader.readUInt16("Total_Num_ACL_Data_Packets")
        _ = try reader.readUInt16("Total_Num_Synchronous_Data_Packets")
        try reader.expectEnd()
    }
}

/// Kernel's description of a controller: the 280 bytes that Read Controller Information returns.
///
/// BlueZ, doc/mgmt-protocol.rst (Read Controller Information).
public struct ControllerInformation: Hashable, Sendable {
    /// Public address of the controller; zero if it has none.
    public var address: BluetoothAddress
    /// Number of the Core version; 9 stands for 5.0 (Assigned Numbers, 2.1).
    public var version: UInt8
    /// Company identifier of the manufacturer (Assigned Numbers, 7).
    public var manufacturer: UInt16
    /// Settings that the controller supports.
    public var supportedSettings: ManagementSettings
    /// Settings that are currently enabled.
    public var currentSettings: ManagementSettings
    /// Class of device, 24 bits.
    public var deviceClass: UInt32
    /// Name of the controller.
    public var name: LocalName
    /// Short name of the controller.
    public var shortName: LocalName

    /// Lengths of the two name fields, in bytes, including a terminating zero byte.
    private static let nameLength = 249
    private static let shortNameLength = 11

    /// Parses the return parameters of Read Controller Information.
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

/// Parsers for the return parameters of management commands.
public enum ManagementReturn {
    /// Returns the controllers from the parameters of Read Controller Index List.
    public static func indexList(_ parameters: Span<UInt8>) throws(DecodingError) -> [ControllerIndex] {
        var reader = ByteReader(parameters, packet: "Read Controller Index List")
        let count = Int(try reader.readUInt16("Num_Controllers"))
        var list: [ControllerIndex] = []
        for _ in 0..<count { list.append(ControllerIndex(rawValue: try reader.readUInt16("Controller_Index"))) }
        try reader.expectEnd()
        return list
    }

    /// Returns the connected devices from the parameters of Get Connections.
    public static func connections(_ parameters: Span<UInt8>) throws(DecodingError) -> [ManagementAddress] {
        var reader = ByteReader(parameters, packet: "Get Connections")
        let count = Int(try reader.readUInt16("Connection_Count"))
        var list: [ManagementAddress] = []
        for _ in 0..<count { list.append(try ManagementAddress(from: &reader)) }
        try reader.expectEnd()
        return list
    }

    /// Returns the device from the parameters of Pair Device, Unpair Device or a user reply command.
    public static func device(_ parameters: Span<UInt8>) throws(DecodingError) -> ManagementAddress {
        var reader = ByteReader(parameters, packet: "Device")
        let device = try ManagementAddress(from: &reader)
        try reader.expectEnd()
        return device
    }

    /// Returns a device and its signal strength in dBm from the parameters of Get Connection Information.
    ///
    /// The signal strength is nil for 127, which means that it is not available.
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

    /// Returns the current settings from the parameters of Set Powered, Set Low Energy or a similar command.
    public static func settings(_ parameters: Span<UInt8>) throws(DecodingError) -> ManagementSettings {
        var reader = ByteReader(parameters, packet: "Settings")
        let settings = ManagementSettings(rawValue: try reader.readUInt32("Current_Settings"))
        try reader.expectEnd()
        return settings
    }
}
