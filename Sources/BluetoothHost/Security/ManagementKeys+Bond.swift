// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

extension LongTermKey {
    /// A key that the kernel's pairing has given; nil for one that no bond may have, such as a debug key.
    public init?(_ key: ManagementLongTermKey) {
        guard key.kind != .debug else { return nil }
        let isSecure = key.kind == .unauthenticatedSecureConnections || key.kind == .authenticatedSecureConnections
        self.init(
            key.value,
            encryptedDiversifier: key.encryptedDiversifier,
            random: key.random,
            size: key.size,
            isAuthenticated: key.kind == .authenticated || key.kind == .authenticatedSecureConnections,
            isSecureConnections: isSecure,
            role: isSecure || key.isCentral ? .central : .peripheral
        )
    }
}

extension Bond {
    /// The keys as the kernel loads them.
    public var managementKeys: [ManagementLongTermKey] {
        longTermKeys.map { key in
            let kind: ManagementLongTermKey.Kind =
                switch (key.isSecureConnections, key.usedNumber) {
                case (false, false): .unauthenticated
                case (false, true): .authenticated
                case (true, false): .unauthenticatedSecureConnections
                case (true, true): .authenticatedSecureConnections
                }
            return ManagementLongTermKey(
                device: ManagementAddress(identityAddress),
                kind: kind,
                isCentral: !key.isSecureConnections && key.role == .central,
                size: key.size,
                encryptedDiversifier: key.encryptedDiversifier,
                random: key.random,
                value: key.value
            )
        }
    }

    /// The resolving key as the kernel loads it; nil where there is none.
    public var managementResolvingKey: ManagementResolvingKey? {
        identityResolvingKey.map { ManagementResolvingKey(device: ManagementAddress(identityAddress), value: $0) }
    }
}
