// SPDX-License-Identifier: GPL-2.0-or-later

/// Event of the kernel's Bluetooth management protocol (BlueZ, doc/mgmt-protocol.rst).
public struct ManagementEvent: Hashable, Sendable {
    /// Kind of event, with its parameters.
    public enum Kind: Hashable, Sendable {
        /// A command succeeded or failed, and returned parameters (0x0001).
        case commandComplete(opcode: ManagementOpcode, status: ManagementStatus, returnParameters: [UInt8])
        /// A command failed, or succeeded without return parameters (0x0002).
        case commandStatus(opcode: ManagementOpcode, status: ManagementStatus)
        /// The controller reported a hardware error (0x0003).
        case controllerError(code: UInt8)
        /// A controller was added (0x0004).
        case indexAdded
        /// A controller was removed (0x0005).
        case indexRemoved
        /// The controller's settings changed (0x0006).
        case newSettings(ManagementSettings)
        /// A pairing created a long term key (0x000A), which should be stored if `isToBeKept` is true.
        case newLongTermKey(ManagementLongTermKey, isToBeKept: Bool)
        /// A connection was established (0x000B); the event contains the device's advertising data.
        case deviceConnected(ManagementAddress, flags: UInt32, advertisingData: [UInt8])
        /// A connection ended (0x000C).
        case deviceDisconnected(ManagementAddress, reason: DisconnectReason)
        /// A connection could not be established (0x000D).
        case connectFailed(ManagementAddress, status: ManagementStatus)
        /// The user must confirm that both devices show this number (0x000F).
        ///
        /// If `isPlain` is true, no number is shown, and the user must only confirm the pairing itself.
        case userConfirmationRequest(ManagementAddress, isPlain: Bool, number: UInt32)
        /// The user must enter the number that the other device shows (0x0010).
        case userPasskeyRequest(ManagementAddress)
        /// Pairing or encryption failed (0x0011).
        case authenticationFailed(ManagementAddress, status: ManagementStatus)
        /// A discovery began or ended (0x0013).
        case discovering(types: DiscoveryTypes, isOn: Bool)
        /// Another program removed a device's keys (0x0016).
        case deviceUnpaired(ManagementAddress)
        /// The user must enter this passkey at the other device (0x0017); `entered` is the number of digits entered so
        /// far.
        case passkeyNotify(ManagementAddress, passkey: UInt32, entered: UInt8)
        /// A pairing created an identity resolving key (0x0018), which should be stored if `isToBeKept` is true.
        ///
        /// `resolved` is the private address that was resolved to the identity, or zero if there is none.
        case newIdentityResolvingKey(ManagementResolvingKey, resolved: BluetoothAddress, isToBeKept: Bool)
        /// A device requested these connection parameters, and the kernel accepted them (0x001C).
        case newConnectionParameters(ManagementAddress, ConnectionParameters, isToBeKept: Bool)
        /// The controller was suspended together with the machine (0x002D); the value is the suspend state.
        case controllerSuspended(state: UInt8)
        /// The controller resumed (0x002E); the address is that of the device that woke it, if there is one.
        case controllerResumed(reason: UInt8, ManagementAddress)
        case other(code: UInt16, parameters: [UInt8])
    }

    /// Reason for a disconnection, as reported by the kernel.
    ///
    /// The values are: 0 unspecified, 1 time-out, 2 by this host, 3 by the device, 4 authentication failure, 5
    /// suspension of this host.
    public struct DisconnectReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// Reason as a number.
        public let rawValue: UInt8

        /// Creates a reason from its number.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The reason is unknown.
        public static let unspecified = DisconnectReason(rawValue: 0)
        /// The connection timed out.
        public static let timeout = DisconnectReason(rawValue: 1)
        /// This host ended the connection.
        public static let localHost = DisconnectReason(rawValue: 2)
        /// The device ended the connection.
        public static let remote = DisconnectReason(rawValue: 3)
        /// Pairing or encryption failed.
        public static let authenticationFailure = DisconnectReason(rawValue: 4)
        /// The connection was ended because this host was suspended.
        public static let localHostSuspend = DisconnectReason(rawValue: 5)

