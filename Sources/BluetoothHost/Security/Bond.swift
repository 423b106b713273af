// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// What this host and a peer keep of a pairing, so that they know each other and encrypt without another one (Core 6.0,
/// Vol 3, Part C, 9.4 (bonding)).
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

    /// The bond as one line of text, with a checksum at its end, without a line feed.
    ///
    /// ```
    /// bond F0:F1:F2:F3:F4:F5 random adapter=00:AA:01:00:00:42 key=central,sc,open,16,0000,0000000000000000,… irk=… crc=…
    /// ```
    /// Each `key` says the role, `sc` or `legacy`, whether a number was compared or entered (`authenticated` or `open`), the
    /// size, EDIV, Rand and the 16 bytes; `irk` is the resolving key. The checksum is the CRC-32 of all before it.
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
        return text + " crc=" + Hexadecimal.text(UInt64(Self.checksum(text.utf8)), digits: 8)
    }

    /// Reads such a line; nil for anything that `record` does not write, letter by letter.
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
        // The checksum, the order of the words and the form of each number.
        guard self.record == record else { return nil }
    }

    private static func value(of word: Substring, _ name: String) -> Substring? {
        word.hasPrefix(name) ? word.dropFirst(name.count) : nil
    }

    /// CRC-32/ISO-HDLC, by the catalogue's polynomial 0x04C11DB7, reflected.
    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }

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
    /// True for an address that can be a device's identity: a public or a static random one, neither of ones nor of
    /// zeros only (Core 6.0, Vol 6, Part B, 1.3.2.1).
    var isIdentity: Bool {
        switch kind {
        case .public: address.rawValue != 0 && address.rawValue != 0xFFFF_FFFF_FFFF
        case .staticRandom: address.rawValue != 0xC000_0000_0000 && address.rawValue != 0xFFFF_FFFF_FFFF
        default: false
        }
    }
}

extension LongTermKey {
    /// Reads the words of a record's key, separated by commas.
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

/// A key that encrypts the links of two bonded devices (Core 6.0, Vol 3, Part H, 2.4.1).
public struct LongTermKey: Hashable, Sendable {
    /// The role in which this host encrypts with the key.
    ///
    /// Both roles have the same key where it comes from LE Secure Connections.
    public enum Role: String, Hashable, Sendable, CaseIterable {
        /// The peer has distributed the key: it is for links in which this host is the central.
        case central
        /// This host has distributed the key: it is for links in which this host is the peripheral.
        case peripheral
    }

    /// The number of bytes of a key, whatever its size: what a shorter one lacks is zero.
    public static let byteCount = 16
    /// The sizes that two devices may agree upon, in bytes (Core 6.0, Vol 3, Part H, 2.3.4).
    public static let sizes: ClosedRange<UInt8> = 7...16

    /// The 16 bytes, the least significant first, as HCI and the Security Manager Protocol carry them.
    public let value: [UInt8]
    /// EDIV, which names a key of LE legacy pairing; 0 for one of LE Secure Connections.
    public let encryptedDiversifier: UInt16
    /// Rand, which names a key of LE legacy pairing; 0 for one of LE Secure Connections.
    public let random: UInt64
    /// The bytes that count, 7 to 16, from the least significant on.
    public let size: UInt8
    /// True where a number was compared or entered in the pairing, or data went out of band.
    ///
    /// The record and the kernel's list keep it; of a key of LE legacy pairing it proves nothing.
    public let usedNumber: Bool
    /// True for a key of LE Secure Connections, false for one of LE legacy pairing.
    public let isSecureConnections: Bool
    /// The role in which this host encrypts with it.
    public let role: Role

    /// True where a number kept a stranger out of the pairing, which only LE Secure Connections can do.
    ///
    /// The passkey of LE legacy pairing is found by at most 10^6 trials from the values on the air: by a peer that was told
    /// none, too, before it has to answer (Rosa, 2013).
    public var isAuthenticated: Bool { usedNumber && isSecureConnections }

    /// The level of a link that the key encrypts.
    public var level: GATTLinkSecurity.Level { isAuthenticated ? .authenticated : .encrypted }

    /// A key; nil for one that no pairing makes: of another length than 16 bytes, of zeros only, of a size outside 7 to
    /// 16, with bytes above its size, or of LE Secure Connections with EDIV or Rand.
    ///
    /// With `isAuthenticated` a number was compared or entered in the pairing (`usedNumber`).
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

extension LongTermKey: CustomStringConvertible, CustomDebugStringConvertible {
    /// What is known of the key, without its bytes: it may be logged.
    public var description: String {
        "\(isSecureConnections ? "Secure Connections" : "legacy") key of \(size) bytes, "
            + "\(isAuthenticated ? "authenticated" : "not authenticated"), \(role.rawValue)"
    }

    /// The same as `description`.
    public var debugDescription: String { description }
}
