// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Opcodes of the commands that a virtual controller executes (Core 6.0, Vol 4, Part E, 7.1 to 7.8).
enum ControllerCommand: UInt16, CaseIterable {
    // Link Control commands (7.1).
    case disconnect = 0x0406
    case readRemoteVersionInformation = 0x041D
    // Controller & Baseband commands (7.3).
    case setEventMask = 0x0C01
    case reset = 0x0C03
    // Informational Parameters (7.4).
    case readLocalVersionInformation = 0x1001
    case readLocalSupportedCommands = 0x1002
    case readLocalSupportedFeatures = 0x1003
    case readBufferSize = 0x1005
    case readAddress = 0x1009
    // Status Parameters (7.5).
    case readRSSI = 0x1405
    // LE Controller commands (7.8).
    case leSetEventMask = 0x2001
    case leReadBufferSize = 0x2002
    case leReadLocalSupportedFeatures = 0x2003
    case leSetRandomAddress = 0x2005
    case leSetAdvertisingParameters = 0x2006
    case leReadAdvertisingTxPower = 0x2007
    case leSetAdvertisingData = 0x2008
    case leSetScanResponseData = 0x2009
    case leSetAdvertisingEnable = 0x200A
    case leSetScanParameters = 0x200B
    case leSetScanEnable = 0x200C
    case leCreateConnection = 0x200D
    case leCreateConnectionCancel = 0x200E
    case leReadFilterAcceptListSize = 0x200F
    case leClearFilterAcceptList = 0x2010
    case leAddToFilterAcceptList = 0x2011
    case leRemoveFromFilterAcceptList = 0x2012
    case leConnectionUpdate = 0x2013
    case leReadChannelMap = 0x2015
    case leReadRemoteFeatures = 0x2016
    case leRand = 0x2018
    case leEnableEncryption = 0x2019
    case leLongTermKeyRequestReply = 0x201A
    case leLongTermKeyRequestNegativeReply = 0x201B
    case leReadSupportedStates = 0x201C
    case leRemoteConnectionParameterRequestReply = 0x2020
    case leRemoteConnectionParameterRequestNegativeReply = 0x2021
    case leSetAdvertisingSetRandomAddress = 0x2035
    case leSetExtendedAdvertisingParameters = 0x2036
    case leSetExtendedAdvertisingData = 0x2037
    case leSetExtendedScanResponseData = 0x2038
    case leSetExtendedAdvertisingEnable = 0x2039
    case leReadMaximumAdvertisingDataLength = 0x203A
    case leReadNumberOfSupportedAdvertisingSets = 0x203B
    case leRemoveAdvertisingSet = 0x203C
    case leClearAdvertisingSets = 0x203D
    case leSetExtendedScanParameters = 0x2041
    case leSetExtendedScanEnable = 0x2042
    case leExtendedCreateConnection = 0x2043

    /// Properties used to validate and answer a command.
    struct Shape {
        /// Bit that represents the command in the map of supported commands (6.27).
        let bit: SupportedCommands.Bit
        /// Permitted lengths of the parameters, in bytes.
        let parameters: ClosedRange<Int>
        /// Number of bytes that follow the status in Command Complete; nil if the command is answered with Command
        /// Status.
        let returned: Int?

        init(_ octet: UInt8, _ bit: UInt8, _ parameters: ClosedRange<Int>, _ returned: Int?) {
            self.bit = .init(octet: octet, bit: bit)
            self.parameters = parameters
            self.returned = returned
        }
    }

    /// True if the parameters start with a connection handle, which Command Complete repeats.
    var isAboutConnection: Bool {
        switch self {
        case .disconnect, .readRemoteVersionInformation, .readRSSI, .leReadRemoteFeatures, .leReadChannelMap,
            .leConnectionUpdate, .leRemoteConnectionParameterRequestReply,
            .leRemoteConnectionParameterRequestNegativeReply, .leEnableEncryption, .leLongTermKeyRequestReply,
            .leLongTermKeyRequestNegativeReply:
            true
        default: false
        }
    }

    /// Generation of an advertising, scanning or initiating command; nil for other commands.
    ///
    /// A host must not mix the generations (Core 6.0, Vol 4, Part E, 3.1.1).
    var generation: VirtualController.Generation? {
        switch rawValue {
        case Self.leSetAdvertisingParameters.rawValue...Self.leCreateConnection.rawValue: .legacy
        case Self.leSetAdvertisingSetRandomAddress.rawValue...Self.leExtendedCreateConnection.rawValue: .extended
        default: nil
        }
    }

