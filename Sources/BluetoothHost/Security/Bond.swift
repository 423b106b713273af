// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Identities and keys from a pairing, with which a peer is recognised and its links are encrypted without another
/// pairing (Core 6.0, Vol 3, Part C, 9.4: bonding).
public struct Bond: Hashable, Sendable {
    /// Identity address of the peer: its public or static random address.
    public let identityAddress: DeviceAddress
    /// Public address of the adapter that was paired; the bond is valid only for this adapter.
    public let localAddress: BluetoothAddress
    /// Long Term Keys: at least one, and at most one for each role.
    public let longTermKeys: [LongTermKey]
    /// Identity Resolving Key of the peer, 16 bytes, least significant byte first; nil if the peer did not distribute
    /// one.
    public let identityResolvingKey: [UInt8]?

    /// Creates a bond; returns nil for values that cannot result from a pairing.
    ///
    /// A bond is rejected if the identity address is invalid or is the adapter's own, if the adapter has no address, if
    /// there is no key, if there are two keys for one role, or if the resolving key is not 16 bytes long or is all
    /// zeros.
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

    /// Returns the key for links in which this host has `role`; nil if there is none.
    ///
    /// A key from LE Secure Connections is used in both roles.
    public func key(for role: LongTermKey.Role) -> LongTermKey? {
        longTermKeys.first { $0.role == role } ?? longTermKeys.first { $0.isSecureConnections }
    }

    /// Security of a link that this host encrypts with the bond's key in the central role.
    public var security: GATTLinkSecurity {
        guard let key = key(for: .central) else { return GATTLinkSecurity(isBonded: true) }
        return GATTLinkSecurity(level: key.level, keySize: key.size, isBonded: true)
    }

    /// True if the bond results from LE legacy pairing, which does not authenticate the peer.
    public var isLegacy: Bool { longTermKeys.contains { !$0.isSecureConnections } }

    /// The bond as one line of text that ends with a checksum, without a line feed.
    ///
    /// ```
    /// bond F0:F1:F2:F3:F4:F5 random adapter=00:AA:01:00:00:42 key=central,sc,open,16,0000,0000000000000000,… irk=…
    /// crc=…
    /// ```
    /// Each `key` consists of the role, `sc` or `legacy`, `authenticated` (a number was compared or entered) or `open`,
    /// the size, EDIV, Rand and the 16 key bytes; `irk` is the resolving key. The checksum is the CRC-32 of the text
    /// that precedes ` crc=`.
    public var record: String {
        var text = "bond \(identityAddress.address) \(identityAddress.type) adapter=\(localAddress)"
        for key in longTermKeys {
            let words = [
                key.role.rawValue, key.isSecureConnections ? "sc" : "legacy",
                key.usedNumber ? "authenticated" : "open", "\(key.size)",
                Hexadecimal.text(UInt64(key.encryptedDiversifier), digits: 4),
                Hexadecimal.text(key.random, digits: 16), Hexadecimal.text(key.value),
            ]
            text += " key=" + words.joined(separator: ",")
        }
        if let key = identityResolvingKey { text += " irk=" + Hexadecimal.text(key) }
        return RecordChecksum.appended(to: text)
    }

    /// Parses a line in the format of `record`; returns nil if the line differs in any character from the output of
    /// `record`.
    public init?(record: String) {
        let words = record.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count >= 6, words[0] == "bond", let address = BluetoothAddress(words[1]),
            let type = AddressType.allCases.first(where: { "\($0)" == words[2] }),
            let local = Self.value(of: words[3], "adapter=").flatMap({ BluetoothAddress($0) })
        else { return nil }
        var keys: [LongTermKey] = []
        var resolvingKey: [UInt8]?
        for word in words[4...].dropLast() {
            if let text = Self.value(of: word, "key="), let key = LongTermKey(words: text) {
                keys.append(key)
            } else if let text = Self.value(of: word, "irk="), let key = Hexadecimal.bytes(text) {
                resolvingKey = key
            } else {
                return nil
            }
        }
        self.init(
            identityAddress: DeviceAddress(address, type),
            localAddress: local,
            longTermKeys: keys,
            identityResolvingKey: resolvingKey
        )
        // This comparison verifies the checksum, the order of the words and the form of each number.
        guard self.record == record else { return nil }
    }

    private static func value(of word: Substring, _ name: String) -> Substring? {
        word.hasPrefix(name) ? word.dropFirst(name.count) : nil
    }

    /// Keys in the format that the kernel loads.
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

    /// Resolving key in the format that the kernel loads; nil if there is none.
    public var managementResolvingKey: ManagementResolvingKey? {
        identityResolvingKey.map { ManagementResolvingKey(device: ManagementAddress(identityAddress), value: $0) }
    }
}

extension Bond: CustomStringConvertible, CustomDebugStringConvertible {
    /// Addresses and key properties without the key bytes, so that the text is safe to log.
    public var description: String {
        let keys = longTermKeys.map { $0.description }.joined(separator: "; ")
        return "\(identityAddress) of adapter \(localAddress): \(keys)"
            + (identityResolvingKey == nil ? "" : "; resolving key")
    }

    /// Same text as `description`.
    public var debugDescription: String { description }
}

