// SPDX-License-Identifier: GPL-2.0-or-later

/// HCI command to the controller (Core 6.0, Vol 4, Part E, 5.4.1).
public struct HCICommand: Hashable, Sendable {
    public let opcode: HCIOpcode
    /// Parameters of the command, at most 255 bytes.
    public let parameters: [UInt8]

    /// Maximum total length of the parameters, in bytes; their length field is one byte long.
    public static let maximumParameterLength = 255

    /// Creates a command; returns nil if the parameters are longer than 255 bytes.
    public init?(opcode: HCIOpcode, parameters: [UInt8]) {
        guard parameters.count <= Self.maximumParameterLength else { return nil }
        self.init(opcode, parameters)
    }

    /// Creates a command without checking the length of its parameters.
    init(_ opcode: HCIOpcode, _ parameters: [UInt8] = []) {
        self.opcode = opcode
        self.parameters = parameters
    }

    /// The packet in encoded form: indicator (0x01), opcode, length and parameters.
    public var encoded: [UInt8] {
        var writer = ByteWriter(reservingCapacity: 4 + parameters.count)
        writer.write(HCIPacketType.command.rawValue)
        writer.write(opcode.rawValue)
        writer.write(UInt8(truncatingIfNeeded: parameters.count))
        writer.write(parameters)
        return writer.bytes
    }

    /// Reset, which returns the controller to its power-on state (Core 6.0, Vol 4, Part E, 7.3.2).
    public static let reset = HCICommand(.reset)

    /// Read Local Version Information (Core 6.0, Vol 4, Part E, 7.4.1).
    public static let readLocalVersionInformation = HCICommand(.readLocalVersionInformation)

    /// Read Local Supported Commands; parse the answer with `SupportedCommands` (Core 6.0, Vol 4, Part E, 7.4.2).
    public static let readLocalSupportedCommands = HCICommand(.readLocalSupportedCommands)

    /// Disconnect, which ends a connection and sends `reason` to the peer (Core 6.0, Vol 4, Part E, 7.1.6).
    ///
    /// Only the lower 12 bits of `handle` are used.
    public static func disconnect(handle: UInt16, reason: HCIStatus = .remoteUserTerminatedConnection) -> HCICommand {
        HCICommand(.disconnect, ByteWriter.bytes(handle & 0x0FFF, reason.rawValue))
    }

    /// LE Set Scan Parameters (Core 6.0, Vol 4, Part E, 7.8.10).
    public static func leSetScanParameters(_ scan: ScanParameters) -> HCICommand {
        var writer = ByteWriter()
        writer.write(scan.type.rawValue)
        writer.write(scan.interval.rawValue)
        writer.write(scan.effectiveWindow.rawValue)
        writer.write(scan.ownAddressType.rawValue)
        writer.write(scan.filterPolicy.rawValue)
        return HCICommand(.leSetScanParameters, writer.bytes)
    }

    /// LE Set Scan Enable (Core 6.0, Vol 4, Part E, 7.8.11).
    public static func leSetScanEnable(_ isEnabled: Bool, filtersDuplicates: Bool) -> HCICommand {
        HCICommand(.leSetScanEnable, [isEnabled ? 1 : 0, filtersDuplicates ? 1 : 0])
    }

    /// LE Set Extended Scan Parameters for LE 1M and, if `scansCodedPHY` is true, LE Coded (Core 6.0, Vol 4, Part E,
    /// 7.8.64).
    public static func leSetExtendedScanParameters(_ scan: ScanParameters) -> HCICommand {
        var writer = ByteWriter()
        writer.write(scan.ownAddressType.rawValue)
        writer.write(scan.filterPolicy.rawValue)
        writer.write(scan.scansCodedPHY ? ScanningPHYs.le1M | ScanningPHYs.leCoded : ScanningPHYs.le1M)
        for _ in 0..<(scan.scansCodedPHY ? 2 : 1) {
            writer.write(scan.type.rawValue)
            writer.write(scan.interval.rawValue)
            writer.write(scan.effectiveWindow.rawValue)
        }
        return HCICommand(.leSetExtendedScanParameters, writer.bytes)
    }

