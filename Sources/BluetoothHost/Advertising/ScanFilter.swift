// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// The devices that a scan is for.
public struct ScanFilter: Hashable, Sendable {
    /// A condition on the name; letters of either case are equal, and blanks at its ends do not count (BT-3).
    public enum Name: Hashable, Sendable {
        /// The whole name is this.
        case exactly(String)
        /// The name begins with this.
        case prefix(String)
    }

    /// The one device with an address.
    public struct Identity: Hashable, Sendable {
        /// Its address, on the air or in the manufacturer data.
        public var address: BluetoothAddress
        /// The place in the manufacturer data where the address may be too; nil for nowhere.
        public var place: AdvertisedAddress?

        /// The device with that address.
        public init(_ address: BluetoothAddress, advertisedAt place: AdvertisedAddress? = nil) {
            self.address = address
            self.place = place
        }

        /// True for the device of that address on the air which says this.
        public func matches(_ sender: BluetoothAddress, _ data: AdvertisementData) -> Bool {
            sender == address || place?.addresses(in: data).contains(address) ?? false
        }
    }

    /// Devices that offer any of these; empty is no condition.
    public var services: Set<BluetoothUUID>
    /// Devices of this name; nil is no condition.
    public var name: Name?
    /// The one device with this address; nil is no condition.
    public var identity: Identity?

    /// A filter in which all conditions must hold; without arguments it takes every device.
    public init(services: Set<BluetoothUUID> = [], name: Name? = nil, identity: Identity? = nil) {
        self.services = services
        self.name = name
        self.identity = identity
    }

    /// The address without which no device can meet the filter, whatever it says; nil where there is none such.
    var onlyAddress: BluetoothAddress? { identity?.place == nil ? identity?.address : nil }

    /// True when a device of that name, which offers these services, is looked for.
    public func matches(name deviceName: LocalName?, services offered: [BluetoothUUID]) -> Bool {
        guard services.isEmpty || offered.contains(where: services.contains) else { return false }
        guard let name else { return true }
        guard let deviceName else { return false }
        switch name {
        case .exactly(let text): return LocalName.isSame(deviceName.text, text)
        case .prefix(let text): return deviceName.text.lowercased().hasPrefix(text.lowercased())
        }
    }
}
