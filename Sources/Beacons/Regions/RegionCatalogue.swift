// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The regions known from the file and from the server, whether they are watched or not.
package struct RegionCatalogue: Sendable {
    package let file: RegionFile
    package var managed = ManagedRegions()

    private let staticByGroup: [BluetoothUUID: [BeaconRegion]]
    private let dynamicByGroup: [BluetoothUUID: [BeaconRegion]]
    private let identities: [String: BeaconIdentity]
    private let names: [BeaconRegion: String]

    package init(_ file: RegionFile) {
        self.file = file
        staticByGroup = Self.grouped(file.staticRegions)
        dynamicByGroup = Self.grouped(file.dynamicRegions)
        identities = Dictionary(file.keyCodes.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        names = Dictionary(
            (file.staticRegions + file.dynamicRegions).map { ($0.region, $0.name) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    private static func grouped(_ entries: [RegionFile.Entry]) -> [BluetoothUUID: [BeaconRegion]] {
        Dictionary(grouping: entries.map(\.region), by: \.group)
    }

    /// Returns the kinds of a region, which also depend on the designated beacons.
    package func kinds(of region: BeaconRegion, designated: DesignatedBeacons) -> RegionKinds {
        var kinds: RegionKinds = []
        if let statics = staticByGroup[region.group] {
            if statics.contains(where: { $0.contains(region) }) { kinds.insert(.reserved) }
            if statics.contains(region) { kinds.insert(.initial) }
        }
        if dynamicByGroup[region.group]?.contains(where: { $0.contains(region) }) == true { kinds.insert(.dynamic) }
        if managed[region] != nil { kinds.insert(.managed) }
        if designated.contains(region) {
            kinds.formUnion([.designated, .reserved])
            kinds.remove(.initial)
        }
        return kinds
    }

    /// Returns true if the region's beacons have fixed identities (SW-6).
    package func isStatic(_ region: BeaconRegion) -> Bool {
        staticByGroup[region.group]?.contains { $0.contains(region) } == true && !isDynamic(region)
    }

    private func isDynamic(_ region: BeaconRegion) -> Bool {
        dynamicByGroup[region.group]?.contains { $0.contains(region) } == true
    }

    /// Returns the name of a region or, if it has none, the name of a wider region that contains it.
    package func name(of region: BeaconRegion) -> String? {
        for case let name? in [names[region], managed[region]?.entry.name] where !name.isEmpty { return name }
        let wider = (staticByGroup[region.group] ?? []) + (dynamicByGroup[region.group] ?? [])
        return wider.first { $0.contains(region) }.flatMap { names[$0] }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the key code of a static beacon (D-25).
    ///
    /// It is the code in the file or, if there is none, the major and minor numbers as eight hexadecimal digits. The
    /// result is nil for beacons that are not static, and for Eddystone beacons without a key code in the file.
    package func keyCode(of identity: BeaconIdentity) -> String? {
        guard isStatic(BeaconRegion(identity)) else { return nil }
        if let code = file.keyCodes[identity] { return code }
        guard case .majorMinor(let major, let minor) = identity.number else { return nil }
        return Hexadecimal.text(UInt64(major), digits: 4) + Hexadecimal.text(UInt64(minor), digits: 4)
    }

    /// Returns the beacon in a region that has this key code; nil if there is none.
    package func identity(ofCode code: String, in region: BeaconRegion) -> BeaconIdentity? {
        if let identity = identities[code] { return region.contains(identity) && isStatic(region) ? identity : nil }
        guard isStatic(region), code.utf8.count == 8, let bytes = Hexadecimal.bytes(code) else { return nil }
        let numbers = bytes.reduce(UInt32(0)) { $0 &<< 8 | UInt32($1) }
        let identity = BeaconIdentity(
            region.group,
            major: UInt16(truncatingIfNeeded: numbers &>> 16),
            minor: UInt16(truncatingIfNeeded: numbers)
        )
        // Ignore a beacon that has a different code in the file, or that is outside the region.
        guard region.contains(identity), file.keyCodes[identity] == nil else { return nil }
        return identity
    }
}

/// The kinds of a region; most regions are of several kinds (SW-3).
package struct RegionKinds: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The region is part of a static region from the file, or it is the region of a designated beacon.
    package static let reserved = RegionKinds(rawValue: 1)
    /// The region is exactly one of the static regions from the file.
    package static let initial = RegionKinds(rawValue: 2)
    package static let dynamic = RegionKinds(rawValue: 4)
    package static let managed = RegionKinds(rawValue: 8)
    /// The region is that of a designated beacon.
    package static let designated = RegionKinds(rawValue: 16)

    /// Words for the kinds, as used by clients and in configuration files.
    package static let words: [(word: String, kind: RegionKinds)] = [
        ("reserved", .reserved), ("initial", .initial), ("dynamic", .dynamic), ("managed", .managed),
        ("designated", .designated),
    ]

    package var words: [String] { Self.words.filter { contains($0.kind) }.map(\.word) }
}
