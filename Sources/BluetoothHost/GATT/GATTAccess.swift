// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The security that a link must have before an attribute may be read or written over it.
///
/// Core 6.0, Vol 3, Part F, 3.2.5.
public enum GATTAccess: Sendable, Hashable, CaseIterable {
    /// No link is enough: access is never allowed.
    case never
    /// Any link is enough.
    case open
    /// The link is encrypted.
    case encrypted
    /// The link is encrypted by a key that was authenticated.
    case authenticated
}

/// The security of a link.
///
/// Core 6.0, Vol 3, Part C, 10.2.1 (LE security mode 1).
public struct GATTLinkSecurity: Hashable, Sendable {
    /// The level of a link's security.
    public enum Level: Int, Sendable, Comparable, CaseIterable {
        /// Not encrypted.
        case none
        /// Encrypted, by a key that anyone could have agreed upon.
        case encrypted
        /// Encrypted by a key that was authenticated.
        case authenticated

        /// Ordered from weaker to stronger.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// The longest key, in bytes.
    ///
    /// Core 6.0, Vol 3, Part H, 2.3.4.
    public static let longestKey: UInt8 = 16

    /// The level.
    public var level: Level
    /// The length of the key that encrypts the link, 7 to 16 bytes; without meaning on a link that is not encrypted.
    public var keySize: UInt8
    /// True when both sides have a key from an earlier pairing, in use or not.
    public var isBonded: Bool

    /// The security of a link; a fresh one has none.
    public init(level: Level = .none, keySize: UInt8 = Self.longestKey, isBonded: Bool = false) {
        self.level = level
        self.keySize = keySize
        self.isBonded = isBonded
    }

    /// The error for a link that is not secure enough; nil where it is, and for `never`, which no link satisfies.
    ///
    /// Without a key to encrypt with, pairing has to come first: Insufficient Authentication. With one, encryption is
    /// all that is missing: Insufficient Encryption. Core 6.0, Vol 3, Part C, 10.3.1.
    func refusal(for access: GATTAccess, keySize required: UInt8) -> ATTError? {
        switch access {
        case .never, .open: return nil
        case .encrypted, .authenticated:
            guard level >= .encrypted else { return isBonded ? .insufficientEncryption : .insufficientAuthentication }
            if access == .authenticated, level < .authenticated { return .insufficientAuthentication }
            return keySize < required ? .encryptionKeySizeTooShort : nil
        }
    }
}