    /// Properties of the command, from the table in 6.27 and the command's own section.
    var shape: Shape {
        switch self {
        case .disconnect: Shape(0, 5, 3...3, nil)
        case .readRemoteVersionInformation: Shape(2, 7, 2...2, nil)
        case .setEventMask: Shape(5, 6, 8...8, 0)
        case .reset: Shape(5, 7, 0...0, 0)
        case .readLocalVersionInformation: Shape(14, 3, 0...0, 8)
        case .readLocalSupportedCommands: Shape(14, 4, 0...0, 64)
        case .readLocalSupportedFeatures: Shape(14, 5, 0...0, 8)
        case .readBufferSize: Shape(14, 7, 0...0, 7)
        case .readAddress: Shape(15, 1, 0...0, 6)
        case .readRSSI: Shape(15, 5, 2...2, 3)
        case .leSetEventMask: Shape(25, 0, 8...8, 0)
        case .leReadBufferSize: Shape(25, 1, 0...0, 3)
        case .leReadLocalSupportedFeatures: Shape(25, 2, 0...0, 8)
        case .leSetRandomAddress: Shape(25, 4, 6...6, 0)
        case .leSetAdvertisingParameters: Shape(25, 5, 15...15, 0)
        case .leReadAdvertisingTxPower: Shape(25, 6, 0...0, 1)
        case .leSetAdvertisingData: Shape(25, 7, 32...32, 0)
        case .leSetScanResponseData: Shape(26, 0, 32...32, 0)
        case .leSetAdvertisingEnable: Shape(26, 1, 1...1, 0)
        case .leSetScanParameters: Shape(26, 2, 7...7, 0)
        case .leSetScanEnable: Shape(26, 3, 2...2, 0)
        case .leCreateConnection: Shape(26, 4, 25...25, nil)
        case .leCreateConnectionCancel: Shape(26, 5, 0...0, 0)
        case .leReadFilterAcceptListSize: Shape(26, 6, 0...0, 1)
        case .leClearFilterAcceptList: Shape(26, 7, 0...0, 0)
        case .leAddToFilterAcceptList: Shape(27, 0, 7...7, 0)
        case .leRemoveFromFilterAcceptList: Shape(27, 1, 7...7, 0)
        case .leConnectionUpdate: Shape(27, 2, 14...14, nil)
        case .leReadChannelMap: Shape(27, 4, 2...2, 7)
        case .leReadRemoteFeatures: Shape(27, 5, 2...2, nil)
        case .leRand: Shape(27, 7, 0...0, 8)
        case .leEnableEncryption: Shape(28, 0, 28...28, nil)
        case .leLongTermKeyRequestReply: Shape(28, 1, 18...18, 2)
        case .leLongTermKeyRequestNegativeReply: Shape(28, 2, 2...2, 2)
        case .leReadSupportedStates: Shape(28, 3, 0...0, 8)
        case .leRemoteConnectionParameterRequestReply: Shape(33, 4, 14...14, 2)
        case .leRemoteConnectionParameterRequestNegativeReply: Shape(33, 5, 3...3, 2)
        case .leSetAdvertisingSetRandomAddress: Shape(36, 1, 7...7, 0)
        case .leSetExtendedAdvertisingParameters: Shape(36, 2, 25...25, 1)
        case .leSetExtendedAdvertisingData: Shape(36, 3, 4...255, 0)
        case .leSetExtendedScanResponseData: Shape(36, 4, 4...255, 0)
        case .leSetExtendedAdvertisingEnable: Shape(36, 5, 2...254, 0)
        case .leReadMaximumAdvertisingDataLength: Shape(36, 6, 0...0, 2)
        case .leReadNumberOfSupportedAdvertisingSets: Shape(36, 7, 0...0, 1)
        case .leRemoveAdvertisingSet: Shape(37, 0, 1...1, 0)
        case .leClearAdvertisingSets: Shape(37, 1, 0...0, 0)
        case .leSetExtendedScanParameters: Shape(37, 5, 3...43, 0)
        case .leSetExtendedScanEnable: Shape(37, 6, 6...6, 0)
        case .leExtendedCreateConnection: Shape(37, 7, 10...138, nil)
        }
    }
}

struct Refusal: Error {
    var status: HCIStatus

    /// The command is not allowed in the controller's current state.
    static let disallowed = Refusal(status: .commandDisallowed)
    /// A parameter is outside its range.
    static let invalid = Refusal(status: .invalidHCICommandParameters)
    /// A parameter is within its range, but this controller does not support it.
    static let unsupported = Refusal(status: .unsupportedFeatureOrParameterValue)
    static let unknownConnection = Refusal(status: .unknownConnectionIdentifier)
    static let unknownAdvertisingSet = Refusal(status: .unknownAdvertisingIdentifier)
    static let memoryCapacityExceeded = Refusal(status: .memoryCapacityExceeded)
}

