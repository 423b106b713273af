// SPDX-License-Identifier: GPL-2.0-or-later

/// A controller's error code, also the reason of a disconnection.
///
/// Core 6.0, Vol 1, Part F, 1.3.
public struct HCIStatus: RawRepresentable, Hashable, Sendable {
    /// The code.
    public let rawValue: UInt8

    /// A status from its code; every value is possible.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Done (0x00).
    public static let success = HCIStatus(rawValue: 0x00)
    /// The controller does not know the opcode (0x01).
    public static let unknownHCICommand = HCIStatus(rawValue: 0x01)
    /// No connection has the handle (0x02).
    public static let unknownConnectionIdentifier = HCIStatus(rawValue: 0x02)
    /// The controller is broken (0x03).
    public static let hardwareFailure = HCIStatus(rawValue: 0x03)
    /// Pairing or encryption failed (0x05).
    public static let authenticationFailure = HCIStatus(rawValue: 0x05)
    /// The key is missing on one side (0x06).
    public static let pinOrKeyMissing = HCIStatus(rawValue: 0x06)
    /// Nothing was heard within the supervision time-out (0x08).
    public static let connectionTimeout = HCIStatus(rawValue: 0x08)
    /// The controller takes no more connections (0x09).
    public static let connectionLimitExceeded = HCIStatus(rawValue: 0x09)
    /// The command does not fit the controller's present state (0x0C).
    public static let commandDisallowed = HCIStatus(rawValue: 0x0C)
    /// A parameter or a combination is not supported (0x11).
    public static let unsupportedFeatureOrParameterValue = HCIStatus(rawValue: 0x11)
    /// A parameter is outside its range (0x12).
    public static let invalidHCICommandParameters = HCIStatus(rawValue: 0x12)
    /// The connection that is to be made exists already (0x0B).
    public static let connectionAlreadyExists = HCIStatus(rawValue: 0x0B)
    /// The other side ended the connection (0x13).
    public static let remoteUserTerminatedConnection = HCIStatus(rawValue: 0x13)
    /// This side ended the connection (0x16).
    public static let connectionTerminatedByLocalHost = HCIStatus(rawValue: 0x16)
    /// No other code fits (0x1F).
    public static let unspecifiedError = HCIStatus(rawValue: 0x1F)
    /// The other side did not follow a change in time (0x28).
    public static let instantPassed = HCIStatus(rawValue: 0x28)
    /// The connection parameters cannot be accepted (0x3B).
    public static let unacceptableConnectionParameters = HCIStatus(rawValue: 0x3B)
    /// A connection could not begin: the other side never answered (0x3E).
    public static let connectionFailedToBeEstablished = HCIStatus(rawValue: 0x3E)
    /// There is no such advertising set (0x42).
    public static let unknownAdvertisingIdentifier = HCIStatus(rawValue: 0x42)
}

extension HCIStatus: CustomStringConvertible {
    /// The name in the specification's words and the code, such as `Command Disallowed (0x0C)`.
    public var description: String {
        "\(name ?? "Reserved Error") (0x\(Hexadecimal.text(UInt64(rawValue), digits: 2)))"
    }

    /// The name in the specification's words; nil for a code that has none.
    public var name: String? {
        Int(rawValue) < Self.names.count ? Self.names[Int(rawValue)] : nil
    }

    /// The names by code, from 0x00.
    ///
    /// Core 6.0, Vol 1, Part F, 1.3, table 1.1.
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
        // 0x10
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
        // 0x20
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
        // 0x30
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
        // 0x40
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
