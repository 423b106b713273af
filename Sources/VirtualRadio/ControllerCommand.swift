// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The commands that a virtual controller carries out, by opcode (Core 6.0, Vol 4, Part E, 7.1 to 7.8).
enum ControllerCommand: UInt16, CaseIterable {
    // Link Control, 7.1
    case disconnect = 0x0406
    case readRemoteVersionInformation = 0x041D
    // Controller & Baseband, 7.3
    case setEventMask = 0x0C01
    case reset = 0x0C03
    // Informational Parameters, 7.4
    case readLocalVersionInformation = 0x1001
    case readLocalSupportedCommands = 0x1002
    case readLocalSupportedFeatures = 0x1003
    case readBufferSize = 0x1005
    case readAddress = 0x1009
    // Status Parameters, 7.5
    case readRSSI = 0x1405
    // LE Controller, 7.8
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

    /// The properties by which a command is checked and answered.
    struct Shape {
        /// Its place in the map of supported commands (6.27).
        var bit: SupportedCommands.Bit
        /// The lengths that its parameters may have, in bytes.
        var parameters: ClosedRange<Int>
        /// The number of bytes that its Command Complete carries after the status; nil where Command Status answers it.
        var returned: Int?
        /// True when the first two parameters are a handle that its Command Complete repeats.
        var repeatsHandle: Bool
    }

    /// The generation of an advertising, scanning or initiating command: a host uses those of one generation only (Core
    /// 6.0, Vol 4, Part E, 3.1.1).
    var generation: VirtualController.Generation? {
        switch self {
        case .leSetAdvertisingParameters, .leReadAdvertisingTxPower, .leSetAdvertisingData, .leSetScanResponseData,
            .leSetAdvertisingEnable, .leSetScanParameters, .leSetScanEnable, .leCreateConnection:
            .legacy
        case .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData,
            .leSetExtendedScanResponseData, .leSetExtendedAdvertisingEnable, .leReadMaximumAdvertisingDataLength,
            .leReadNumberOfSupportedAdvertisingSets, .leRemoveAdvertisingSet, .leClearAdvertisingSets,
            .leSetExtendedScanParameters, .leSetExtendedScanEnable, .leExtendedCreateConnection:
            .extended
        default: nil
        }
    }

    /// The table of 6.27 and the commands' own sections.
    var shape: Shape {
        switch self {
        case .disconnect: Self.status(0, 5, 3...3)
        case .readRemoteVersionInformation: Self.status(2, 7, 2...2)
        case .setEventMask: Self.complete(5, 6, 8...8, 0)
        case .reset: Self.complete(5, 7, 0...0, 0)
        case .readLocalVersionInformation: Self.complete(14, 3, 0...0, 8)
        case .readLocalSupportedCommands: Self.complete(14, 4, 0...0, 64)
        case .readLocalSupportedFeatures: Self.complete(14, 5, 0...0, 8)
        case .readBufferSize: Self.complete(14, 7, 0...0, 7)
        case .readAddress: Self.complete(15, 1, 0...0, 6)
        case .readRSSI: Self.complete(15, 5, 2...2, 3, repeatsHandle: true)
        case .leSetEventMask: Self.complete(25, 0, 8...8, 0)
        case .leReadBufferSize: Self.complete(25, 1, 0...0, 3)
        case .leReadLocalSupportedFeatures: Self.complete(25, 2, 0...0, 8)
        case .leSetRandomAddress: Self.complete(25, 4, 6...6, 0)
        case .leSetAdvertisingParameters: Self.complete(25, 5, 15...15, 0)
        case .leReadAdvertisingTxPower: Self.complete(25, 6, 0...0, 1)
        case .leSetAdvertisingData: Self.complete(25, 7, 32...32, 0)
        case .leSetScanResponseData: Self.complete(26, 0, 32...32, 0)
        case .leSetAdvertisingEnable: Self.complete(26, 1, 1...1, 0)
        case .leSetScanParameters: Self.complete(26, 2, 7...7, 0)
        case .leSetScanEnable: Self.complete(26, 3, 2...2, 0)
        case .leCreateConnection: Self.status(26, 4, 25...25)
        case .leCreateConnectionCancel: Self.complete(26, 5, 0...0, 0)
        case .leReadFilterAcceptListSize: Self.complete(26, 6, 0...0, 1)
        case .leClearFilterAcceptList: Self.complete(26, 7, 0...0, 0)
        case .leAddToFilterAcceptList: Self.complete(27, 0, 7...7, 0)
        case .leRemoveFromFilterAcceptList: Self.complete(27, 1, 7...7, 0)
        case .leConnectionUpdate: Self.status(27, 2, 14...14)
        case .leReadChannelMap: Self.complete(27, 4, 2...2, 7, repeatsHandle: true)
        case .leReadRemoteFeatures: Self.status(27, 5, 2...2)
        case .leRand: Self.complete(27, 7, 0...0, 8)
        case .leEnableEncryption: Self.status(28, 0, 28...28)
        case .leLongTermKeyRequestReply: Self.complete(28, 1, 18...18, 2, repeatsHandle: true)
        case .leLongTermKeyRequestNegativeReply: Self.complete(28, 2, 2...2, 2, repeatsHandle: true)
        case .leReadSupportedStates: Self.complete(28, 3, 0...0, 8)
        case .leRemoteConnectionParameterRequestReply: Self.complete(33, 4, 14...14, 2, repeatsHandle: true)
        case .leRemoteConnectionParameterRequestNegativeReply: Self.complete(33, 5, 3...3, 2, repeatsHandle: true)
        case .leSetAdvertisingSetRandomAddress: Self.complete(36, 1, 7...7, 0)
        case .leSetExtendedAdvertisingParameters: Self.complete(36, 2, 25...25, 1)
        case .leSetExtendedAdvertisingData: Self.complete(36, 3, 4...255, 0)
        case .leSetExtendedScanResponseData: Self.complete(36, 4, 4...255, 0)
        case .leSetExtendedAdvertisingEnable: Self.complete(36, 5, 2...254, 0)
        case .leReadMaximumAdvertisingDataLength: Self.complete(36, 6, 0...0, 2)
        case .leReadNumberOfSupportedAdvertisingSets: Self.complete(36, 7, 0...0, 1)
        case .leRemoveAdvertisingSet: Self.complete(37, 0, 1...1, 0)
        case .leClearAdvertisingSets: Self.complete(37, 1, 0...0, 0)
        case .leSetExtendedScanParameters: Self.complete(37, 5, 3...43, 0)
        case .leSetExtendedScanEnable: Self.complete(37, 6, 6...6, 0)
        case .leExtendedCreateConnection: Self.status(37, 7, 10...138)
        }
    }

