// SPDX-License-Identifier: GPL-2.0-or-later

/// Opcode of a command of the kernel's Bluetooth management protocol (BlueZ, doc/mgmt-protocol.rst).
public struct ManagementOpcode: RawRepresentable, Hashable, Sendable {
    /// Opcode as a number.
    public let rawValue: UInt16

    /// Creates an opcode from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Read Management Version Information.
    public static let readVersion = ManagementOpcode(rawValue: 0x0001)
    /// Read Management Supported Commands.
    public static let readSupportedCommands = ManagementOpcode(rawValue: 0x0002)
    /// Read Controller Index List.
    public static let readIndexList = ManagementOpcode(rawValue: 0x0003)
    /// Read Controller Information.
    public static let readControllerInformation = ManagementOpcode(rawValue: 0x0004)
    /// Set Powered.
    public static let setPowered = ManagementOpcode(rawValue: 0x0005)
    /// Set Bondable.
    public static let setBondable = ManagementOpcode(rawValue: 0x0009)
    /// Set Secure Simple Pairing.
    public static let setSecureSimplePairing = ManagementOpcode(rawValue: 0x000B)
    /// Set Low Energy.
    public static let setLowEnergy = ManagementOpcode(rawValue: 0x000D)
    /// Load Long Term Keys.
    public static let loadLongTermKeys = ManagementOpcode(rawValue: 0x0013)
    /// Disconnect.
    public static let disconnect = ManagementOpcode(rawValue: 0x0014)
    /// Get Connections.
    public static let getConnections = ManagementOpcode(rawValue: 0x0015)
    /// Set IO Capability.
    public static let setIOCapability = ManagementOpcode(rawValue: 0x0018)
    /// Pair Device.
    public static let pairDevice = ManagementOpcode(rawValue: 0x0019)
    /// Cancel Pair Device.
    public static let cancelPairDevice = ManagementOpcode(rawValue: 0x001A)
    /// Unpair Device.
    public static let unpairDevice = ManagementOpcode(rawValue: 0x001B)
    /// User Confirmation Reply.
    public static let userConfirmationReply = ManagementOpcode(rawValue: 0x001C)
    /// User Confirmation Negative Reply.
    public static let userConfirmationNegativeReply = ManagementOpcode(rawValue: 0x001D)
    /// User Passkey Reply.
    public static let userPasskeyReply = ManagementOpcode(rawValue: 0x001E)
    /// User Passkey Negative Reply.
    public static let userPasskeyNegativeReply = ManagementOpcode(rawValue: 0x001F)
    /// Stop Discovery.
    public static let stopDiscovery = ManagementOpcode(rawValue: 0x0024)
    /// Set Secure Connections.
    public static let setSecureConnections = ManagementOpcode(rawValue: 0x002D)
    /// Load Identity Resolving Keys.
    public static let loadIdentityResolvingKeys = ManagementOpcode(rawValue: 0x0030)
    /// Get Connection Information.
    public static let getConnectionInformation = ManagementOpcode(rawValue: 0x0031)
    /// Load Connection Parameters.
    public static let loadConnectionParameters = ManagementOpcode(rawValue: 0x0035)
}

extension ManagementOpcode: CustomStringConvertible {
    /// The command's name and number, or only the number if the opcode is unknown.
    public var description: String {
        let number = "0x" + Hexadecimal.text(UInt64(rawValue), digits: 4)
        guard let name = Self.names[self] else { return "management command \(number)" }
        return "\(name) (\(number))"
    }

    private static let names: [ManagementOpcode: String] = [
        .readVersion: "Read Management Version Information",
        .readSupportedCommands: "Read Management Supported Commands",
        .readIndexList: "Read Controller Index List",
        .readControllerInformation: "Read Controller Information",
        .setPowered: "Set Powered",
        .setBondable: "Set Bondable",
        .setSecureSimplePairing: "Set Secure Simple Pairing",
        .setLowEnergy: "Set Low Energy",
        .loadLongTermKeys: "Load Long Term Keys",
        .disconnect: "Disconnect",
        .getConnections: "Get Connections",
        .setIOCapability: "Set IO Capability",
        .pairDevice: "Pair Device",
        .cancelPairDevice: "Cancel Pair Device",
        .unpairDevice: "Unpair Device",
        .userConfirmationReply: "User Confirmation Reply",
        .userConfirmationNegativeReply: "User Confirmation Negative Reply",
        .userPasskeyReply: "User Passkey Reply",
        .userPasskeyNegativeReply: "User Passkey Negative Reply",
        .stopDiscovery: "Stop Discovery",
        .setSecureConnections: "Set Secure Connections",
        .loadIdentityResolvingKeys: "Load Identity Resolving Keys",
        .getConnectionInformation: "Get Connection Information",
        .loadConnectionParameters: "Load Connection Parameters",
    ]
}

/// Status in the kernel's reply to a management command (BlueZ, doc/mgmt-protocol.rst: Error Codes).
public struct ManagementStatus: RawRepresentable, Hashable, Sendable {
    /// Status code as a number.
    public let rawValue: UInt8

