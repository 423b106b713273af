// SPDX-License-Identifier: GPL-2.0-or-later

import Printable

/// Parsed AD structures of an advertisement.
///
/// The size is bounded by that of the input: 1,650 bytes of data contain at most 824 UUIDs. Core 6.0, Vol 3, Part C,
/// 11; Core Specification Supplement, Part A, 1; Assigned Numbers, 2.3.
public struct AdvertisementData: Hashable, Sendable {
    public struct ManufacturerData: Hashable, Sendable {
        /// Company identifier (Assigned Numbers, 7).
        public var company: UInt16
        /// Data that follows the company identifier.
        public var data: [UInt8]

        /// Creates manufacturer-specific data.
        public init(company: UInt16, data: [UInt8]) {
            self.company = company
            self.data = data
        }
    }

    public struct ServiceData: Hashable, Sendable {
        /// UUID of the service.
        public var service: BluetoothUUID
        /// Data that follows the UUID.
        public var data: [UInt8]

        /// Creates service data.
        public init(service: BluetoothUUID, data: [UInt8]) {
            self.service = service
            self.data = data
        }
    }

    /// AD structure of a type that this parser does not interpret.
    public struct Structure: Hashable, Sendable {
        /// AD type of the structure (Assigned Numbers, 2.3).
        public var type: UInt8
        /// Data that follows the type.
        public var data: [UInt8]

        /// Creates a structure from a type and data.
        public init(type: UInt8, data: [UInt8]) {
            self.type = type
            self.data = data
        }
    }

    /// Name of the device; nil if there is none.
    ///
    /// A complete name is preferred to a shortened one, and an earlier name to a later one. Empty names are ignored.
    public var localName: LocalName?
    /// First byte of the flags, with the bits for discoverability and BR/EDR (Supplement, Part A, 1.3).
    public var flags: UInt8?
    /// Transmission power in dBm.
    public var txPower: Int8?
    /// Appearance of the device (Assigned Numbers, 2.6).
    public var appearance: UInt16?
    /// Services that the device advertises.
    public var serviceUUIDs: [BluetoothUUID] = []
    /// True if a list of services is marked as incomplete, so that the device has more services.
    public var hasMoreServices = false
    /// Services that the device solicits, that is, looks for on other devices.
    public var solicitedServiceUUIDs: [BluetoothUUID] = []
    /// Manufacturer-specific data, in the order of reception.
    public var manufacturerData: [ManufacturerData] = []
    /// Service data, in the order of reception.
    public var serviceData: [ServiceData] = []
    /// Structures of other types, in the order of reception.
    public var other: [Structure] = []

    /// Creates an advertisement without data.
    public init() {}

    /// Result of parsing an advertisement, with the first error if there was one.
    public struct Parsed: Equatable, Sendable {
        /// All data that could be parsed, including the structures before an error.
        public var value: AdvertisementData
        /// First error; nil if there was none.
        public var fault: DecodingError?

        /// Creates a result with the parsed data and an error.
        public init(value: AdvertisementData, fault: DecodingError? = nil) {
            self.value = value
            self.fault = fault
        }
    }

    /// Parses AD structures, each of which consists of a length byte, a type and length - 1 bytes of data.
    ///
    /// A length of 0 ends the structures. A length that extends past the end of the data is an error, and parsing
    /// stops. If a structure is malformed, the whole structure or the rest of it is skipped, and parsing continues with
    /// the next one.
    public static func parse(_ data: Span<UInt8>) -> Parsed {
        var reader = ByteReader(data, packet: "AD structures")
        var value = AdvertisementData()
        var fault: DecodingError?
        while !reader.isAtEnd {
            do throws(DecodingError) {
                let length = Int(try reader.readUInt8("Length"))
                guard length > 0 else { break }
                let start = reader.offset
                let content = try reader.readSpan(count: length, "AD structure")
                do throws(DecodingError) {
                    try value.read(content)
                } catch {
                    var error = error
                    error.offset &+= start
                    if fault == nil { fault = error }
                }
            } catch {
                if fault == nil { fault = error }
                break
            }
        }
        return Parsed(value: value, fault: fault)
    }

    /// Returns the combined data of this advertisement and of `response`, the same device's scan response.
    public func merged(with response: AdvertisementData) -> AdvertisementData {
        var result = self
        if let name = response.localName { result.take(name) }
        result.flags = flags ?? response.flags
        result.txPower = txPower ?? response.txPower
        result.appearance = appearance ?? response.appearance
        result.serviceUUIDs += response.serviceUUIDs.filter { !serviceUUIDs.contains($0) }
        result.hasMoreServices = hasMoreServices || response.hasMoreServices
        result.solicitedServiceUUIDs += response.solicitedServiceUUIDs.filter { !solicitedServiceUUIDs.contains($0) }
        result.manufacturerData += response.manufacturerData.filter { !manufacturerData.contains($0) }
        result.serviceData += response.serviceData.filter { !serviceData.contains($0) }
        result.other += response.other.filter { !other.contains($0) }
        return result
    }

    private mutating func take(_ name: LocalName) {
        // A name that consists only of blanks or zeros must not be preferred to a later name.
        guard !name.text.isEmpty else { return }
        guard let known = localName else {
            localName = name
            return
        }
        if name.isComplete, !known.isComplete { localName = name }
    }

