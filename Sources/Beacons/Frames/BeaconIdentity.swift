// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE

/// What a beacon says it is: a UUID with two numbers, or Eddystone's namespace with an instance.
///
/// iBeacon and AltBeacon carry the same three parts, and a beacon that sends both frames is one beacon. Anybody can send
/// any identity.
package struct BeaconIdentity: Hashable, Sendable {
    /// The parts within the group.
    package enum Number: Hashable, Sendable {
        /// Of iBeacon and AltBeacon.
        case majorMinor(UInt16, UInt16)
        /// Of Eddystone-UID: 48 bits.
        case instance(UInt64)
    }

    /// The UUID; of Eddystone the namespace's ten bytes, as the last 80 bits.
    package let group: BluetoothUUID
    /// The parts within the group.
    package let number: Number

    /// An identity of iBeacon and AltBeacon.
    package init(_ uuid: BluetoothUUID, major: UInt16, minor: UInt16) {
        group = uuid
        number = .majorMinor(major, minor)
    }

    /// An identity of Eddystone-UID; bits of `namespace` above the 80th and of `instance` above the 48th are dropped.
    package init(namespace: BluetoothUUID, instance: UInt64) {
        group = Self.namespace(namespace)
        number = .instance(instance & 0xFFFF_FFFF_FFFF)
    }

    /// The last 80 bits.
    static func namespace(_ value: BluetoothUUID) -> BluetoothUUID {
        BluetoothUUID(high: value.high & 0xFFFF, low: value.low)
    }

    /// The major number, which is the beacon's segment (D-25); nil for Eddystone.
    package var segment: UInt16? {
        if case .majorMinor(let major, _) = number { major } else { nil }
    }
}

extension BeaconIdentity: CustomStringConvertible {
    /// `E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2`, or `eddystone:00112233445566778899/AABBCCDDEEFF`.
    package var description: String { BeaconRegion(self).description }

    /// Reads such a text; nil for anything else, and where a part is missing.
    package init?(_ text: String) {
        guard let region = BeaconRegion(text) else { return nil }
        switch region.part {
        case .majorMinor(let major, let minor): self.init(region.group, major: major, minor: minor)
        case .instance(let instance): self.init(namespace: region.group, instance: instance)
        case .all, .major, .namespace: return nil
        }
    }
}
