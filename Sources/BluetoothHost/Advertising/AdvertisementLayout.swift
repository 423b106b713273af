// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Distributes a peripheral's data between an advertisement and a scan response, each with at most 31 bytes.
///
/// The flags and the services come first in the advertisement, because centrals look for them without a scan request;
/// the name follows if it fits. An item that does not fit is moved to the scan response as a whole; a list of services
/// may be split. An item that fits in neither packet is rejected; nothing is shortened. Core 6.0, Vol 3, Part C, 11;
/// Core Specification Supplement, Part A, 1.
public struct AdvertisementLayout: Hashable, Sendable {
    /// Data to advertise.
    public struct Content: Hashable, Sendable {
        /// Complete local name; nil to advertise no name.
        public var localName: String?
        /// UUIDs of the services to advertise.
        public var services: [BluetoothUUID]
        /// Transmission power in dBm; nil to omit it.
        public var txPower: Int8?
        /// Appearance (Assigned Numbers, 2.6); nil to omit it.
        public var appearance: UInt16?
        /// Manufacturer data.
        public var manufacturerData: [AdvertisementData.ManufacturerData]
        /// Service data.
        public var serviceData: [AdvertisementData.ServiceData]

        /// Creates the content of an advertisement.
        public init(
            localName: String? = nil,
            services: [BluetoothUUID] = [],
            txPower: Int8? = nil,
            appearance: UInt16? = nil,
            manufacturerData: [AdvertisementData.ManufacturerData] = [],
            serviceData: [AdvertisementData.ServiceData] = []
        ) {
            self.localName = localName
            self.services = services
            self.txPower = txPower
            self.appearance = appearance
            self.manufacturerData = manufacturerData
            self.serviceData = serviceData
        }
    }

    /// Error for a part of the content that does not fit.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// Name of the part that does not fit.
        public var what: String
        /// Number of bytes that the part needs, including its length and type bytes.
        public var needed: Int
        /// Number of free bytes in the advertisement.
        public var leftInData: Int
        /// Number of free bytes in the scan response.
        public var leftInScanResponse: Int

        /// Human-readable description in one line.
        public var description: String {
            "\(what) needs \(needed) bytes; the advertisement has \(leftInData) left, "
                + "the scan response \(leftInScanResponse), of \(HCICommand.maximumAdvertisingDataLength) each"
        }
    }

    /// Bytes of the advertisement.
    public private(set) var data: [UInt8] = []
    /// Bytes of the scan response.
    public private(set) var scanResponse: [UInt8] = []

    /// Flags byte: LE General Discoverable Mode, BR/EDR not supported (Supplement, Part A, 1.3).
    private static let generallyDiscoverable: UInt8 = 0x06
    /// Flags byte: not discoverable, BR/EDR not supported.
    private static let notDiscoverable: UInt8 = 0x04

    /// Lays out the content.
    ///
    /// If `canBeAsked` is false, centrals cannot send scan requests, so the scan response stays empty.
    public init(_ content: Content, isDiscoverable: Bool = true, canBeAsked: Bool = true) throws(Failure) {
        let room = canBeAsked ? HCICommand.maximumAdvertisingDataLength : 0
        let flags = isDiscoverable ? Self.generallyDiscoverable : Self.notDiscoverable
        try place("the flags", ADType.flags, [flags], room)
        try placeServices(content.services, room)
        for data in content.serviceData {
            let (types, bytes) = Self.form(data.service)
            try place("the data of service \(data.service)", types.data, bytes + data.data, room)
        }
        for data in content.manufacturerData {
            let company = [UInt8(truncatingIfNeeded: data.company), UInt8(data.company &>> 8)]
            try place("the data of company \(data.company)", ADType.manufacturerData, company + data.data, room)
        }
        if let name = content.localName { try place("the name", ADType.completeName, Array(name.utf8), room) }
        if let power = content.txPower {
            try place("the power", ADType.txPower, [UInt8(bitPattern: power)], room)
        }
        if let appearance = content.appearance {
            let bytes = [UInt8(truncatingIfNeeded: appearance), UInt8(appearance &>> 8)]
            try place("the appearance", ADType.appearance, bytes, room)
        }
    }

    private static func left(_ bytes: [UInt8], _ room: Int) -> Int { max(0, room &- bytes.count) }

    private mutating func place(_ what: String, _ type: UInt8, _ value: [UInt8], _ room: Int) throws(Failure) {
        let needed = value.count &+ 2
        let most = HCICommand.maximumAdvertisingDataLength
        if needed <= Self.left(data, most) {
            data += [UInt8(truncatingIfNeeded: needed &- 1), type] + value
        } else if needed <= Self.left(scanResponse, room) {
            scanResponse += [UInt8(truncatingIfNeeded: needed &- 1), type] + value
        } else {
            throw refusal(what, needed, room)
        }
    }

    private func refusal(_ what: String, _ needed: Int, _ room: Int) -> Failure {
        Failure(
            what: what,
            needed: needed,
            leftInData: Self.left(data, HCICommand.maximumAdvertisingDataLength),
            leftInScanResponse: Self.left(scanResponse, room)
        )
    }

    /// Places as many services of each UUID width as fit in the advertisement, and the rest in the scan response.
    private mutating func placeServices(_ services: [BluetoothUUID], _ room: Int) throws(Failure) {
        for width in [2, 4, 16] {
            var rest: [[UInt8]] = []
            for service in services {
                let bytes = Self.form(service).bytes
                // Duplicate services are advertised only once.
                if bytes.count == width, !rest.contains(bytes) { rest.append(bytes) }
            }
            guard let first = rest.first else { continue }
            let types = Self.types(width)
            let fit = max(0, Self.left(data, HCICommand.maximumAdvertisingDataLength) &- 2) / width
            let isAll = fit >= rest.count
            let here = rest.prefix(fit)
            rest.removeFirst(here.count)
            if !here.isEmpty {
                data += [UInt8(truncatingIfNeeded: here.count &* width &+ 1), isAll ? types.all : types.some]
                data += here.joined()
            }
            guard !rest.isEmpty else { continue }
            let needed = rest.count &* first.count &+ 2
            guard needed <= Self.left(scanResponse, room) else {
                throw refusal("\(rest.count) of the services with UUIDs of \(width * 8) bits", needed, room)
            }
            // If the services of this width are split between both packets, both lists are marked as incomplete.
            scanResponse += [UInt8(truncatingIfNeeded: needed &- 1), here.isEmpty ? types.all : types.some]
            scanResponse += rest.joined()
        }
    }

    private static func types(_ width: Int) -> (some: UInt8, all: UInt8) {
        switch width {
        case 2: (ADType.someUUIDs16, ADType.allUUIDs16)
        case 4: (ADType.someUUIDs32, ADType.allUUIDs32)
        default: (ADType.someUUIDs128, ADType.allUUIDs128)
        }
    }

    /// Returns the shortest form of a UUID, the AD type of service data with that form, and its width in bytes.
    private static func form(_ uuid: BluetoothUUID) -> (types: (data: UInt8, width: Int), bytes: [UInt8]) {
        var writer = ByteWriter(reservingCapacity: 16)
        if let short = uuid.shortForm16 {
            writer.write(short)
            return ((ADType.serviceData16, 2), writer.bytes)
        }
        if let short = uuid.shortForm32 {
            writer.write(short)
            return ((ADType.serviceData32, 4), writer.bytes)
        }
        writer.write(uuid)
        return ((ADType.serviceData128, 16), writer.bytes)
    }
}