extension HCIStatus {
    /// The peer has no key for the link (0x06).
    static let keyMissing = HCIStatus(rawValue: 0x06)
    /// A list in the controller is full (0x07).
    static let memoryCapacityExceeded = HCIStatus(rawValue: 0x07)
    /// The peer's controller does not support the feature (0x1A).
    static let unsupportedRemoteFeature = HCIStatus(rawValue: 0x1A)
    /// The peer did not complete a link-layer procedure in time (0x22).
    static let linkLayerResponseTimeout = HCIStatus(rawValue: 0x22)
    /// Both sides started mutually exclusive link-layer procedures (0x23).
    static let linkLayerCollision = HCIStatus(rawValue: 0x23)
    /// Advertising ended without a connection (0x3C).
    static let advertisingTimeout = HCIStatus(rawValue: 0x3C)
    /// A packet's integrity check failed (0x3D).
    static let integrityFailure = HCIStatus(rawValue: 0x3D)
    /// The number of advertising events was reached (0x43).
    static let limitReached = HCIStatus(rawValue: 0x43)
}

/// Command being executed, with a cursor over its parameters.
///
/// An attempt to read past the end of the parameters refuses the command.
struct CommandReader {
    let code: ControllerCommand
    /// Connections of the controller, through which its radio can also be accessed.
    let links: ControllerLinks
    private let bytes: [UInt8]
    private let randomAddress: BluetoothAddress?
    private var offset = 0

    init(_ code: ControllerCommand, _ bytes: [UInt8], _ links: ControllerLinks, randomAddress: BluetoothAddress?) {
        self.code = code
        self.bytes = bytes
        self.links = links
        self.randomAddress = randomAddress
    }

    var now: Duration { links.radio.now }
    var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    /// Returns the controller's address of the given type; throws an error if the random address is requested but not
    /// set.
    ///
    /// The random address is that of `set` if a set is given.
    func ownAddress(_ type: AddressType, of set: AdvertisingSet? = nil) throws(Refusal) -> DeviceAddress {
        guard type == .random else { return DeviceAddress(links.configuration.address, .public) }
        guard let random = set.map(\.randomAddress) ?? randomAddress else { throw .invalid }
        return DeviceAddress(random, .random)
    }

    mutating func readUInt8() throws(Refusal) -> UInt8 {
        guard let next else { throw .invalid }
        offset += 1
        return next
    }

    mutating func readUInt8(in range: ClosedRange<UInt8>) throws(Refusal) -> UInt8 {
        let value = try readUInt8()
        guard range.contains(value) else { throw .invalid }
        return value
    }

    /// Reads `count` bytes as a little-endian number.
    private mutating func readNumber(_ count: UInt64) throws(Refusal) -> UInt64 {
        var value: UInt64 = 0
        for place in 0..<count { value |= UInt64(try readUInt8()) &<< (8 &* place) }
        return value
    }

    mutating func readUInt16() throws(Refusal) -> UInt16 { UInt16(try readNumber(2)) }
    mutating func readUInt24() throws(Refusal) -> UInt32 { UInt32(try readNumber(3)) }
    mutating func readUInt64() throws(Refusal) -> UInt64 { try readNumber(8) }
    mutating func readAddress() throws(Refusal) -> BluetoothAddress { BluetoothAddress(rawValue: try readNumber(6)) }

    mutating func readUInt16(in range: ClosedRange<UInt16>) throws(Refusal) -> UInt16 {
        let value = try readUInt16()
        guard range.contains(value) else { throw .invalid }
        return value
    }

    mutating func readUInt128() throws(Refusal) -> UInt128 {
        let low = try readUInt64()
        return UInt128(try readUInt64()) &<< 64 | UInt128(low)
    }

    /// Reads an address type: 0 or 1 only, because this controller does not resolve private addresses.
    mutating func readAddressType() throws(Refusal) -> AddressType {
        guard let type = AddressType(rawValue: try readUInt8()) else { throw .invalid }
        return type
    }

    mutating func readDevice() throws(Refusal) -> DeviceAddress {
        let type = try readAddressType()
        return DeviceAddress(try readAddress(), type)
    }

    /// Reads a device's address type and address; if `isIgnored` is true, skips them and returns nil.
    mutating func readDevice(isIgnored: Bool) throws(Refusal) -> DeviceAddress? {
        guard isIgnored else { return try readDevice() }
        _ = try readBytes(7)
        return nil
    }

    mutating func readBytes(_ count: Int) throws(Refusal) -> [UInt8] {
        guard count >= 0, count <= bytes.count - offset else { throw .invalid }
        defer { offset += count }
        return [UInt8](bytes[offset..<(offset + count)])
    }

    /// Refuses the command if it has excess parameters.
    func expectEnd() throws(Refusal) {
        guard offset == bytes.count else { throw .invalid }
    }
}