    /// Creates a status from its code; every value is valid.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The command succeeded.
    public static let success = ManagementStatus(rawValue: 0x00)
    /// The kernel does not know the command.
    public static let unknownCommand = ManagementStatus(rawValue: 0x01)
    /// There is no such connection.
    public static let notConnected = ManagementStatus(rawValue: 0x02)
    /// No other status code applies.
    public static let failed = ManagementStatus(rawValue: 0x03)
    /// A connection could not be established.
    public static let connectFailed = ManagementStatus(rawValue: 0x04)
    /// Pairing or encryption failed.
    public static let authenticationFailed = ManagementStatus(rawValue: 0x05)
    /// The operation timed out.
    public static let timeout = ManagementStatus(rawValue: 0x08)
    /// An operation of the same kind is already in progress.
    public static let busy = ManagementStatus(rawValue: 0x0A)
    /// The command is not valid in the current state.
    public static let rejected = ManagementStatus(rawValue: 0x0B)
    /// The controller does not support the operation.
    public static let notSupported = ManagementStatus(rawValue: 0x0C)
    /// A parameter is invalid.
    public static let invalidParameters = ManagementStatus(rawValue: 0x0D)
    /// The connection ended in the meantime.
    public static let disconnected = ManagementStatus(rawValue: 0x0E)
    /// The controller is powered off.
    public static let notPowered = ManagementStatus(rawValue: 0x0F)
    /// The operation was cancelled.
    public static let cancelled = ManagementStatus(rawValue: 0x10)
    /// There is no such controller.
    public static let invalidIndex = ManagementStatus(rawValue: 0x11)
    /// rfkill blocks the controller.
    public static let rfkilled = ManagementStatus(rawValue: 0x12)
    /// The kernel already has a key for the device.
    public static let alreadyPaired = ManagementStatus(rawValue: 0x13)
    /// The process does not have the required capability (CAP_NET_ADMIN).
    public static let permissionDenied = ManagementStatus(rawValue: 0x14)
}

extension ManagementStatus: CustomStringConvertible {
    /// The protocol's name and the code, such as `Not Powered (0x0F)`.
    public var description: String {
        "\(name ?? "Unknown Status") (0x\(Hexadecimal.text(UInt64(rawValue), digits: 2)))"
    }

    /// Name of the status in the protocol; nil for an unknown code.
    public var name: String? {
        Int(rawValue) < Self.names.count ? Self.names[Int(rawValue)] : nil
    }

    /// Names by status code, starting with 0x00.
    private static let names = [
        "Success", "Unknown Command", "Not Connected", "Failed", "Connect Failed", "Authentication Failed",
        "Not Paired", "No Resources", "Timeout", "Already Connected", "Busy", "Rejected", "Not Supported",
        "Invalid Parameters", "Disconnected", "Not Powered", "Cancelled", "Invalid Index", "RFKilled",
        "Already Paired", "Permission Denied",
    ]
}

/// Set of controller settings, either those that are supported or those that are enabled.
///
/// BlueZ, doc/mgmt-protocol.rst (Read Controller Information).
public struct ManagementSettings: OptionSet, Hashable, Sendable {
    /// Bits of the set, one for each setting.
    public let rawValue: UInt32

    /// Creates settings from their bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The controller is powered on.
    public static let powered = ManagementSettings(rawValue: 1 << 0)
    /// Pairings create bonds, that is, keys for later connections.
    public static let bondable = ManagementSettings(rawValue: 1 << 4)
    /// Secure Simple Pairing is supported or enabled.
    public static let secureSimplePairing = ManagementSettings(rawValue: 1 << 6)
    /// BR/EDR is supported or enabled.
    public static let classic = ManagementSettings(rawValue: 1 << 7)
    /// Low Energy is supported or enabled.
    public static let lowEnergy = ManagementSettings(rawValue: 1 << 9)
    /// Secure Connections are supported or enabled.
    public static let secureConnections = ManagementSettings(rawValue: 1 << 11)
}

/// Management commands and events that a kernel supports, as reported by Read Management Supported Commands.
///
/// BlueZ, doc/mgmt-protocol.rst.
public struct SupportedManagement: Hashable, Sendable {
    /// Opcodes of the supported commands.
    public var commands: Set<ManagementOpcode>
    /// Numbers of the supported events.
    public var events: Set<UInt16>

    /// Number of Controller Resume, the event that follows a suspension (Linux 5.10).
    public static let controllerResume = ManagementEvent.Code.controllerResume

    /// True if the list contains everything that the kernel supports.
    ///
    /// To a process without CAP_NET_ADMIN, the kernel reports only the permitted commands, which include Read
    /// Controller Index List.
    public var isWhole: Bool { commands.contains(.setPowered) || !commands.contains(.readIndexList) }

    /// Parses the return parameters of Read Management Supported Commands.
    public init(returnParameters: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(returnParameters, packet: "Read Management Supported Commands")
        let commandCount = Int(try reader.readUInt16("Num_Of_Commands"))
        let eventCount = Int(try reader.readUInt16("Num_Of_Events"))
        commands = []
        events = []
        for _ in 0..<commandCount { commands.insert(ManagementOpcode(rawValue: try reader.readUInt16("Command"))) }
        for _ in 0..<eventCount { events.insert(try reader.readUInt16("Event")) }
        try reader.expectEnd()
    }
}