        /// Short description of the reason.
        public var description: String {
            switch self {
            case .unspecified: "unspecified"
            case .timeout: "connection timeout"
            case .localHost: "terminated by local host"
            case .remote: "terminated by remote host"
            case .authenticationFailure: "authentication failure"
            case .localHostSuspend: "terminated by local host for suspend"
            default: "reason \(rawValue)"
            }
        }
    }

    /// Controller that the event is about, or `none`.
    public let index: ControllerIndex
    /// Kind of event, with its parameters.
    public let kind: Kind

    /// Parses a complete packet; its length field must equal the number of bytes after the header.
    public init(_ packet: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(packet, packet: "Management Event")
        let code = try reader.readUInt16("Event_Code")
        index = ControllerIndex(rawValue: try reader.readUInt16("Controller_Index"))
        let length = try reader.readUInt16("Parameter_Length")
        guard Int(length) >= reader.remaining else {
            throw reader.error("Parameter_Length", .trailing(count: reader.remaining &- Int(length)))
        }
        let parameters = try reader.readSpan(count: Int(length), "Parameters")
        kind = try Self.kind(code, parameters)
    }

    private static func kind(_ code: UInt16, _ parameters: Span<UInt8>) throws(DecodingError) -> Kind {
        var reader = ByteReader(parameters, packet: names[code] ?? "Management Event")
        let kind: Kind
        switch code {
        case Code.commandComplete:
            kind = .commandComplete(
                opcode: ManagementOpcode(rawValue: try reader.readUInt16("Command_Opcode")),
                status: ManagementStatus(rawValue: try reader.readUInt8("Status")),
                returnParameters: [UInt8](copying: reader.readRest())
            )
        case Code.commandStatus:
            kind = .commandStatus(
                opcode: ManagementOpcode(rawValue: try reader.readUInt16("Command_Opcode")),
                status: ManagementStatus(rawValue: try reader.readUInt8("Status"))
            )
        case Code.controllerError: kind = .controllerError(code: try reader.readUInt8("Error_Code"))
        case Code.indexAdded: kind = .indexAdded
        case Code.indexRemoved: kind = .indexRemoved
        case Code.newSettings:
            kind = .newSettings(ManagementSettings(rawValue: try reader.readUInt32("Current_Settings")))
        case Code.deviceConnected:
            let device = try ManagementAddress(from: &reader)
            let flags = try reader.readUInt32("Flags")
            let length = Int(try reader.readUInt16("EIR_Data_Length"))
            let data = try reader.readBytes(count: length, "EIR_Data")
            kind = .deviceConnected(device, flags: flags, advertisingData: data)
        case Code.deviceDisconnected:
            let device = try ManagementAddress(from: &reader)
            kind = .deviceDisconnected(device, reason: DisconnectReason(rawValue: try reader.readUInt8("Reason")))
        case Code.connectFailed:
            let device = try ManagementAddress(from: &reader)
            kind = .connectFailed(device, status: ManagementStatus(rawValue: try reader.readUInt8("Status")))
        case Code.discovering:
            let types = DiscoveryTypes(rawValue: try reader.readUInt8("Address_Type"))
            let value = try reader.readUInt8("Discovering")
            guard value <= 1 else { throw reader.error("Discovering", .invalidValue(UInt64(value))) }
            kind = .discovering(types: types, isOn: value == 1)
        case Code.newConnectionParameter:
            let device = try ManagementAddress(from: &reader)
            let isToBeKept = try reader.readUInt8("Store_Hint") != 0
            kind = .newConnectionParameters(device, try ConnectionParameters(from: &reader), isToBeKept: isToBeKept)
        case Code.controllerSuspend: kind = .controllerSuspended(state: try reader.readUInt8("Suspend_State"))
        case Code.controllerResume:
            let reason = try reader.readUInt8("Wake_Reason")
            kind = .controllerResumed(reason: reason, try ManagementAddress(from: &reader))
        default:
            kind =
                try pairingKind(code, &reader)
                ?? .other(code: code, parameters: [UInt8](copying: reader.readRest()))
        }
        try reader.expectEnd()
        return kind
    }

    enum Code {
        static let commandComplete: UInt16 = 0x0001
        static let commandStatus: UInt16 = 0x0002
        static let controllerError: UInt16 = 0x0003
        static let indexAdded: UInt16 = 0x0004
        static let indexRemoved: UInt16 = 0x0005
        static let newSettings: UInt16 = 0x0006
        static let newLongTermKey: UInt16 = 0x000A
        static let deviceConnected: UInt16 = 0x000B
        static let deviceDisconnected: UInt16 = 0x000C
        static let connectFailed: UInt16 = 0x000D
        static let userConfirmationRequest: UInt16 = 0x000F
        static let userPasskeyRequest: UInt16 = 0x0010
        static let authenticationFailed: UInt16 = 0x0011
        static let discovering: UInt16 = 0x0013
        static let deviceUnpaired: UInt16 = 0x0016
        static let passkeyNotify: UInt16 = 0x0017
        static let newIdentityResolvingKey: UInt16 = 0x0018
        static let newConnectionParameter: UInt16 = 0x001C
        static let controllerSuspend: UInt16 = 0x002D
        static let controllerResume: UInt16 = 0x002E
    }

    private static let names: [UInt16: String] = [
        Code.commandComplete: "Command Complete",
        Code.commandStatus: "Command Status",
        Code.controllerError: "Controller Error",
        Code.indexAdded: "Index Added",
        Code.indexRemoved: "Index Removed",
        Code.newSettings: "New Settings",
        Code.newLongTermKey: "New Long Term Key",
        Code.deviceConnected: "Device Connected",
        Code.deviceDisconnected: "Device Disconnected",
        Code.connectFailed: "Connect Failed",
        Code.userConfirmationRequest: "User Confirmation Request",
        Code.userPasskeyRequest: "User Passkey Request",
        Code.authenticationFailed: "Authentication Failed",
        Code.discovering: "Discovering",
        Code.deviceUnpaired: "Device Unpaired",
        Code.passkeyNotify: "Passkey Notify",
        Code.newIdentityResolvingKey: "New Identity Resolving Key",
        Code.newConnectionParameter: "New Connection Parameter",
        Code.controllerSuspend: "Controller Suspend",
        Code.controllerResume: "Controller Resume",
    ]

    /// Highest passkey or comparison number; both have six digits.
    public static let largestPasskey: UInt32 = 999_999

    /// Parses an event about pairing; returns nil for any other event.
    @_lifetime(reader: copy reader)
    static func pairingKind(_ code: UInt16, _ reader: inout ByteReader) throws(DecodingError) -> Kind? {
        switch code {
        case Code.newLongTermKey:
            let isToBeKept = try flag("Store_Hint", &reader)
            return .newLongTermKey(try ManagementLongTermKey(from: &reader), isToBeKept: isToBeKept)
        case Code.userConfirmationRequest:
            let device = try ManagementAddress(from: &reader)
            let isPlain = try flag("Confirm_Hint", &reader)
            return .userConfirmationRequest(device, isPlain: isPlain, number: try passkey("Value", &reader))
        case Code.userPasskeyRequest: return .userPasskeyRequest(try ManagementAddress(from: &reader))
        case Code.authenticationFailed:
            let device = try ManagementAddress(from: &reader)
            return .authenticationFailed(device, status: ManagementStatus(rawValue: try reader.readUInt8("Status")))
        case Code.deviceUnpaired: return .deviceUnpaired(try ManagementAddress(from: &reader))
        case Code.passkeyNotify:
            let device = try ManagementAddress(from: &reader)
            let number = try passkey("Passkey", &reader)
            return .passkeyNotify(device, passkey: number, entered: try reader.readUInt8("Entered"))
        case Code.newIdentityResolvingKey:
            let isToBeKept = try flag("Store_Hint", &reader)
            let resolved = try reader.readAddress("Random_Address")
            let key = try ManagementResolvingKey(from: &reader)
            return .newIdentityResolvingKey(key, resolved: resolved, isToBeKept: isToBeKept)
        default: return nil
        }
    }

    /// Reads a Boolean byte; throws an error for values other than 0 and 1.
    @_lifetime(reader: copy reader)
    static func flag(_ field: String, _ reader: inout ByteReader) throws(DecodingError) -> Bool {
        let value = try reader.readUInt8(field)
        guard value <= 1 else { throw reader.error(field, .invalidValue(UInt64(value))) }
        return value == 1
    }

    @_lifetime(reader: copy reader)
    private static func passkey(_ field: String, _ reader: inout ByteReader) throws(DecodingError) -> UInt32 {
        let value = try reader.readUInt32(field)
        guard value <= largestPasskey else { throw reader.error(field, .invalidValue(UInt64(value))) }
        return value
    }
}

