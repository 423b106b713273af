// SPDX-License-Identifier: GPL-2.0-or-later

/// Index of a controller in the kernel; 0 stands for hci0.
public struct ControllerIndex: RawRepresentable, Hashable, Sendable {
    /// Index as a number.
    public let rawValue: UInt16

    /// Creates an index from its number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Index for commands and events that do not concern one particular controller.
    public static let none = ControllerIndex(rawValue: 0xFFFF)
}

/// Command of the kernel's Bluetooth management protocol (BlueZ, doc/mgmt-protocol.rst).
public struct ManagementCommand: Hashable, Sendable {
    public let opcode: ManagementOpcode
    /// Controller that the command is for, or `none`.
    public let index: ControllerIndex
    public let parameters: [UInt8]

    init(_ opcode: ManagementOpcode, _ index: ControllerIndex, _ parameters: [UInt8] = []) {
        self.opcode = opcode
        self.index = index
        self.parameters = parameters
    }

    /// The packet in encoded form: opcode, index, length and parameters.
    public var encoded: [UInt8] {
        ByteWriter.bytes(opcode.rawValue, index.rawValue, UInt16(truncatingIfNeeded: parameters.count), parameters)
    }

    /// Read Management Supported Commands; the reply contains `SupportedManagement`.
    public static let readSupportedCommands = ManagementCommand(.readSupportedCommands, .none)

    /// Read Controller Index List; parse the reply with `ManagementReturn.indexList`.
    public static let readIndexList = ManagementCommand(.readIndexList, .none)

    /// Read Controller Information; the reply contains `ControllerInformation`.
    public static func readControllerInformation(_ index: ControllerIndex) -> ManagementCommand {
        ManagementCommand(.readControllerInformation, index)
    }

    /// Set Powered; parse the reply with `ManagementReturn.settings`.
    public static func setPowered(_ index: ControllerIndex, _ isOn: Bool) -> ManagementCommand {
        ManagementCommand(.setPowered, index, [isOn ? 1 : 0])
    }

    /// Set Low Energy; parse the reply with `ManagementReturn.settings`.
    public static func setLowEnergy(_ index: ControllerIndex, _ isOn: Bool) -> ManagementCommand {
        ManagementCommand(.setLowEnergy, index, [isOn ? 1 : 0])
    }

    /// Disconnect, which ends the connection with a device.
    public static func disconnect(_ index: ControllerIndex, _ device: ManagementAddress) -> ManagementCommand {
        ManagementCommand(.disconnect, index, ByteWriter.bytes(device.address, device.type.rawValue))
    }

    /// Get Connections; parse the reply with `ManagementReturn.connections`.
    public static func getConnections(_ index: ControllerIndex) -> ManagementCommand {
        ManagementCommand(.getConnections, index)
    }

    /// Get Connection Information; parse the reply with `ManagementReturn.rssi`.
    public static func getConnectionInformation(
        _ index: ControllerIndex,
        _ device: ManagementAddress
    ) -> ManagementCommand {
        ManagementCommand(.getConnectionInformation, index, ByteWriter.bytes(device.address, device.type.rawValue))
    }

    /// Stop Discovery for the given address types.
    ///
    /// A raw active scan looks to the kernel like a discovery without address types, which is stopped with empty
    /// `types`.
    public static func stopDiscovery(_ index: ControllerIndex, types: DiscoveryTypes) -> ManagementCommand {
        ManagementCommand(.stopDiscovery, index, [types.rawValue])
    }

    /// Load Connection Parameters, which sets the parameters for the next connection with a device.
    public static func loadConnectionParameters(
        _ index: ControllerIndex,
        _ device: ManagementAddress,
        _ parameters: ConnectionParameters
    ) -> ManagementCommand {
        // The list has one entry.
        ManagementCommand(
            .loadConnectionParameters,
            index,
            ByteWriter.bytes(UInt16(1), device.address, device.type.rawValue, parameters)
        )
    }

    /// Set Bondable, which enables or disables the storing of keys on pairing; parse the reply with
    /// `ManagementReturn.settings`.
    public static func setBondable(_ index: ControllerIndex, _ isOn: Bool) -> ManagementCommand {
        ManagementCommand(.setBondable, index, [isOn ? 1 : 0])
    }

    /// Set Secure Simple Pairing, which a BR/EDR controller requires for Secure Connections; parse the reply with
    /// `ManagementReturn.settings`.
    public static func setSecureSimplePairing(_ index: ControllerIndex, _ isOn: Bool) -> ManagementCommand {
        ManagementCommand(.setSecureSimplePairing, index, [isOn ? 1 : 0])
    }