    /// LE Set Extended Scan Enable; the duration and period of `scan` are used only to enable scanning (Core 6.0, Vol
    /// 4, Part E, 7.8.65).
    public static func leSetExtendedScanEnable(_ isEnabled: Bool, _ scan: ScanParameters) -> HCICommand {
        var writer = ByteWriter()
        writer.write(UInt8(isEnabled ? 1 : 0))
        writer.write(UInt8(isEnabled && scan.filtersDuplicates ? 1 : 0))
        writer.write(isEnabled ? scan.duration : 0)
        writer.write(isEnabled ? scan.period : 0)
        return HCICommand(.leSetExtendedScanEnable, writer.bytes)
    }

    /// Bits of Scanning_PHYs (Core 6.0, Vol 4, Part E, 7.8.64).
    private enum ScanningPHYs {
        static let le1M: UInt8 = 1 << 0
        static let leCoded: UInt8 = 1 << 2
    }
}

/// HCI opcode, which consists of a group (OGF, 6 bits) and a command within the group (OCF, 10 bits).
///
/// Core 6.0, Vol 4, Part E, 5.4.1.
public struct HCIOpcode: RawRepresentable, Hashable, Sendable {
    /// Opcode with the group in the upper 6 bits and the command in the lower 10 bits.
    public let rawValue: UInt16

    /// Creates an opcode from its 16-bit value.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Creates an opcode from the lower 6 bits of `group` and the lower 10 bits of `command`.
    public init(group: UInt8, command: UInt16) {
        self.init(rawValue: UInt16(group & 0x3F) &<< 10 | command & 0x03FF)
    }

    /// Opcode group field (OGF).
    public var group: UInt8 { UInt8(truncatingIfNeeded: rawValue &>> 10) }
    /// Opcode command field (OCF).
    public var command: UInt16 { rawValue & 0x03FF }

