// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets

/// The security that a device's bond, if it has one, provides and demands before the device's data is typed.
package struct BondClaim: Equatable, Sendable {
    /// The reason why the bond provides no key for this device on this adapter.
    package enum Fault: Equatable, Sendable {
        /// The bond belongs to another device that has the same name, or the same address with another type.
        case otherDevice(DeviceAddress)
        case otherAdapter(BluetoothAddress)
        case damaged
    }

    /// Security level that the device's keys provide; `none` without keys.
    package var keys = GATTLinkSecurity.Level.none
    /// True if the keys are from legacy pairing, which does not authenticate the device.
    package var isLegacy = false
    /// Security level that is required because a bond exists; `none` without a bond.
    package var demanded = GATTLinkSecurity.Level.none
    /// Reason why the bond's keys cannot be used; nil if they are usable, or if there is no bond.
    package var fault: Fault?

    /// Creates a claim; the default is that of an unpaired device.
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

    /// True if the bond's keys belong to another adapter or are damaged, so that no device can prove to have them.
    package var isUnusable: Bool {
        switch fault {
        case .otherAdapter, .damaged: true
        case .otherDevice, nil: false
        }
    }
}

extension BondStore.Contents {
    /// Returns the claim for a device that was heard or is about to be selected.
    ///
    /// If `adapter` is nil, the bonds with all adapters count. A bond can match by its identity, by the same address
    /// with any type, or by the selector.
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

    /// Returns the paired device that the selector matches, as a selected device.
    ///
    /// Returns nil if the selector matches no paired device, or several.
    package func pairedChoice(_ choice: DeviceSelector) -> SelectedDevice? {
        if case .kept = choice { return nil }
        let meant = bonds.filter { choice.names($0.identityAddress, names[$0.identityAddress]) }
        guard let identity = meant.first?.identityAddress, meant.allSatisfy({ $0.identityAddress == identity }) else {
            return nil
        }
        let level = meant.map(\.security.level).max() ?? .none
        return SelectedDevice(identity, name: names[identity], security: max(level, .encrypted))
    }

    /// Returns true if the selector matches a paired device, even if the device's keys are not usable.
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

    /// Returns true if the selector cannot match a paired device: a name can match each paired device without a name.
    package func isUnpaired(_ choice: DeviceSelector) -> Bool {
        if case .name = choice, bonds.contains(where: { names[$0.identityAddress] == nil }) { return false }
        return !isPaired(choice)
    }

    /// Returns the reason why a device must not be paired again; nil if it may be paired.
    ///
    /// A pairing is rejected if the device, or any other device that the selector matches, is already paired with this
    /// adapter. A private address is first resolved with the keys of the bonds.
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