/// Long term key in the format of New Long Term Key and Load Long Term Keys.
///
/// BlueZ, doc/mgmt-protocol.rst.
public struct ManagementLongTermKey: Hashable, Sendable {
    /// Kind of pairing that created a key.
    public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// LE legacy pairing with Just Works.
        case unauthenticated = 0
        /// LE legacy pairing with a passkey or out-of-band data.
        case authenticated = 1
        /// LE Secure Connections with Just Works.
        case unauthenticatedSecureConnections = 2
        /// LE Secure Connections with a passkey, numeric comparison or out-of-band data.
        case authenticatedSecureConnections = 3
        /// LE Secure Connections with the debug key, which is insecure because the specification publishes it.
        case debug = 4
    }

    /// Identity address of the peer.
    public var device: ManagementAddress
    /// Kind of pairing that created the key.
    public var kind: Kind
    /// True if the key is used when this host is the central; false for all keys from Secure Connections.
    public var isCentral: Bool
    /// Size of the key, 7 to 16 bytes.
    public var size: UInt8
    /// EDIV; 0 for a key from Secure Connections.
    public var encryptedDiversifier: UInt16
    /// Rand; 0 for a key from Secure Connections.
    public var random: UInt64
    /// The key's 16 bytes, least significant byte first.
    public var value: [UInt8]

    public init(
        device: ManagementAddress,
        kind: Kind,
        isCentral: Bool,
        size: UInt8,
        encryptedDiversifier: UInt16,
        random: UInt64,
        value: [UInt8]
    ) {
        self.device = device
        self.kind = kind
        self.isCentral = isCentral
        self.size = size
        self.encryptedDiversifier = encryptedDiversifier
        self.random = random
        self.value = value
    }

    @_lifetime(reader: copy reader)
    init(from reader: inout ByteReader) throws(DecodingError) {
        device = try ManagementAddress(from: &reader)
        let number = try reader.readUInt8("Key_Type")
        guard let kind = Kind(rawValue: number) else { throw reader.error("Key_Type", .invalidValue(UInt64(number))) }
        self.kind = kind
        isCentral = try ManagementEvent.flag("Central", &reader)
        size = try reader.readUInt8("Encryption_Size")
        guard (7...16).contains(size) else { throw reader.error("Encryption_Size", .invalidValue(UInt64(size))) }
        encryptedDiversifier = try reader.readUInt16("Encryption_Diversifier")
        random = try reader.readUInt64("Random_Number")
        value = try reader.readBytes(count: 16, "Value")
    }

    func write(to writer: inout ByteWriter) {
        device.write(to: &writer)
        writer.write(kind.rawValue)
        writer.write(UInt8(isCentral ? 1 : 0))
        writer.write(size)
        writer.write(encryptedDiversifier)
        writer.write(random)
        writer.write(value)
    }
}

/// Identity resolving key in the format of New Identity Resolving Key and Load Identity Resolving Keys.
///
/// BlueZ, doc/mgmt-protocol.rst.
public struct ManagementResolvingKey: Hashable, Sendable {
    /// Identity address of the peer.
    public var device: ManagementAddress
    /// The key's 16 bytes, least significant byte first.
    public var value: [UInt8]

    /// Creates the identity resolving key of a device.
    public init(device: ManagementAddress, value: [UInt8]) {
        self.device = device
        self.value = value
    }

    @_lifetime(reader: copy reader)
    init(from reader: inout ByteReader) throws(DecodingError) {
        device = try ManagementAddress(from: &reader)
        value = try reader.readBytes(count: 16, "Value")
    }

    func write(to writer: inout ByteWriter) {
        device.write(to: &writer)
        writer.write(value)
    }
}