    /// No command; an event with this opcode only updates the number of commands that the controller accepts (7.7.14).
    public static let none = HCIOpcode(rawValue: 0x0000)
    /// Disconnect (7.1.6).
    public static let disconnect = HCIOpcode(group: 0x01, command: 0x0006)
    /// Reset (7.3.2).
    public static let reset = HCIOpcode(group: 0x03, command: 0x0003)
    /// Read Local Version Information (7.4.1).
    public static let readLocalVersionInformation = HCIOpcode(group: 0x04, command: 0x0001)
    /// Read Local Supported Commands (7.4.2).
    public static let readLocalSupportedCommands = HCIOpcode(group: 0x04, command: 0x0002)
    /// LE Set Scan Parameters (7.8.10).
    public static let leSetScanParameters = HCIOpcode(group: 0x08, command: 0x000B)
    /// LE Set Scan Enable (7.8.11).
    public static let leSetScanEnable = HCIOpcode(group: 0x08, command: 0x000C)
    /// LE Set Extended Scan Parameters (7.8.64).
    public static let leSetExtendedScanParameters = HCIOpcode(group: 0x08, command: 0x0041)
    /// LE Set Extended Scan Enable (7.8.65).
    public static let leSetExtendedScanEnable = HCIOpcode(group: 0x08, command: 0x0042)
    /// Set Event Mask (7.3.1).
    public static let setEventMask = HCIOpcode(group: 0x03, command: 0x0001)
    /// Write LE Host Support (7.3.79).
    public static let writeLEHostSupport = HCIOpcode(group: 0x03, command: 0x006D)
    /// Read Local Supported Features (7.4.3).
    public static let readLocalSupportedFeatures = HCIOpcode(group: 0x04, command: 0x0003)
    /// Read Buffer Size (7.4.5).
    public static let readBufferSize = HCIOpcode(group: 0x04, command: 0x0005)
    /// Read BD_ADDR (7.4.6).
    public static let readBDADDR = HCIOpcode(group: 0x04, command: 0x0009)
    /// Read RSSI (7.5.4).
    public static let readRSSI = HCIOpcode(group: 0x05, command: 0x0005)
    /// LE Set Event Mask (7.8.1).
    public static let leSetEventMask = HCIOpcode(group: 0x08, command: 0x0001)
    /// LE Read Buffer Size (7.8.2).
    public static let leReadBufferSize = HCIOpcode(group: 0x08, command: 0x0002)
    /// LE Read Local Supported Features (7.8.3).
    public static let leReadLocalSupportedFeatures = HCIOpcode(group: 0x08, command: 0x0003)
    /// LE Set Random Address (7.8.4).
    public static let leSetRandomAddress = HCIOpcode(group: 0x08, command: 0x0005)
    /// LE Set Advertising Parameters (7.8.5).
    public static let leSetAdvertisingParameters = HCIOpcode(group: 0x08, command: 0x0006)
    /// LE Read Advertising Physical Channel Tx Power (7.8.6).
    public static let leReadAdvertisingPhysicalChannelTxPower = HCIOpcode(group: 0x08, command: 0x0007)
    /// LE Set Advertising Data (7.8.7).
    public static let leSetAdvertisingData = HCIOpcode(group: 0x08, command: 0x0008)
    /// LE Set Scan Response Data (7.8.8).
    public static let leSetScanResponseData = HCIOpcode(group: 0x08, command: 0x0009)
    /// LE Set Advertising Enable (7.8.9).
    public static let leSetAdvertisingEnable = HCIOpcode(group: 0x08, command: 0x000A)
    /// LE Create Connection (7.8.12).
    public static let leCreateConnection = HCIOpcode(group: 0x08, command: 0x000D)
    /// LE Create Connection Cancel (7.8.13).
    public static let leCreateConnectionCancel = HCIOpcode(group: 0x08, command: 0x000E)
    /// LE Read Filter Accept List Size (7.8.14).
    public static let leReadFilterAcceptListSize = HCIOpcode(group: 0x08, command: 0x000F)
    /// LE Clear Filter Accept List (7.8.15).
    public static let leClearFilterAcceptList = HCIOpcode(group: 0x08, command: 0x0010)
    /// LE Add Device To Filter Accept List (7.8.16).
    public static let leAddDeviceToFilterAcceptList = HCIOpcode(group: 0x08, command: 0x0011)
    /// LE Remove Device From Filter Accept List (7.8.17).
    public static let leRemoveDeviceFromFilterAcceptList = HCIOpcode(group: 0x08, command: 0x0012)
    /// LE Connection Update (7.8.18).
    public static let leConnectionUpdate = HCIOpcode(group: 0x08, command: 0x0013)
    /// LE Enable Encryption (7.8.24).
    public static let leEnableEncryption = HCIOpcode(group: 0x08, command: 0x0019)
    /// LE Long Term Key Request Reply (7.8.25).
    public static let leLongTermKeyRequestReply = HCIOpcode(group: 0x08, command: 0x001A)
    /// LE Long Term Key Request Negative Reply (7.8.26).
    public static let leLongTermKeyRequestNegativeReply = HCIOpcode(group: 0x08, command: 0x001B)
    /// LE Remote Connection Parameter Request Reply (7.8.31).
    public static let leRemoteConnectionParameterRequestReply = HCIOpcode(group: 0x08, command: 0x0020)
    /// LE Remote Connection Parameter Request Negative Reply (7.8.32).
    public static let leRemoteConnectionParameterRequestNegativeReply = HCIOpcode(group: 0x08, command: 0x0021)
    /// LE Set Data Length (7.8.33).
    public static let leSetDataLength = HCIOpcode(group: 0x08, command: 0x0022)
    /// LE Set PHY (7.8.49).
    public static let leSetPHY = HCIOpcode(group: 0x08, command: 0x0032)
    /// LE Set Advertising Set Random Address (7.8.52).
    public static let leSetAdvertisingSetRandomAddress = HCIOpcode(group: 0x08, command: 0x0035)
    /// LE Set Extended Advertising Parameters (7.8.53).
    public static let leSetExtendedAdvertisingParameters = HCIOpcode(group: 0x08, command: 0x0036)
    /// LE Set Extended Advertising Data (7.8.54).
    public static let leSetExtendedAdvertisingData = HCIOpcode(group: 0x08, command: 0x0037)
    /// LE Set Extended Scan Response Data (7.8.55).
    public static let leSetExtendedScanResponseData = HCIOpcode(group: 0x08, command: 0x0038)
    /// LE Set Extended Advertising Enable (7.8.56).
    public static let leSetExtendedAdvertisingEnable = HCIOpcode(group: 0x08, command: 0x0039)
    /// LE Read Maximum Advertising Data Length (7.8.57).
    public static let leReadMaximumAdvertisingDataLength = HCIOpcode(group: 0x08, command: 0x003A)
    /// LE Read Number of Supported Advertising Sets (7.8.58).
    public static let leReadNumberOfSupportedAdvertisingSets = HCIOpcode(group: 0x08, command: 0x003B)
    /// LE Remove Advertising Set (7.8.59).
    public static let leRemoveAdvertisingSet = HCIOpcode(group: 0x08, command: 0x003C)
    /// LE Clear Advertising Sets (7.8.60).
    public static let leClearAdvertisingSets = HCIOpcode(group: 0x08, command: 0x003D)
    /// LE Extended Create Connection (7.8.66).
    public static let leExtendedCreateConnection = HCIOpcode(group: 0x08, command: 0x0043)
}

