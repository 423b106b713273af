// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets

/// A set of beacons that is watched as a unit (D-22).
///
/// It is specified by a UUID with or without numbers, or by an Eddystone namespace.
package struct BeaconRegion: Hashable, Sendable {
    /// The part of a beacon's identity that the region specifies.
    package enum Part: Hashable, Sendable {
        /// Only the UUID.
        case all
        /// The UUID and the major number.
        case major(UInt16)
        /// The whole identity of an iBeacon or AltBeacon.
        case majorMinor(UInt16, UInt16)
        /// Only the Eddystone namespace.
        case namespace
        /// The whole identity of an Eddystone-UID beacon.
        case instance(UInt64)
    }

    /// UUID that all beacons of the region share.
    ///
    /// For Eddystone, its low 80 bits are the ten bytes of the namespace.
    package let group: BluetoothUUID
    /// The part of the identity that the region specifies, including its UUID or namespace.
    package let part: Part

    package init(_ group: BluetoothUUID, _ part: Part = .all) {
        switch part {
        case .all, .major, .majorMinor: self.group = group
        case .namespace, .instance: self.group = BeaconIdentity.namespace(group)
        }
        if case .instance(let instance) = part {
            self.part = .instance(instance & 0xFFFF_FFFF_FFFF)
        } else {
            self.part = part
        }
    }

    package init(_ identity: BeaconIdentity) {
        group = identity.group
        switch identity.number {
        case .majorMinor(let major, let minor): part = .majorMinor(major, minor)
        case .instance(let instance): part = .instance(instance)
        }
    }

    package func contains(_ identity: BeaconIdentity) -> Bool { contains(BeaconRegion(identity)) }

    package func contains(_ other: BeaconRegion) -> Bool {
        guard group == other.group else { return false }
        switch (part, other.part) {
        case (.all, .all), (.all, .major), (.all, .majorMinor), (.namespace, .namespace), (.namespace, .instance):
            return true
        case (.major(let major), .major(let one)), (.major(let major), .majorMinor(let one, _)): return major == one
        default: return part == other.part
        }
    }

    /// The widest region that contains this one; it specifies only the UUID or namespace.
    package var whole: BeaconRegion {
        switch part {
        case .all, .major, .majorMinor: BeaconRegion(group, .all)
        case .namespace, .instance: BeaconRegion(group, .namespace)
        }
    }
}

extension BeaconRegion: CustomStringConvertible {
    private static let eddystone = "eddystone:"
    private static let namespaceDigits = 20
    private static let instanceDigits = 12

    /// Text form: `UUID[/MAJOR[/MINOR]]` with decimal numbers, or `eddystone:NAMESPACE[/INSTANCE]` in hexadecimal.
    package var description: String {
        switch part {
        case .all: return group.fullDescription
        case .major(let major): return "\(group.fullDescription)/\(major)"
        case .majorMinor(let major, let minor): return "\(group.fullDescription)/\(major)/\(minor)"
        case .namespace: return Self.eddystone + namespaceText
        case .instance(let instance):
            return Self.eddystone + namespaceText + "/" + Hexadecimal.text(instance, digits: Self.instanceDigits)
        }
    }

    private var namespaceText: String {
        Hexadecimal.text(group.high & 0xFFFF, digits: 4) + Hexadecimal.text(group.low, digits: 16)
    }

    /// Parses the format of `description`, ignoring case; fails for any other text.
    package init?(_ text: String) {
        let lowered = text.lowercased()
        let parts = (lowered.hasPrefix(Self.eddystone) ? lowered.dropFirst(Self.eddystone.count) : lowered[...])
            .split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard let first = parts.first else { return nil }
        if lowered.hasPrefix(Self.eddystone) {
            guard let namespace = Self.number(first, digits: Self.namespaceDigits), parts.count <= 2 else { return nil }
            guard parts.count == 2 else {
                self.init(namespace, .namespace)
                return
            }
            guard let instance = Self.number(parts[1], digits: Self.instanceDigits) else { return nil }
            self.init(namespace, .instance(instance.low))
            return
        }
        guard first.utf8.count == 36, let uuid = BluetoothUUID(first), parts.count <= 3 else { return nil }
        let numbers = parts.dropFirst().map(Self.decimal)
        switch (numbers.count, numbers.first ?? nil, numbers.last ?? nil) {
        case (0, _, _): self.init(uuid)
        case (1, let major?, _): self.init(uuid, .major(major))
        case (2, let major?, let minor?): self.init(uuid, .majorMinor(major, minor))
        default: return nil
        }
    }

    /// Parses a number that consists only of decimal digits; rejects `+1` and `0x1`.
    private static func decimal(_ text: Substring) -> UInt16? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? UInt16(text) : nil
    }

    /// Parses exactly `digits` hexadecimal digits into the low bits of a 128-bit value.
    private static func number(_ text: Substring, digits: Int) -> BluetoothUUID? {
        guard text.utf8.count == digits, let bytes = Hexadecimal.bytes(text) else { return nil }
        let value = bytes.reduce(UInt128.zero) { $0 &<< 8 | UInt128($1) }
        return BluetoothUUID(high: UInt64(truncatingIfNeeded: value &>> 64), low: UInt64(truncatingIfNeeded: value))
    }
}
