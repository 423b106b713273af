// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The refusal of a command.
struct Refusal: Error, Equatable {
    /// The status that the host is given.
    var status: HCIStatus

    /// The command does not fit the controller's present state.
    static let disallowed = Refusal(status: .commandDisallowed)
    /// A parameter is outside its range.
    static let invalid = Refusal(status: .invalidHCICommandParameters)
    /// A parameter is in its range and not supported here.
    static let unsupported = Refusal(status: .unsupportedFeatureOrParameterValue)
    /// No connection has the handle.
    static let unknownConnection = Refusal(status: .unknownConnectionIdentifier)
    /// No advertising set has the handle.
    static let unknownAdvertisingSet = Refusal(status: .unknownAdvertisingIdentifier)
    /// A list is full.
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

    /// Begins at the first of `bytes`.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The number of bytes not read yet.
    var remaining: Int { bytes.count - offset }

    /// The next byte.
    mutating func readUInt8() throws(Refusal) -> UInt8 {
        guard offset < bytes.count else { throw .invalid }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// The next byte, which must be in `range`.
    mutating func readUInt8(in range: ClosedRange<UInt8>) throws(Refusal) -> UInt8 {
        let value = try readUInt8()
        guard range.contains(value) else { throw .invalid }
        return value
    }

    /// The next two bytes, the least significant first.
    mutating func readUInt16() throws(Refusal) -> UInt16 {
        let low = try readUInt8()
        return UInt16(low) | UInt16(try readUInt8()) &<< 8
    }

    /// The next two bytes, which must be in `range`.
    mutating func readUInt16(in range: ClosedRange<UInt16>) throws(Refusal) -> UInt16 {
        let value = try readUInt16()
        guard range.contains(value) else { throw .invalid }
        return value
    }

    /// The next three bytes, the least significant first.
    mutating func readUInt24() throws(Refusal) -> UInt32 {
        let low = try readUInt16()
        return UInt32(low) | UInt32(try readUInt8()) &<< 16
    }

    /// The next eight bytes, the least significant first.
    mutating func readUInt64() throws(Refusal) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 8) { value |= UInt64(try readUInt8()) &<< shift }
        return value
    }

    /// The next six bytes, as an address.
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

    /// The next bytes: `count` of them.
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
