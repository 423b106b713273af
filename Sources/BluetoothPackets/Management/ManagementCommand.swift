// SPDX-License-Identifier: GPL-2.0-or-later

/// The number of a controller in the kernel: 0 is hci0.
public struct ControllerIndex: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt16

    /// An index from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// No controller: the index of commands and events that concern none or all.
    public static let none = ControllerIndex(rawValue: 0xFFFF)
}

/// A command of the kernel's Bluetooth management protocol.
///
/// BlueZ, doc/mgmt-protocol.rst.
public struct ManagementCommand: Hashable, Sendable {
    /// The command's number.
    public let opcode: ManagementOpcode
    /// The controller that it is for, or `none`.
    public let index: ControllerIndex
    /// Its parameters.
    public let parameters: [UInt8]

    init(_ opcode: ManagementOpcode, _ index: ControllerIndex, _ parameters: [UInt8] = []) {
        self.opcode = opcode
        self.index = index
        self.parameters = parameters
    }

    /// The packet: opcode, index, length, parameters.
    public var encoded: [UInt8] {
        var writer = ByteWriter(reservingCapacity: 6 + parameters.count)
        writer.write(opcode.rawValue)
        writer.write(index.rawValue)
        writer.write(UInt16(truncatingIfNeeded: parameters.count))
        writer.write(parameters)
        return writer.bytes
    }

    /// Read Management Version Information; returns `ManagementVersion`.
    public static let readVersion = ManagementCommand(.readVersion, .none)

    /// Read Management Supported Commands; returns `SupportedManagement`.
    public static let readSupportedCommands = ManagementCommand(.readSupportedCommands, .none)

    /// Read Controller Index List; returns `ManagementReturn.indexList`.
    public static let readIndexList = ManagementCommand(.readIndexList, .none)

    /// Read Controller Information; returns `ControllerInformation`.
    public static func readControllerInformation(_ index: ControllerIndex) -> ManagementCommand {
        ManagementCommand(.readControllerInformation, index)
    }

    /// Set Powered; returns `ManagementReturn.settings`.
    public static func setPowered(_ index: ControllerIndex, _ isOn: Bool) -> ManagementCommand {
        ManagementCommand(.setPowered, index, [isOn ? 1 : 0])
    }

    /// Set Low Energy; returns `ManagementReturn.settings`.
    public static func setLowEnergy(_ index: ControllerIndex, _ isOn: Bool) -> ManagementCommand {
        ManagementCommand(.setLowEnergy, index, [isOn ? 1 : 0])
    }

    /// Disconnect: ends the connection with a device.
    public static func disconnect(_ index: ControllerIndex, _ device: ManagementAddress) -> ManagementCommand {
        var writer = ByteWriter()
        writer.write(device.address)
        writer.write(device.type.rawValue)
        return ManagementCommand(.disconnect, index, writer.bytes)
    }

    /// Get Connections; returns `ManagementReturn.connections`.
    public static func getConnections(_ index: ControllerIndex) -> ManagementCommand {
        ManagementCommand(.getConnections, index)
    }

    /// Get Connection Information; returns `ManagementReturn.rssi`.
    public static func getConnectionInformation(
        _ index: ControllerIndex,
        _ device: ManagementAddress
    ) -> ManagementCommand {
        var writer = ByteWriter()
        writer.write(device.address)
        writer.write(device.type.rawValue)
        return ManagementCommand(.getConnectionInformation, index, writer.bytes)
    }

    /// Stop Discovery of the given kinds of address.
    ///
    /// After a raw active scan the kernel believes that a discovery of no kind runs, which this stops (`types` empty).
    public static func stopDiscovery(_ index: ControllerIndex, types: DiscoveryTypes) -> ManagementCommand {
        ManagementCommand(.stopDiscovery, index, [types.rawValue])
    }

    /// Load Connection Parameters: the timing of the next connection with a device.
    public static func loadConnectionParameters(
        _ index: ControllerIndex,
        _ device: ManagementAddress,
        _ parameters: ConnectionParameters
    ) -> ManagementCommand {
        var writer = ByteWriter()
        // One entry.
        writer.write(UInt16(1))
        writer.write(device.address)
        writer.write(device.type.rawValue)
        parameters.write(to: &writer)
        return ManagementCommand(.loadConnectionParameters, index, writer.bytes)
    }
}

/// Kinds of address that a discovery looks for.
public struct DiscoveryTypes: OptionSet, Hashable, Sendable {
    /// One bit a kind.
    public let rawValue: UInt8

    /// A set from its bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// BR/EDR.
    public static let classic = DiscoveryTypes(rawValue: 1 << 0)
    /// LE, public addresses.
    public static let lePublic = DiscoveryTypes(rawValue: 1 << 1)
    /// LE, random addresses.
    public static let leRandom = DiscoveryTypes(rawValue: 1 << 2)
}

/// An address with its kind, as the management protocol writes it.
public struct ManagementAddress: Hashable, Sendable {
    /// Kinds of address: 0 BR/EDR, 1 LE public, 2 LE random.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The number.
        public let rawValue: UInt8

        /// A kind from its number.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// BR/EDR.
        public static let classic = Kind(rawValue: 0)
        /// LE, public.
        public static let lePublic = Kind(rawValue: 1)
        /// LE, random.
        public static let leRandom = Kind(rawValue: 2)
    }

    /// The 48 bits.
    public var address: BluetoothAddress
    /// The kind of the address.
    public var type: Kind

    /// An address of a kind.
    public init(_ address: BluetoothAddress, _ type: Kind) {
        self.address = address
        self.type = type
    }

    /// The address of an LE device.
    public init(_ device: DeviceAddress) {
        self.init(device.address, device.type == .public ? .lePublic : .leRandom)
    }

    /// The address as one of an LE device; nil for any other kind.
    public var device: DeviceAddress? {
        switch type {
        case .lePublic: DeviceAddress(address, .public)
        case .leRandom: DeviceAddress(address, .random)
        default: nil
        }
    }

    @_lifetime(reader: copy reader)
    init(from reader: inout ByteReader) throws(DecodingError) {
        address = try reader.readAddress("Address")
        type = Kind(rawValue: try reader.readUInt8("Address_Type"))
    }

    func write(to writer: inout ByteWriter) {
        writer.write(address)
        writer.write(type.rawValue)
    }
}
