// SPDX-License-Identifier: GPL-2.0-or-later

/// The number of an HCI command: a group (OGF, 6 bits) and a command in it (OCF, 10 bits).
///
/// Core 6.0, Vol 4, Part E, 5.4.1.
public struct HCIOpcode: RawRepresentable, Hashable, Sendable {
    /// The group in the upper 6 bits, the command in the lower 10.
    public let rawValue: UInt16

    /// An opcode from its 16 bits.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// An opcode from its two fields, of which 6 and 10 bits are used.
    public init(group: UInt8, command: UInt16) {
        self.init(rawValue: UInt16(group & 0x3F) &<< 10 | command & 0x03FF)
    }

    /// The opcode group field (OGF).
    public var group: UInt8 { UInt8(truncatingIfNeeded: rawValue &>> 10) }
    /// The opcode command field (OCF).
    public var command: UInt16 { rawValue & 0x03FF }

    /// No command: an event with it carries only the number of commands the controller takes now (7.7.14).
    public static let none = HCIOpcode(rawValue: 0x0000)
    /// Disconnect (7.1.6).
    public static let disconnect = HCIOpcode(group: 0x01, command: 0x0006)
    /// Reset (7.3.2).
    public static let reset = HCIOpcode(group: 0x03, command: 0x0003)
    /// Read Local Version Information (7.4.1).
    public static let readLocalVersionInformation = HCIOpcode(group: 0x04, command: 0x0001)
    /// Read Local Supported Commands (7.4.2).
    public static let readLocalSupportedCommands = HCIOpcode(group: 0x04, command: 0x0002)
    /// LE Set Advertising Parameters (7.8.5).
    public static let leSetAdvertisingParameters = HCIOpcode(group: 0x08, command: 0x0006)
    /// LE Set Advertising Data (7.8.7).
    public static let leSetAdvertisingData = HCIOpcode(group: 0x08, command: 0x0008)
    /// LE Set Scan Response Data (7.8.8).
    public static let leSetScanResponseData = HCIOpcode(group: 0x08, command: 0x0009)
    /// LE Set Advertising Enable (7.8.9).
    public static let leSetAdvertisingEnable = HCIOpcode(group: 0x08, command: 0x000A)
    /// LE Set Scan Parameters (7.8.10).
    public static let leSetScanParameters = HCIOpcode(group: 0x08, command: 0x000B)
    /// LE Set Scan Enable (7.8.11).
    public static let leSetScanEnable = HCIOpcode(group: 0x08, command: 0x000C)
    /// LE Set Extended Advertising Parameters (7.8.53).
    public static let leSetExtendedAdvertisingParameters = HCIOpcode(group: 0x08, command: 0x0036)
    /// LE Set Extended Advertising Data (7.8.54).
    public static let leSetExtendedAdvertisingData = HCIOpcode(group: 0x08, command: 0x0037)
    /// LE Set Extended Scan Response Data (7.8.55).
    public static let leSetExtendedScanResponseData = HCIOpcode(group: 0x08, command: 0x0038)
    /// LE Set Extended Advertising Enable (7.8.56).
    public static let leSetExtendedAdvertisingEnable = HCIOpcode(group: 0x08, command: 0x0039)
    /// LE Set Extended Scan Parameters (7.8.64).
    public static let leSetExtendedScanParameters = HCIOpcode(group: 0x08, command: 0x0041)
    /// LE Set Extended Scan Enable (7.8.65).
    public static let leSetExtendedScanEnable = HCIOpcode(group: 0x08, command: 0x0042)
}

extension HCIOpcode: CustomStringConvertible {
    /// The command's name in the specification's words and its number, or its number alone.
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
        .leSetAdvertisingParameters: "LE Set Advertising Parameters",
        .leSetAdvertisingData: "LE Set Advertising Data",
        .leSetScanResponseData: "LE Set Scan Response Data",
        .leSetAdvertisingEnable: "LE Set Advertising Enable",
        .leSetScanParameters: "LE Set Scan Parameters",
        .leSetScanEnable: "LE Set Scan Enable",
        .leSetExtendedAdvertisingParameters: "LE Set Extended Advertising Parameters",
        .leSetExtendedAdvertisingData: "LE Set Extended Advertising Data",
        .leSetExtendedScanResponseData: "LE Set Extended Scan Response Data",
        .leSetExtendedAdvertisingEnable: "LE Set Extended Advertising Enable",
        .leSetExtendedScanParameters: "LE Set Extended Scan Parameters",
        .leSetExtendedScanEnable: "LE Set Extended Scan Enable",
    ]
}
