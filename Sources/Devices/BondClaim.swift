// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets

/// Bond that a device must prove before any of its data is typed.
package struct BondClaim: Equatable, Sendable {
    /// Reason why a bond provides no key for this device on this adapter.
    package enum Fault: Equatable, Sendable {
        /// The bond is with another device that has the same address bits or name.
        case otherDevice(DeviceAddress)
        case otherAdapter(BluetoothAddress)
        case damaged
    }

    /// Security that the device's keys provide; `none` without keys.
    package var keys = GATTLinkSecurity.Level.none
    /// True for keys of legacy pairing, which does not authenticate.
    package var isLegacy = false
    /// Security demanded because a bond exists; `none` without one.
    package var demanded = GATTLinkSecurity.Level.none
    /// Reason why the bond's keys cannot be used; nil if they can be used, or if there is no bond.
    package var fault: Fault?

    /// Makes a claim; by default that of an unpaired device.
    package init(
        keys: GATTLinkSecurity.Level = .none,
        isLegacy: Bool = false,
        demanded: GATTLinkSecurity.Level = .none,
        fault: Fault? = nil
    ) {
        self.keys = keys
        self.isLegacy = isLegacy
        self.demanded = demanded
        self.fault = fault
    }

    /// True for a bond that no device can prove here: its keys belong to another adapter, or are damaged.
    package var isUnusable: Bool {
        switch fault {
        case .otherAdapter, .damaged: true
        case .otherDevice, nil: false
        }
    }
}

extension BondStore.Contents {
    /// Returns the claim on a device that was heard, or is about to be selected; a nil adapter includes all of them.
    ///
    /// A bond matches by its identity, by the bits of the address whatever their type, and by the selector.
    package func claim(
        of device: DeviceAddress,
        for choice: DeviceSelector? = nil,
        on adapter: BluetoothAddress?
    ) -> BondClaim {
        let here = bonds.filter { adapter == nil || $0.localAddress == adapter }
        let own = here.filter { $0.identityAddress == device }.max { $0.security.level < $1.security.level }
        if let own {
            let keys = own.security.level
            return BondClaim(keys: keys, isLegacy: own.isLegacy, demanded: max(keys, .encrypted))
        }
        func isMeant(_ identity: DeviceAddress) -> Bool {
            identity.address == device.address || choice?.names(identity, names[identity]) == true
        }
        func demanded(_ bond: Bond) -> GATTLinkSecurity.Level { max(bond.security.level, .encrypted) }
        if let bond = here.first(where: { isMeant($0.identityAddress) }) {
            return BondClaim(demanded: demanded(bond), fault: .otherDevice(bond.identityAddress))
        }
        if let bond = bonds.first(where: { isMeant($0.identityAddress) }) {
            return BondClaim(demanded: demanded(bond), fault: .otherAdapter(bond.localAddress))
        }
        let isLost = names.keys.contains(where: isMeant) || damaged.contains { $0.mayBe(of: device.address) }
        return isLost ? BondClaim(demanded: .encrypted, fault: .damaged) : BondClaim()
    }

    /// Returns the paired device that the selector names, as a selected device; nil if it names none or several.
    package func pairedChoice(_ choice: DeviceSelector) -> SelectedDevice? {
        if case .kept = choice { return nil }
        let meant = bonds.filter { choice.names($0.identityAddress, names[$0.identityAddress]) }
        guard let identity = meant.first?.identityAddress, meant.allSatisfy({ $0.identityAddress == identity }) else {
            return nil
        }
        let level = meant.map(\.security.level).max() ?? .none
        return SelectedDevice(identity, name: names[identity], security: max(level, .encrypted))
    }

    /// Returns true if the selector names a paired device, whether or not its keys are usable.
    package func isPaired(_ choice: DeviceSelector) -> Bool {
        let identities = bonds.map(\.identityAddress) + names.keys
        if identities.contains(where: { choice.names($0, names[$0]) }) { return true }
        let address: BluetoothAddress
        switch choice {
        case .address(let own), .named(_, let own): address = own
        case .name, .kept: return false
        }
        return damaged.contains { $0.mayBe(of: address) }
    }

    /// Returns the reason for rejecting a pairing; nil if neither the device nor another one that the selector names is
    /// paired with this adapter.
    ///
    /// A private address is first resolved with the keys of the bonds.
    package func refusal(
        of device: DeviceAddress,
        for choice: DeviceSelector,
        on adapter: BluetoothAddress
    ) -> PairingError? {
        let here = bonds.filter { $0.localAddress == adapter }
        var resolver = AddressResolver(here)
        let identity = resolver?.identity(of: device) ?? device
        if let bond = here.first(where: { $0.identityAddress.address == identity.address }) {
            return .notKept(.known(bond.identityAddress))
        }
        guard case .name(let name) = choice,
            let bond = here.first(where: { choice.names($0.identityAddress, names[$0.identityAddress]) })
        else { return nil }
        return .nameKnown(name, paired: bond.identityAddress.address, heard: device.address)
    }
}
