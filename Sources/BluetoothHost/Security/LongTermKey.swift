// SPDX-License-Identifier: GPL-2.0-or-later

/// A key that encrypts the links of two bonded devices.
///
/// Core 6.0, Vol 3, Part H, 2.4.1.
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
    /// The sizes that two devices may agree upon, in bytes.
    ///
    /// Core 6.0, Vol 3, Part H, 2.3.4.
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
