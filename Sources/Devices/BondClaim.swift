// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE

/// The bond that a device has to prove before anything of it is typed.
package struct BondClaim: Equatable, Sendable {
    /// The reason why there is a bond, and no key for this device on this adapter.
    package enum Fault: Equatable, Sendable {
        /// The bond is another device's, which has the address bits or the name that this one shows.
        case otherDevice(DeviceAddress)
        case otherAdapter(BluetoothAddress)
        case damaged
    }

    /// The security that the device's keys give; none without keys.
    package var keys = GATTLinkSecurity.Level.none
    /// True for keys of legacy pairing, which authenticates nobody.
    package var isLegacy = false
    /// The security that is demanded because there is a bond; none without one.
    package var demanded = GATTLinkSecurity.Level.none
    /// Why the bond's keys cannot be used; nil where they can, or there is no bond.
    package var fault: Fault?

    /// A claim; without arguments that of an unpaired device.
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

    /// True for a bond that nobody can prove here: its keys are another adapter's, or damaged.
    package var isUnusable: Bool {
        switch fault {
        case .otherAdapter, .damaged: true
        case .otherDevice, nil: false
        }
    }
}

extension BondStore.Contents {
    /// The claim on a device that was heard, or is to be kept, for a choice; a nil adapter stands for all.
    ///
    /// A bond counts by its identity, by the bits of the address whatever their type, and by what the choice says.
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

    /// The paired device that a choice means, as it is kept; nil where it means none, or several.
    package func pairedChoice(_ choice: DeviceSelector) -> SelectedDevice? {
        if case .kept = choice { return nil }
        let meant = bonds.filter { choice.names($0.identityAddress, names[$0.identityAddress]) }
        guard let identity = meant.first?.identityAddress, meant.allSatisfy({ $0.identityAddress == identity }) else {
            return nil
        }
        let level = meant.map(\.security.level).max() ?? .none
        return SelectedDevice(identity, name: names[identity], security: max(level, .encrypted))
    }

    /// True where a choice means a device that was paired, whether its keys can be used or not.
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

    /// The refusal to pair with a device that was heard for a choice; nil where neither it nor another device that the choice
    /// means is paired with this adapter.
    ///
    /// A private address is resolved by the keys of the bonds first.
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