    private mutating func read(_ structure: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(structure, packet: "AD structures")
        let type = try reader.readUInt8("AD type")
        switch type {
        case ADType.flags:
            let bits: UInt8 = reader.isAtEnd ? 0 : try reader.readUInt8("Flags")
            flags = flags ?? bits
        case ADType.txPower:
            let power = try reader.readInt8("TX Power Level")
            try reader.expectEnd()
            txPower = txPower ?? power
        case ADType.appearance:
            let number = try reader.readUInt16("Appearance")
            try reader.expectEnd()
            appearance = appearance ?? number
        case ADType.shortenedName, ADType.completeName:
            take(LocalName(reader.readRest(), isComplete: type == ADType.completeName))
        case ADType.manufacturerData:
            let company = try reader.readUInt16("Company Identifier")
            manufacturerData.append(ManufacturerData(company: company, data: [UInt8](copying: reader.readRest())))
        case ADType.serviceData16, ADType.serviceData32, ADType.serviceData128:
            let width = type == ADType.serviceData16 ? 2 : type == ADType.serviceData32 ? 4 : 16
            let service = try reader.readUUID(byteCount: width, "Service UUID")
            serviceData.append(ServiceData(service: service, data: [UInt8](copying: reader.readRest())))
        default:
            guard let list = ADType.uuidLists[type] else {
                other.append(Structure(type: type, data: [UInt8](copying: reader.readRest())))
                return
            }
            if list.isIncomplete { hasMoreServices = true }
            while !reader.isAtEnd {
                let uuid = try reader.readUUID(byteCount: list.width, "Service UUID")
                if list.isSolicitation {
                    solicitedServiceUUIDs.append(uuid)
                } else {
                    serviceUUIDs.append(uuid)
                }
            }
        }
    }
}

/// AD types (Assigned Numbers, 2.3).
package enum ADType {
    package static let flags: UInt8 = 0x01
    package static let someUUIDs16: UInt8 = 0x02
    package static let allUUIDs16: UInt8 = 0x03
    package static let someUUIDs32: UInt8 = 0x04
    package static let allUUIDs32: UInt8 = 0x05
    package static let someUUIDs128: UInt8 = 0x06
    package static let allUUIDs128: UInt8 = 0x07
    package static let shortenedName: UInt8 = 0x08
    package static let completeName: UInt8 = 0x09
    package static let txPower: UInt8 = 0x0A
    package static let serviceData16: UInt8 = 0x16
    package static let appearance: UInt8 = 0x19
    package static let serviceData32: UInt8 = 0x20
    package static let serviceData128: UInt8 = 0x21
    package static let manufacturerData: UInt8 = 0xFF

    struct UUIDList {
        var width: Int
        var isIncomplete = false
        var isSolicitation = false
    }

    static let uuidLists: [UInt8: UUIDList] = [
        someUUIDs16: UUIDList(width: 2, isIncomplete: true),
        allUUIDs16: UUIDList(width: 2),
        someUUIDs32: UUIDList(width: 4, isIncomplete: true),
        allUUIDs32: UUIDList(width: 4),
        someUUIDs128: UUIDList(width: 16, isIncomplete: true),
        allUUIDs128: UUIDList(width: 16),
        0x14: UUIDList(width: 2, isSolicitation: true),
        0x15: UUIDList(width: 16, isSolicitation: true),
        0x1F: UUIDList(width: 4, isSolicitation: true),
    ]
}

/// Name advertised by a device (Core Specification Supplement, Part A, 1.2).
public struct LocalName: Hashable, Sendable {
    /// Name up to the first NUL or invalid UTF-8, without leading and trailing blanks and control characters.
    ///
    /// Devices pad names with blanks or NULs, or append leftover buffer contents. If the name starts with invalid
    /// UTF-8, the invalid bytes are replaced with U+FFFD.
    ///
    /// The text may contain control characters; use `printable` for display.
    public let text: String
    /// False if the device has shortened the name.
    public let isComplete: Bool

    /// Maximum length of a name, in bytes; further bytes are ignored (Core 6.0, Vol 4, Part E, 6.23).
    public static let maximumLength = 248

    /// Creates a name from received bytes.
    public init(_ bytes: Span<UInt8>, isComplete: Bool) {
        var end = 0
        while end < min(bytes.count, Self.maximumLength), bytes[end] != 0 { end &+= 1 }
        let before = [UInt8](copying: bytes.extracting(first: end))
        let valid = Self.validPrefix(before)
        text = Self.trimmed(valid.isEmpty ? String(decoding: before, as: UTF8.self) : valid)
        self.isComplete = isComplete
    }

    /// Returns the text before the first invalid UTF-8.
    private static func validPrefix(_ bytes: [UInt8]) -> String {
        var (decoder, rest) = (UTF8(), bytes.makeIterator())
        var prefix = String.UnicodeScalarView()
        while case .scalarValue(let scalar) = decoder.decode(&rest) { prefix.append(scalar) }
        return String(prefix)
    }

    /// Returns `text` without leading and trailing blanks and control characters.
    public static func trimmed(_ text: String) -> String {
        let isBlank: (Unicode.Scalar) -> Bool = {
            $0.properties.isWhitespace || $0.properties.generalCategory == .control
        }
        var scalars = text.unicodeScalars.drop(while: isBlank)
        while let last = scalars.last, isBlank(last) { scalars.removeLast() }
        return String(scalars)
    }

    /// Returns true if two names are equal, ignoring case and leading and trailing blanks.
    public static func isSame(_ text: String, _ other: String) -> Bool {
        trimmed(text).lowercased() == trimmed(other).lowercased()
    }

    /// Name in which U+FFFD replaces characters that could move the cursor, change the text direction, or be invisible.
    public var printable: String { Self.printable(text) }

    /// Returns `text` with U+FFFD in place of every scalar that is unsafe to display.
    ///
    /// Unsafe scalars are control, format, private-use, unassigned and invisible characters, line separators, combining
    /// marks without a base character, and the fifth and later combining marks on a base character. Spaces are kept.
    public static func printable(_ text: String) -> String {
        var scalars = PrintableScalars()
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(scalars.shows(scalar) ? scalar : "\u{FFFD}") }
        return String(result)
    }
}
