// SPDX-License-Identifier: GPL-2.0-or-later

/// The kernel's index of a controller: 0 is hci0.
public struct ControllerIndex: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt16

    /// Creates an index from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// No controller: the index of commands and events about no controller or about all.
    public static let none = ControllerIndex(rawValue: 0xFFFF)
}

/// A command of the kernel's Bluetooth management protocol (BlueZ, doc/mgmt-protocol.rst).
public struct ManagementCommand: Hashable, Sendable {
    /// The opcode.
    public let opcode: ManagementOpcode
    /// The controller of the command, or `none`.
    public let index: ControllerIndex
    /// The parameters.
    public let parameters: [UInt8]

    init(_ opcode: ManagementOpcode, _ index: ControllerIndex, _ parameters: [UInt8] = []) {
        self.opcode = opcode
        self.index = index
        self.parameters = parameters
    }

    /// The encoded packet: opcode, index, length and parameters.
    public var encoded: [UInt8] {
        ByteWriter.bytes(opcode.rawValue, index.rawValue, UInt16(truncatingIfNeeded: parameters.count), parameters)
    }

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
        ManagementCommand(.disconnect, index, ByteWriter.bytes(device.address, device.type.rawValue))
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
        ManagementCommand(.getConnectionInformation, index, ByteWriter.bytes(device.address, device.type.rawValue))
    }

    /// Stop Discovery for the given address types.
    ///
    /// When a raw active scan is started, the kernel assumes a discovery without address types; an empty `types` stops
    /// it.
    public static func stopDiscovery(_ index: ControllerIndex, types: DiscoveryTypes) -> ManagementCommand {
        ManagementCommand(.stopDiscovery, index, [types.rawValue])
    }

    /// Load Connection Parameters: sets the timing of the next connection with a device.
    public static func loadConnectionParameters(
        _ index: ControllerIndex,
        _ device: ManagementAddress,
        _ parameters: ConnectionParameters
    ) -> ManagementCommand {
        // One entry.
        ManagementCommand(
            .loadConnectionParameters,
            index,
            ByteWriter.bytes(UInt16(1), device.address, device.type.rawValue, parameters)
        )
    }

    /// Set Bondable: enables or disables storing keys when pairing; returns `ManagementReturn.settings`.
    public static func setBondable(_ index: ControllerIndex, _ isOn: Bool) -> ManagementCommand {
        ManagementCommand(.setBondable, index, [isOn ? 1 : 0])
    }

    /// Set Secure Simple Pairing, which a BR/EDR controller requires for Secure Connections; returns
    /// `ManagementReturn.settings`.
    public static func setSecureSimplePairing(_ index: ControllerIndex, _ isOn: Bool) -> ManagementCommand {
        ManagementCommand(.setSecureSimplePairing, index, [isOn ? 1 : 0])
    }

    /// Set Secure Connections: if on, they are preferred, but legacy pairing remains possible; returns
    /// `ManagementReturn.settings`.
    public static func setSecureConnections(_ index: ControllerIndex, _ isOn: Bool) -> ManagementCommand {
        ManagementCommand(.setSecureConnections, index, [isOn ? 1 : 0])
    }

    /// Set IO Capability.
    public static func setIOCapability(_ index: ControllerIndex, _ capability: IOCapability) -> ManagementCommand {
        ManagementCommand(.setIOCapability, index, [capability.rawValue])
    }

    /// Load Long Term Keys: replaces the kernel's keys for this controller.
    public static func loadLongTermKeys(
        _ index: ControllerIndex,
        _ keys: [ManagementLongTermKey]
    ) -> ManagementCommand {
        var writer = ByteWriter(reservingCapacity: 2 + 36 * keys.count)
        writer.write(UInt16(truncatingIfNeeded: keys.count))
        for key in keys { key.write(to: &writer) }
        return ManagementCommand(.loadLongTermKeys, index, writer.bytes)
    }

    /// Load Identity Resolving Keys: replaces the kernel's keys for this controller.
    public static func loadIdentityResolvingKeys(
        _ index: ControllerIndex,
        _ keys: [ManagementResolvingKey]
    ) -> ManagementCommand {
        var writer = ByteWriter(reservingCapacity: 2 + 23 * keys.count)
        writer.write(UInt16(truncatingIfNeeded: keys.count))
        for key in keys { key.write(to: &writer) }
        return ManagementCommand(.loadIdentityResolvingKeys, index, writer.bytes)
    }

    /// Pair Device: connects if there is no link, and pairs; returns `ManagementReturn.device`, the identity if it is
    /// known.
    public static func pairDevice(
        _ index: ControllerIndex,
        _ device: ManagementAddress,
        _ capability: IOCapability
    ) -> ManagementCommand {
        about(.pairDevice, index, device, [capability.rawValue])
    }

    /// Cancel Pair Device: cancels a Pair Device in progress.
    public static func cancelPairDevice(_ index: ControllerIndex, _ device: ManagementAddress) -> ManagementCommand {
        about(.cancelPairDevice, index, device)
    }

    /// Unpair Device: deletes the device's keys from the kernel; `disconnects` also ends its link.
    public static func unpairDevice(
        _ index: ControllerIndex,
        _ device: ManagementAddress,
        disconnects: Bool
    ) -> ManagementCommand {
        about(.unpairDevice, index, device, [disconnects ? 1 : 0])
    }

    /// User Confirmation Reply or User Confirmation Negative Reply, in response to a User Confirmation Request.
    public static func userConfirmationReply(
        _ index: ControllerIndex,
        _ device: ManagementAddress,
        accepts: Bool
    ) -> ManagementCommand {
        about(accepts ? .userConfirmationReply : .userConfirmationNegativeReply, index, device)
    }

    /// User Passkey Reply, or User Passkey Negative Reply without a passkey, in response to a User Passkey Request.
    public static func userPasskeyReply(
        _ index: ControllerIndex,
        _ device: ManagementAddress,
        _ passkey: UInt32?
    ) -> ManagementCommand {
        guard let passkey else { return about(.userPasskeyNegativeReply, index, device) }
        return about(.userPasskeyReply, index, device, ByteWriter.bytes(passkey))
    }

    private static func about(
        _ opcode: ManagementOpcode,
        _ index: ControllerIndex,
        _ device: ManagementAddress,
        _ rest: [UInt8] = []
    ) -> ManagementCommand {
        ManagementCommand(opcode, index, ByteWriter.bytes(device, rest))
    }
}

