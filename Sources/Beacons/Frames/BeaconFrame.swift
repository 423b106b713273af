// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets

/// The content of a beacon's advertisement: its identity, and its signal strength at one metre.
///
/// iBeacon: manufacturer data of company 0x004C, type 0x02, length 0x15. AltBeacon 1.0: manufacturer data of any
/// company that begins with 0xBEAC. Eddystone-UID: service data of 0xFEAA, frame type 0x00. Any other data is not a
/// beacon, and neither is a frame that is too short to contain its identity and power. The bytes after them are
/// ignored: some devices append a battery level, and others omit AltBeacon's manufacturer byte or Eddystone's two
/// reserved bytes, which the first version of Eddystone did not have.
package struct BeaconFrame: Hashable, Sendable {
    package enum Format: String, Hashable, Sendable, CaseIterable {
        case iBeacon = "ibeacon"
        /// AltBeacon; its 20-byte identity is parsed like that of iBeacon.
        case altBeacon = "altbeacon"
        case eddystone = "eddystone"
    }

    package let format: Format
    package let identity: BeaconIdentity
    /// Signal strength at one metre, in dBm; nil if the frame does not contain a plausible value.
    package let measuredPower: Int8?

    /// Range of plausible signal strengths at one metre, in dBm; values outside it cannot have been measured.
    package static let measuredPowers: ClosedRange<Int8> = -100 ... -10
    /// Path loss over the first metre, in dB.
    ///
    /// It is needed because Eddystone specifies the signal strength at 0 m instead of 1 m.
    static let firstMetre: Int8 = 41
    /// Company identifier of iBeacon (Assigned Numbers, 7).
    static let apple: UInt16 = 0x004C
    /// Service UUID of Eddystone (Assigned Numbers, 3.5.2).
    static let eddystoneService: UInt16 = 0xFEAA
    /// Value of the power field that means that the power is not specified.
    private static let unknownPower: Int8 = 127

    /// Length of an iBeacon or AltBeacon structure in bytes, from its beginning to the power.
    private static let numberedLength = 26
    /// Length of an Eddystone-UID structure in bytes, from its beginning to the instance.
    private static let instanceLength = 21

    /// Creates a frame to be sent; fails if the identity does not fit the format.
    package init?(_ format: Format, _ identity: BeaconIdentity, measuredPower: Int8?) {
        switch (format, identity.number) {
        case (.iBeacon, .majorMinor), (.altBeacon, .majorMinor), (.eddystone, .instance): break
        default: return nil
        }
        self.format = format
        self.identity = identity
        self.measuredPower = measuredPower.flatMap { Self.measuredPowers.contains($0) ? $0 : nil }
    }

    /// Finds the first beacon in the AD structures of an advertisement; fails if there is none.
    ///
    /// The search stops at a structure whose length is zero or exceeds the remaining bytes.
    package init?(advertisement data: Span<UInt8>) {
        var offset = 0
        while offset < data.count {
            let length = Int(data[offset])
            guard length > 0, length <= data.count &- offset &- 1 else { return nil }
            let structure = data.extracting((offset &+ 1)..<(offset &+ 1 &+ length))
            if let frame = BeaconFrame(structure: structure) {
                self = frame
                return
            }
            offset &+= length &+ 1
        }
        return nil
    }

    /// Parses a beacon from one AD structure, whose first byte is its type.
    private init?(structure: Span<UInt8>) {
        switch (structure.count, structure[0]) {
        case (Self.numberedLength..., 0xFF):
            if structure[1] == 0x4C, structure[2] == 0x00, structure[3] == 0x02, structure[4] == 0x15 {
                self.init(.iBeacon, Self.identity(structure, from: 5), power: structure[25])
            } else if structure[3] == 0xBE, structure[4] == 0xAC {
                self.init(.altBeacon, Self.identity(structure, from: 5), power: structure[25])
            } else {
                return nil
            }
        case (Self.instanceLength..., 0x16):
            guard structure[1] == 0xAA, structure[2] == 0xFE, structure[3] == 0x00 else { return nil }
            let namespace = BluetoothUUID(
                high: Self.number(structure, from: 5, count: 2),
                low: Self.number(structure, from: 7, count: 8)
            )
            let instance = Self.number(structure, from: 15, count: 6)
            let atOrigin = Int8(bitPattern: structure[4])
            let (power, isBelow) = atOrigin.subtractingReportingOverflow(Self.firstMetre)
            let identity = BeaconIdentity(namespace: namespace, instance: instance)
            self.init(.eddystone, identity, power: UInt8(bitPattern: isBelow ? Self.unknownPower : power))
        default: return nil
        }
    }

    private init(_ format: Format, _ identity: BeaconIdentity, power: UInt8) {
        self.format = format
        self.identity = identity
        measuredPower = Self.plausible(Int8(bitPattern: power))
    }

    private static func plausible(_ power: Int8) -> Int8? { measuredPowers.contains(power) ? power : nil }

    /// Parses the UUID, the major number and the minor number from 20 bytes, each in big-endian order.
    private static func identity(_ bytes: Span<UInt8>, from start: Int) -> BeaconIdentity {
        let uuid = BluetoothUUID(
            high: number(bytes, from: start, count: 8),
            low: number(bytes, from: start &+ 8, count: 8)
        )
        return BeaconIdentity(
            uuid,
            major: UInt16(truncatingIfNeeded: number(bytes, from: start &+ 16, count: 2)),
            minor: UInt16(truncatingIfNeeded: number(bytes, from: start &+ 18, count: 2))
        )
    }

    /// Reads a big-endian number of at most eight bytes; the caller must have checked the length of the structure.
    private static func number(_ bytes: Span<UInt8>, from start: Int, count: Int) -> UInt64 {
        var value: UInt64 = 0
        for offset in start..<(start &+ count) { value = value &<< 8 | UInt64(bytes[offset]) }
        return value
    }

    /// Returns the content to advertise, which fits into an advertisement together with the flags.
    ///
    /// `company` is the company identifier for AltBeacon; iBeacon always uses that of Apple.
    package func content(company: UInt16 = 0xFFFF) -> AdvertisementLayout.Content {
        let power = UInt8(bitPattern: measuredPower ?? Self.unknownPower)
        switch format {
        case .iBeacon:
            let data = [0x02, 0x15] + identityBytes + [power]
            return .init(manufacturerData: [.init(company: Self.apple, data: data)])
        case .altBeacon:
            let data = [0xBE, 0xAC] + identityBytes + [power, 0]
            return .init(manufacturerData: [.init(company: company, data: data)])
        case .eddystone:
            let atOrigin = measuredPower.map { $0.addingReportingOverflow(Self.firstMetre).partialValue }
            let service = BluetoothUUID(Self.eddystoneService)
            let data = [0x00, UInt8(bitPattern: atOrigin ?? Self.unknownPower)] + identityBytes + [0, 0]
            return .init(services: [service], serviceData: [.init(service: service, data: data)])
        }
    }

    private var identityBytes: [UInt8] {
        let (high, low) = (identity.group.high, identity.group.low)
        switch identity.number {
        case .majorMinor(let major, let minor):
            return Self.bytes(high, 8) + Self.bytes(low, 8) + Self.bytes(UInt64(major), 2)
                + Self.bytes(UInt64(minor), 2)
        case .instance(let instance):
            return Self.bytes(high, 2) + Self.bytes(low, 8) + Self.bytes(instance, 6)
        }
    }

    private static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value &>> UInt64(8 &* $0)) }
    }
}