extension HCIOpcode: CustomStringConvertible {
    /// The command's name in the specification and its number, or only the number if the opcode is unknown.
    public var description: String {
        let number = "0x" + Hexadecimal.text(UInt64(rawValue), digits: 4)
        guard let name = Self.names[self] else { return "HCI command \(number)" }
        return "\(name) (\(number))"
    }

    private static let names: [HCIOpcode: String] = [
        .none: "No Operation",
        .disconnect: "Disconnect",
        .reset: "Reset",
        .readLocalVersionInformation: "Read Local Version Information",
        .readLocalSupportedCommands: "Read Local Supported Commands",
        .leSetScanParameters: "LE Set Scan Parameters",
        .leSetScanEnable: "LE Set Scan Enable",
        .leSetExtendedScanParameters: "LE Set Extended Scan Parameters",
        .leSetExtendedScanEnable: "LE Set Extended Scan Enable",
        .setEventMask: "Set Event Mask",
        .writeLEHostSupport: "Write LE Host Support",
        .readLocalSupportedFeatures: "Read Local Supported Features",
        .readBufferSize: "Read Buffer Size",
        .readBDADDR: "Read BD_ADDR",
        .leSetDataLength: "LE Set Data Length",
        .leSetPHY: "LE Set PHY",
        .readRSSI: "Read RSSI",
        .leSetEventMask: "LE Set Event Mask",
        .leReadBufferSize: "LE Read Buffer Size",
        .leReadLocalSupportedFeatures: "LE Read Local Supported Features",
        .leSetRandomAddress: "LE Set Random Address",
        .leSetAdvertisingParameters: "LE Set Advertising Parameters",
        .leReadAdvertisingPhysicalChannelTxPower: "LE Read Advertising Physical Channel Tx Power",
        .leSetAdvertisingData: "LE Set Advertising Data",
        .leSetScanResponseData: "LE Set Scan Response Data",
        .leSetAdvertisingEnable: "LE Set Advertising Enable",
        .leCreateConnection: "LE Create Connection",
        .leCreateConnectionCancel: "LE Create Connection Cancel",
        .leReadFilterAcceptListSize: "LE Read Filter Accept List Size",
        .leClearFilterAcceptList: "LE Clear Filter Accept List",
        .leAddDeviceToFilterAcceptList: "LE Add Device To Filter Accept List",
        .leRemoveDeviceFromFilterAcceptList: "LE Remove Device From Filter Accept List",
        .leConnectionUpdate: "LE Connection Update",
        .leEnableEncryption: "LE Enable Encryption",
        .leLongTermKeyRequestReply: "LE Long Term Key Request Reply",
        .leLongTermKeyRequestNegativeReply: "LE Long Term Key Request Negative Reply",
        .leRemoteConnectionParameterRequestReply: "LE Remote Connection Parameter Request Reply",
        .leRemoteConnectionParameterRequestNegativeReply: "LE Remote Connection Parameter Request Negative Reply",
        .leSetAdvertisingSetRandomAddress: "LE Set Advertising Set Random Address",
        .leSetExtendedAdvertisingParameters: "LE Set Extended Advertising Parameters",
        .leSetExtendedAdvertisingData: "LE Set Extended Advertising Data",
        .leSetExtendedScanResponseData: "LE Set Extended Scan Response Data",
        .leSetExtendedAdvertisingEnable: "LE Set Extended Advertising Enable",
        .leReadMaximumAdvertisingDataLength: "LE Read Maximum Advertising Data Length",
        .leReadNumberOfSupportedAdvertisingSets: "LE Read Number of Supported Advertising Sets",
        .leRemoveAdvertisingSet: "LE Remove Advertising Set",
        .leClearAdvertisingSets: "LE Clear Advertising Sets",
        .leExtendedCreateConnection: "LE Extended Create Connection",
    ]
}