    /// Set Secure Connections; parse the reply with `ManagementReturn.settings`.
    ///
    /// If enabled, Secure Connections are preferred, but legacy pairing is still possible.
    public static func setSecureConnections(_ index: ControllerIndex, _ isOn: Bool) -> ManagementCommand {
        ManagementCommand(.setSecureConnections, index, [isOn ? 1 : 0])
    }

    /// Set IO Capability, which sets the input and output capability for pairing.
    public static func setIOCapability(_ index: ControllerIndex, _ capability: IOCapability) -> ManagementCommand {
        ManagementCommand(.setIOCapability, index, [capability.rawValue])
    }

    /// Load Long Term Keys, which replaces all of the kernel's long term keys for this controller.
    public static func loadLongTermKeys(
        _ index: ControllerIndex,
        _ keys: [ManagementLongTermKey]
    ) -> ManagementCommand {
        var writer = ByteWriter(reservingCapacity: 2 + 36 * keys.count)
        writer.write(UInt16(truncatingIfNeeded: keys.count))
        for key in keys { key.write(to: &writer) }
        return ManagementCommand(.loadLongTermKeys, index, writer.bytes)
    }

    /// Load Identity Resolving Keys, which replaces all of the kernel's identity resolving keys for this controller.
    public static func loadIdentityResolvingKeys(
        _ index: ControllerIndex,
        _ keys: [ManagementResolvingKey]
    ) -> ManagementCommand {
        var writer = ByteWriter(reservingCapacity: 2 + 23 * keys.count)
        writer.write(UInt16(truncatingIfNeeded: keys.count))
        for key in keys { key.write(to: &writer) }
        return ManagementCommand(.loadIdentityResolvingKeys, index, writer.bytes)
    }

    /// Pair Device, which connects if there is no link, and then pairs.
    ///
    /// Parse the reply with `ManagementReturn.device`, which returns the identity address if it is known.
    public static func pairDevice(
        _ index: ControllerIndex,
        _ device: ManagementAddress,
        _ capability: IOCapability
    ) -> ManagementCommand {
        about(.pairDevice, index, device, [capability.rawValue])
    }

    /// Cancel Pair Device, which cancels a pairing in progress.
    public static func cancelPairDevice(_ index: ControllerIndex, _ device: ManagementAddress) -> ManagementCommand {
        about(.cancelPairDevice, index, device)
    }

    /// Unpair Device, which deletes the device's keys from the kernel and, if `disconnects` is true, ends its link.
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

    /// User Passkey Reply or, if there is no passkey, User Passkey Negative Reply, in response to a User Passkey
    /// Request.
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

/// Set of the address types of a discovery.
public struct DiscoveryTypes: OptionSet, Hashable, Sendable {
    /// Bits of the set, one for each address type.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// LE devices with public addresses.
    public static let lePublic = DiscoveryTypes(rawValue: 1 << 1)
    /// LE devices with random addresses.
    public static let leRandom = DiscoveryTypes(rawValue: 1 << 2)
}

/// Address with its type, in the format of the management protocol.
public struct ManagementAddress: Hashable, Sendable {
    /// Address type: 0 for BR/EDR, 1 for LE public, 2 for LE random.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// Address type as a number.
        public let rawValue: UInt8

        /// Creates an address type from its number.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Address of a BR/EDR device.
        public static let classic = Kind(rawValue: 0)
        /// Public address of an LE device.
        public static let lePublic = Kind(rawValue: 1)
        /// Random address of an LE device.
        public static let leRandom = Kind(rawValue: 2)
    }

    /// Address without its type.
    public var address: BluetoothAddress
    /// Type of the address.
    public var type: Kind

    public init(_ address: BluetoothAddress, _ type: Kind) {
        self.address = address
        self.type = type
    }

    /// Creates the address of an LE device.
    public init(_ device: DeviceAddress) {
        self.init(device.address, device.type == .public ? .lePublic : .leRandom)
    }

    /// Address of the LE device; nil if this is not the address of an LE device.
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

/// Input and output capability of a device for pairing (Core 6.0, Vol 3, Part H, 2.3.2).
///
/// The management protocol uses the same numbers.
public enum IOCapability: UInt8, Hashable, Sendable, CaseIterable {
    /// The device can display a number, but the user cannot enter anything.
    case displayOnly = 0
    /// The device can display a number, and the user can answer yes or no.
    case displayYesNo = 1
    /// The user can enter a number, but the device has no display.
    case keyboardOnly = 2
    /// The device has neither input nor output, so pairing uses Just Works.
    case noInputNoOutput = 3
    /// The device can display a number, and the user can enter one.
    case keyboardDisplay = 4
}
