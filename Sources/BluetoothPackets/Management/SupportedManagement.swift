// SPDX-License-Identifier: GPL-2.0-or-later

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