/// Bit map of the commands that a controller supports, 64 bytes long (Core 6.0, Vol 4, Part E, 6.27 and 7.4.2).
public struct SupportedCommands: Hashable, Sendable {
    /// Position of a command in the bit map.
    public struct Bit: Hashable, Sendable {
        /// Index of the byte in the bit map, 0 … 63.
        public let octet: UInt8
        /// Index of the bit in its byte, counted from the least significant bit, 0 … 7.
        public let bit: UInt8

        /// Creates a position; only the lower 3 bits of `bit` are used.
        public init(octet: UInt8, bit: UInt8) {
            self.octet = octet
            self.bit = bit & 7
        }

        /// LE Set Scan Parameters.
        public static let leSetScanParameters = Bit(octet: 26, bit: 2)
        /// LE Set Scan Enable.
        public static let leSetScanEnable = Bit(octet: 26, bit: 3)
        /// LE Set Extended Scan Parameters.
        public static let leSetExtendedScanParameters = Bit(octet: 37, bit: 5)
        /// LE Set Extended Scan Enable.
        public static let leSetExtendedScanEnable = Bit(octet: 37, bit: 6)
        /// Read Local Supported Features.
        public static let readLocalSupportedFeatures = Bit(octet: 14, bit: 5)
        /// Read RSSI.
        public static let readRSSI = Bit(octet: 15, bit: 5)
        /// Write LE Host Support.
        public static let writeLEHostSupport = Bit(octet: 24, bit: 6)
        /// LE Set Advertising Parameters.
        public static let leSetAdvertisingParameters = Bit(octet: 25, bit: 5)
        /// LE Set Advertising Enable.
        public static let leSetAdvertisingEnable = Bit(octet: 26, bit: 1)
        /// LE Create Connection.
        public static let leCreateConnection = Bit(octet: 26, bit: 4)
        /// LE Create Connection Cancel.
        public static let leCreateConnectionCancel = Bit(octet: 26, bit: 5)
        /// LE Enable Encryption.
        public static let leEnableEncryption = Bit(octet: 28, bit: 0)
        /// LE Set Data Length.
        public static let leSetDataLength = Bit(octet: 33, bit: 6)
        /// LE Set PHY.
        public static let leSetPHY = Bit(octet: 35, bit: 6)
        /// LE Set Extended Advertising Parameters [v1].
        public static let leSetExtendedAdvertisingParameters = Bit(octet: 36, bit: 2)
        /// LE Set Extended Advertising Data.
        public static let leSetExtendedAdvertisingData = Bit(octet: 36, bit: 3)
        /// LE Set Extended Scan Response Data.
        public static let leSetExtendedScanResponseData = Bit(octet: 36, bit: 4)
        /// LE Set Extended Advertising Enable.
        public static let leSetExtendedAdvertisingEnable = Bit(octet: 36, bit: 5)
        /// LE Extended Create Connection [v1].
        public static let leExtendedCreateConnection = Bit(octet: 37, bit: 7)
    }

    /// Length of the bit map, in bytes.
    public static let byteCount = 64

    /// Bit map as received, 64 bytes.
    public let octets: [UInt8]

    /// Creates a bit map that contains only the given commands.
    public init(_ bits: Set<Bit>) {
        var octets = [UInt8](repeating: 0, count: Self.byteCount)
        for bit in bits where Int(bit.octet) < Self.byteCount { octets[Int(bit.octet)] |= 1 &<< bit.bit }
        self.octets = octets
    }

    /// Parses the return parameters of Read Local Supported Commands: the status and the bit map.
    ///
    /// Throws an `invalidValue` error if the status is not success.
    public init(returnParameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(returnParameters, packet: "Read Local Supported Commands")
        let status = HCIStatus(rawValue: try reader.readUInt8("Status"))
        guard status == .success else { throw reader.error("Status", .invalidValue(UInt64(status.rawValue))) }
        octets = try reader.readBytes(count: Self.byteCount, "Supported_Commands")
        try reader.expectEnd()
    }

    /// Returns true if the controller supports the command.
    public func contains(_ bit: Bit) -> Bool {
        Int(bit.octet) < octets.count && octets[Int(bit.octet)] & (1 &<< bit.bit) != 0
    }
}