/// Address types of a discovery.
public struct DiscoveryTypes: OptionSet, Hashable, Sendable {
    /// One bit per address type.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// LE, public addresses.
    public static let lePublic = DiscoveryTypes(rawValue: 1 << 1)
    /// LE, random addresses.
    public static let leRandom = DiscoveryTypes(rawValue: 1 << 2)
}

/// An address with its type, in the format of the management protocol.
public struct ManagementAddress: Hashable, Sendable {
    /// Address types: 0 BR/EDR, 1 LE public, 2 LE random.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The number.
        public let rawValue: UInt8

        /// Creates an address type from its number.
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

    /// The 48-bit address.
    public var address: BluetoothAddress
    /// The address type.
    public var type: Kind

    /// Creates an address with a type.
    public init(_ address: BluetoothAddress, _ type: Kind) {
        self.address = address
        self.type = type
    }

    /// Creates the address of an LE device.
    public init(_ device: DeviceAddress) {
        self.init(device.address, device.type == .public ? .lePublic : .leRandom)
    }

    /// The address as an LE device address; nil for any other type.
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

    package func write(to writer: inout ByteWriter) {
        writer.write(address)
        writer.write(type.rawValue)
    }
}

/// Input and output capabilities of a device for pairing, with numbers that the management protocol shares (Core 6.0,
/// Vol 3, Part H, 2.3.2).
public enum IOCapability: UInt8, Hashable, Sendable, CaseIterable {
    /// The device can display a number.
    case displayOnly = 0
    /// The device can display a number, and accepts yes or no.
    case displayYesNo = 1
    /// The device accepts a number.
    case keyboardOnly = 2
    /// The device has neither input nor output: Just Works.
    case noInputNoOutput = 3
    /// The device can display a number, and accepts one.
    case keyboardDisplay = 4
}