    private static func status(_ octet: UInt8, _ bit: UInt8, _ parameters: ClosedRange<Int>) -> Shape {
        Shape(bit: .init(octet: octet, bit: bit), parameters: parameters, returned: nil, repeatsHandle: false)
    }

    private static func complete(
        _ octet: UInt8,
        _ bit: UInt8,
        _ parameters: ClosedRange<Int>,
        _ returned: Int,
        repeatsHandle: Bool = false
    ) -> Shape {
        Shape(
            bit: .init(octet: octet, bit: bit),
            parameters: parameters,
            returned: returned,
            repeatsHandle: repeatsHandle
        )
    }
}

struct Refusal: Error, Equatable {
    var status: HCIStatus

    /// The command does not fit the controller's present state.
    static let disallowed = Refusal(status: .commandDisallowed)
    /// A parameter is outside its range.
    static let invalid = Refusal(status: .invalidHCICommandParameters)
    /// A parameter is in its range and not supported here.
    static let unsupported = Refusal(status: .unsupportedFeatureOrParameterValue)
    static let unknownConnection = Refusal(status: .unknownConnectionIdentifier)
    static let unknownAdvertisingSet = Refusal(status: .unknownAdvertisingIdentifier)
    static let memoryCapacityExceeded = Refusal(status: .memoryCapacityExceeded)
}

extension HCIStatus {
    /// A list of the controller is full (0x07).
    static let memoryCapacityExceeded = HCIStatus(rawValue: 0x07)
    /// The other side's controller lacks the feature (0x1A).
    static let unsupportedRemoteFeature = HCIStatus(rawValue: 0x1A)
    /// The other side did not finish a procedure of the link layer in time (0x22).
    static let linkLayerResponseTimeout = HCIStatus(rawValue: 0x22)
    /// Advertising ended without a connection (0x3C).
    static let advertisingTimeout = HCIStatus(rawValue: 0x3C)
    /// No advertising set has the handle (0x42).
    static let unknownAdvertisingIdentifier = HCIStatus(rawValue: 0x42)
    /// The number of advertising events was reached (0x43).
    static let limitReached = HCIStatus(rawValue: 0x43)
}

/// A cursor over a command's parameters: a parameter that is not there refuses the command.
struct CommandParameters {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    var remaining: Int { bytes.count - offset }

    mutating func readUInt8() throws(Refusal) -> UInt8 {
        guard offset < bytes.count else { throw .invalid }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func readUInt8(in range: ClosedRange<UInt8>) throws(Refusal) -> UInt8 {
        let value = try readUInt8()
        guard range.contains(value) else { throw .invalid }
        return value
    }

    mutating func readUInt16() throws(Refusal) -> UInt16 {
        let low = try readUInt8()
        return UInt16(low) | UInt16(try readUInt8()) &<< 8
    }

    mutating func readUInt16(in range: ClosedRange<UInt16>) throws(Refusal) -> UInt16 {
        let value = try readUInt16()
        guard range.contains(value) else { throw .invalid }
        return value
    }

    mutating func readUInt24() throws(Refusal) -> UInt32 {
        let low = try readUInt16()
        return UInt32(low) | UInt32(try readUInt8()) &<< 16
    }

    mutating func readUInt64() throws(Refusal) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 8) { value |= UInt64(try readUInt8()) &<< shift }
        return value
    }

    mutating func readAddress() throws(Refusal) -> BluetoothAddress {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 48, by: 8) { value |= UInt64(try readUInt8()) &<< shift }
        return BluetoothAddress(rawValue: value)
    }

    /// The next byte as the type of an address, of which 0 and 1 exist where the controller resolves no addresses.
    mutating func readAddressType() throws(Refusal) -> AddressType {
        guard let type = AddressType(rawValue: try readUInt8()) else { throw .invalid }
        return type
    }

    mutating func readBytes(_ count: Int) throws(Refusal) -> [UInt8] {
        guard count >= 0, count <= remaining else { throw .invalid }
        defer { offset += count }
        return [UInt8](bytes[offset..<(offset + count)])
    }

    /// Refuses a command of which parameters are left over.
    func expectEnd() throws(Refusal) {
        guard remaining == 0 else { throw .invalid }
    }
}