extension DeviceAddress {
    /// True for a valid identity address: public or static random, and neither all ones nor all zeros (Core 6.0, Vol 6,
    /// Part B, 1.3.2.1).
    var isIdentity: Bool {
        switch kind {
        case .public: address.rawValue != 0 && address.rawValue != 0xFFFF_FFFF_FFFF
        case .staticRandom: address.rawValue != 0xC000_0000_0000 && address.rawValue != 0xFFFF_FFFF_FFFF
        default: false
        }
    }
}

extension LongTermKey {
    /// Parses the comma-separated words of a key in a bond's record.
    fileprivate init?(words text: Substring) {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        guard words.count == 7, let role = Role(rawValue: String(words[0])), let size = UInt8(words[3]),
            let diversifier = UInt16(words[4], radix: 16), let random = UInt64(words[5], radix: 16),
            let value = Hexadecimal.bytes(words[6])
        else { return nil }
        self.init(
            value,
            encryptedDiversifier: diversifier,
            random: random,
            size: size,
            isAuthenticated: words[2] == "authenticated",
            isSecureConnections: words[1] == "sc",
            role: role
        )
    }
}

/// Key that encrypts the links between two bonded devices (Core 6.0, Vol 3, Part H, 2.4.1).
public struct LongTermKey: Hashable, Sendable {
    /// Role in which this host uses the key.
    ///
    /// A key from LE Secure Connections is the same in both roles.
    public enum Role: String, Hashable, Sendable, CaseIterable {
        /// The peer distributed the key, for links in which this host is the central.
        case central
        /// This host distributed the key, for links in which it is the peripheral.
        case peripheral
    }

    /// Number of bytes that a key of any size occupies; the unused bytes of a shorter key are zero.
    public static let byteCount = 16
    /// Key sizes that two devices can negotiate, in bytes (Core 6.0, Vol 3, Part H, 2.3.4).
    public static let sizes: ClosedRange<UInt8> = 7...16

    /// Bytes of the key, least significant byte first, as in HCI and the Security Manager Protocol.
    public let value: [UInt8]
    /// EDIV, which identifies a key of LE legacy pairing; 0 for a key from LE Secure Connections.
    public let encryptedDiversifier: UInt16
    /// Rand, which identifies a key of LE legacy pairing; 0 for a key from LE Secure Connections.
    public let random: UInt64
    /// Number of bytes in use, 7 to 16, counted from the least significant byte.
    public let size: UInt8
    /// True if the user compared or entered a number during the pairing, or data was exchanged out of band.
    ///
    /// The bond record and the kernel's key list store this flag; it proves nothing for a key of LE legacy pairing.
    public let usedNumber: Bool
    /// True for a key from LE Secure Connections; false for a key from LE legacy pairing.
    public let isSecureConnections: Bool
    /// Role in which this host uses the key.
    public let role: Role

    /// True if a number protected the pairing from a man in the middle, which is possible only with LE Secure
    /// Connections.
    ///
    /// The passkey of LE legacy pairing can be found from the values sent over the air in at most 10^6 trials. Even a
    /// peer that does not know the passkey can find it before it has to answer (Rosa, 2013).
    public var isAuthenticated: Bool { usedNumber && isSecureConnections }

    /// Security level of a link encrypted with the key.
    public var level: GATTLinkSecurity.Level { isAuthenticated ? .authenticated : .encrypted }

    /// Creates a key; returns nil for values that cannot result from a pairing.
    ///
    /// A key is rejected if it is not 16 bytes long or is all zeros, if its size is outside 7 to 16, if it has nonzero
    /// bytes above its size, or if it is from LE Secure Connections and has an EDIV or Rand.
    ///
    /// `isAuthenticated` is stored as `usedNumber`: it is true if the user compared or entered a number during the
    /// pairing.
    public init?(
        _ value: [UInt8],
        encryptedDiversifier: UInt16 = 0,
        random: UInt64 = 0,
        size: UInt8 = 16,
        isAuthenticated: Bool,
        isSecureConnections: Bool,
        role: Role
    ) {
        guard value.count == Self.byteCount, Self.sizes.contains(size), value.contains(where: { $0 != 0 }),
            value.dropFirst(Int(size)).allSatisfy({ $0 == 0 })
        else { return nil }
        guard !isSecureConnections || (encryptedDiversifier == 0 && random == 0) else { return nil }
        self.value = value
        self.encryptedDiversifier = encryptedDiversifier
        self.random = random
        self.size = size
        usedNumber = isAuthenticated
        self.isSecureConnections = isSecureConnections
        self.role = role
    }

    /// Creates a key from one that the kernel created during a pairing; returns nil if the key cannot be part of a
    /// bond, such as a debug key.
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

extension LongTermKey: CustomStringConvertible, CustomDebugStringConvertible {
    /// Properties of the key without its bytes, so that the text is safe to log.
    public var description: String {
        "\(isSecureConnections ? "Secure Connections" : "legacy") key of \(size) bytes, "
            + "\(isAuthenticated ? "authenticated" : "not authenticated"), \(role.rawValue)"
    }

    /// Same text as `description`.
    public var debugDescription: String { description }
}