/// The identity that a beacon claims to have: a UUID with two numbers, or an Eddystone namespace with an instance.
///
/// A device that sends iBeacon and AltBeacon frames counts as one beacon. Identities are not authenticated: any device
/// can send any identity.
package struct BeaconIdentity: Hashable, Sendable {
    /// The part of the identity that distinguishes beacons with the same UUID or namespace.
    package enum Number: Hashable, Sendable {
        /// Major number and minor number of an iBeacon or AltBeacon.
        case majorMinor(UInt16, UInt16)
        /// Instance of an Eddystone-UID beacon: 48 bits.
        case instance(UInt64)
    }

    /// UUID that all beacons of a group share.
    ///
    /// For Eddystone, its low 80 bits are the ten bytes of the namespace.
    package let group: BluetoothUUID
    /// The part of the identity that distinguishes beacons with the same UUID or namespace.
    package let number: Number

    /// Creates an identity for iBeacon and AltBeacon.
    package init(_ uuid: BluetoothUUID, major: UInt16, minor: UInt16) {
        group = uuid
        number = .majorMinor(major, minor)
    }

    /// Creates an identity for Eddystone-UID from the low 80 bits of `namespace` and the low 48 bits of `instance`.
    package init(namespace: BluetoothUUID, instance: UInt64) {
        group = Self.namespace(namespace)
        number = .instance(instance & 0xFFFF_FFFF_FFFF)
    }

    /// Returns the low 80 bits of a value.
    static func namespace(_ value: BluetoothUUID) -> BluetoothUUID {
        BluetoothUUID(high: value.high & 0xFFFF, low: value.low)
    }

    /// Segment of the beacon, which is its major number (D-25); nil for Eddystone.
    package var segment: UInt16? {
        if case .majorMinor(let major, _) = number { major } else { nil }
    }
}

extension BeaconIdentity: CustomStringConvertible {
    /// Text form: `E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2`, or `eddystone:00112233445566778899/AABBCCDDEEFF`.
    package var description: String { BeaconRegion(self).description }

    /// Parses the format of `description`; fails for any other text, and if a part is missing.
    package init?(_ text: String) {
        guard let region = BeaconRegion(text) else { return nil }
        switch region.part {
        case .majorMinor(let major, let minor): self.init(region.group, major: major, minor: minor)
        case .instance(let instance): self.init(namespace: region.group, instance: instance)
        case .all, .major, .namespace: return nil
        }
    }
}
