// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// What this host and a peer keep of a pairing, so that they know each other and encrypt without another one.
///
/// Core 6.0, Vol 3, Part C, 9.4 (bonding).
public struct Bond: Hashable, Sendable {
    /// The peer's identity: its public or static random address.
    public let identityAddress: DeviceAddress
    /// The public address of the adapter that has paired; to other adapters the bond means nothing.
    public let localAddress: BluetoothAddress
    /// The keys, at least one, and none twice for a role.
    public let longTermKeys: [LongTermKey]
    /// The Identity Resolving Key of the peer: 16 bytes, the least significant first; nil where it has given none.
    public let identityResolvingKey: [UInt8]?

    /// A bond; nil for one that no pairing leaves: an identity that no device can have or that is the adapter's own, an adapter
    /// without an address, no key, two keys for a role, or a resolving key of another length than 16 bytes or of zeros only.
    public init?(
        identityAddress: DeviceAddress,
        localAddress: BluetoothAddress,
        longTermKeys: [LongTermKey],
        identityResolvingKey: [UInt8]? = nil
    ) {
        guard identityAddress.isIdentity, localAddress.rawValue != 0,
            identityAddress != DeviceAddress(localAddress, .public)
        else { return nil }
        guard !longTermKeys.isEmpty, Set(longTermKeys.map { $0.role }).count == longTermKeys.count else { return nil }
        if let key = identityResolvingKey {
            guard key.count == LongTermKey.byteCount, key.contains(where: { $0 != 0 }) else { return nil }
        }
        self.identityAddress = identityAddress
        self.localAddress = localAddress
        self.longTermKeys = longTermKeys
        self.identityResolvingKey = identityResolvingKey
    }

    /// The key for links in which this host has the role; nil where there is none.
    ///
    /// A key of LE Secure Connections is for both roles.
    public func key(for role: LongTermKey.Role) -> LongTermKey? {
        longTermKeys.first { $0.role == role } ?? longTermKeys.first { $0.isSecureConnections }
    }

    /// The security of a link in which this host is the central, encrypted with the bond's key.
    public var security: GATTLinkSecurity {
        guard let key = key(for: .central) else { return GATTLinkSecurity(isBonded: true) }
        return GATTLinkSecurity(level: key.level, keySize: key.size, isBonded: true)
    }

    /// True for a bond of LE legacy pairing, which authenticates nobody.
    public var isLegacy: Bool { longTermKeys.contains { !$0.isSecureConnections } }
}

extension Bond: CustomStringConvertible, CustomDebugStringConvertible {
    /// The two addresses and what is known of the keys, without their bytes: it may be logged.
    public var description: String {
        let keys = longTermKeys.map { $0.description }.joined(separator: "; ")
        return "\(identityAddress) of adapter \(localAddress): \(keys)"
            + (identityResolvingKey == nil ? "" : "; resolving key")
    }

    /// The same as `description`.
    public var debugDescription: String { description }
}

extension DeviceAddress {
    /// True for an address that can be a device's identity: a public or a static random one, neither of ones nor of zeros only.
    ///
    /// Core 6.0, Vol 6, Part B, 1.3.2.1.
    var isIdentity: Bool {
        switch kind {
        case .public: address.rawValue != 0 && address.rawValue != 0xFFFF_FFFF_FFFF
        case .staticRandom: address.rawValue != 0xC000_0000_0000 && address.rawValue != 0xFFFF_FFFF_FFFF
        default: false
        }
    }
}
