// SPDX-License-Identifier: GPL-2.0-or-later

/// The settings of a controller: those that it supports, or those that are on.
///
/// BlueZ, doc/mgmt-protocol.rst (Read Controller Information).
public struct ManagementSettings: OptionSet, Hashable, Sendable {
    /// One bit a setting.
    public let rawValue: UInt32

    /// Settings from their bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The controller is switched on.
    public static let powered = ManagementSettings(rawValue: 1 << 0)
    /// BR/EDR connections are accepted.
    public static let connectable = ManagementSettings(rawValue: 1 << 1)
    /// BR/EDR connections are accepted faster, at the cost of power.
    public static let fastConnectable = ManagementSettings(rawValue: 1 << 2)
    /// BR/EDR inquiries are answered.
    public static let discoverable = ManagementSettings(rawValue: 1 << 3)
    /// Pairings leave keys for later connections (bonds).
    public static let bondable = ManagementSettings(rawValue: 1 << 4)
    /// BR/EDR link level security.
    public static let linkLevelSecurity = ManagementSettings(rawValue: 1 << 5)
    /// Secure Simple Pairing.
    public static let secureSimplePairing = ManagementSettings(rawValue: 1 << 6)
    /// BR/EDR.
    public static let classic = ManagementSettings(rawValue: 1 << 7)
    /// High speed.
    public static let highSpeed = ManagementSettings(rawValue: 1 << 8)
    /// Low Energy.
    public static let lowEnergy = ManagementSettings(rawValue: 1 << 9)
    /// LE advertising.
    public static let advertising = ManagementSettings(rawValue: 1 << 10)
    /// Secure Connections.
    public static let secureConnections = ManagementSettings(rawValue: 1 << 11)
    /// Debug keys.
    public static let debugKeys = ManagementSettings(rawValue: 1 << 12)
    /// LE private addresses.
    public static let privacy = ManagementSettings(rawValue: 1 << 13)
    /// The controller can be configured, or must be before its use.
    public static let configuration = ManagementSettings(rawValue: 1 << 14)
    /// A static random address is used.
    public static let staticAddress = ManagementSettings(rawValue: 1 << 15)
    /// The choice of PHYs.
    public static let phyConfiguration = ManagementSettings(rawValue: 1 << 16)
    /// Wideband speech.
    public static let widebandSpeech = ManagementSettings(rawValue: 1 << 17)
}

/// The commands and events of the management protocol that a kernel has, from Read Management Supported Commands.
///
/// BlueZ, doc/mgmt-protocol.rst.
public struct SupportedManagement: Hashable, Sendable {
    /// The commands.
    public var commands: Set<ManagementOpcode>
    /// The numbers of the events.
    public var events: Set<UInt16>

    /// Controller Resume, the event after a suspend (Linux 5.10).
    public static let controllerResume = ManagementEvent.Code.controllerResume

    /// True where the list is the kernel's whole one: a process without CAP_NET_ADMIN is shown what it may ask for only, the
    /// list of controllers among it.
    public var isWhole: Bool { commands.contains(.setPowered) || !commands.contains(.readIndexList) }

    /// Reads the return parameters.
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
