// SPDX-License-Identifier: GPL-2.0-or-later

import CMbedTLS

/// AES block cipher with 128-bit keys (AES-128).
///
/// Keys and blocks are numbers, most significant byte first, in the byte order of FIPS 197.
public enum AES128 {
    /// Encrypts one block (the security function e of Core 6.0, Vol 3, Part H, 2.2.1; FIPS 197).
    public static func encrypt(_ block: UInt128, key: UInt128) throws(CryptographyError) -> UInt128 {
        var result = [UInt8](repeating: 0, count: 16)
        try CryptographyError.check(unsafe cmbedtls_aes128(key.bytes, block.bytes, &result))
        return UInt128(bytes: result)
    }

    /// Computes the AES-CMAC of a message of any length (Core 6.0, Vol 3, Part H, 2.2.5; RFC 4493).
    public static func cmac(_ message: [UInt8], key: UInt128) throws(CryptographyError) -> UInt128 {
        var result = [UInt8](repeating: 0, count: 16)
        try CryptographyError.check(unsafe cmbedtls_cmac(key.bytes, message, message.count, &result))
        return UInt128(bytes: result)
    }
}

/// Error thrown by the functions of this module.
public enum CryptographyError: Error, Hashable, Sendable {
    /// The private key is outside the range 1 … n-1, or the public key is not a point on the curve.
    case keyRefused
    /// The library ran out of memory; the value is its error number.
    case library(Int32)

    /// Throws an error unless `outcome` is success.
    static func check(_ outcome: Int32) throws(CryptographyError) {
        switch UInt32(bitPattern: outcome) {
        case CMBEDTLS_SUCCESS.rawValue: return
        case CMBEDTLS_REFUSED.rawValue: throw .keyRefused
        default: throw .library(outcome)
        }
    }
}

/// Library that implements the algorithms.
package enum CryptographyLibrary {
    /// Version of the linked mbedTLS library, such as `2.28.3`.
    package static var version: String {
        // Sound: the C function returns a constant string.
        unsafe String(cString: cmbedtls_version())
    }
}

extension UInt128 {
    /// The number as 16 bytes, most significant byte first.
    public var bytes: [UInt8] {
        stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self &>> UInt128($0)) }
    }

    /// Creates a number from bytes, most significant byte first; uses the last 16 bytes if there are more.
    public init(bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 &<< 8 | UInt128($1) }
    }
}

/// Key agreement on the elliptic curve P-256.
///
/// This module generates no random numbers. The caller supplies the private keys, and the 128 random bits that blind
/// each multiplication against timing attacks. Core 6.0, Vol 3, Part H, 2.3.5.6.1; FIPS 186-4, D.1.2.3.
public enum P256 {
    /// Public key: a point on the curve.
    public struct PublicKey: Hashable, Sendable {
        /// X coordinate.
        public let x: UInt256
        /// Y coordinate.
        public let y: UInt256

        /// Creates a public key from its coordinates; throws `keyRefused` if the point is not on the curve.
        public init(x: UInt256, y: UInt256) throws(CryptographyError) {
            self.x = x
            self.y = y
            try CryptographyError.check(unsafe cmbedtls_p256_check(bytes))
        }

        /// Creates a public key from the coordinates that the library computed.
        init(computed bytes: [UInt8]) {
            x = UInt256(bytes: bytes.prefix(32))
            y = UInt256(bytes: bytes.suffix(32))
        }

        var bytes: [UInt8] { x.bytes + y.bytes }
    }

    /// Private key and the public key derived from it.
    public struct PrivateKey: Sendable {
        private let secret: UInt256
        /// Public key derived from the private key.
        public let publicKey: PublicKey

        /// Creates a private key; throws `keyRefused` for a number outside 1 … n-1, in which case the caller must draw
        /// another.
        public init(_ secret: UInt256, blinding: UInt128) throws(CryptographyError) {
            var result = [UInt8](repeating: 0, count: 64)
            try CryptographyError.check(unsafe cmbedtls_p256_public(secret.bytes, blinding.bytes, &result))
            self.secret = secret
            publicKey = PublicKey(computed: result)
        }

        /// Computes the shared secret, which the owner of `peer` computes as well.
        public func shared(with peer: PublicKey, blinding: UInt128) throws(CryptographyError) -> UInt256 {
            var result = [UInt8](repeating: 0, count: 32)
            let outcome = unsafe cmbedtls_p256_shared(secret.bytes, peer.bytes, blinding.bytes, &result)
            try CryptographyError.check(outcome)
            return UInt256(bytes: result)
        }
    }
}

/// 256-bit number: a coordinate, a private key or a shared secret of P-256.
public struct UInt256: Hashable, Sendable {
    /// Most significant 128 bits.
    public var high: UInt128
    /// Least significant 128 bits.
    public var low: UInt128

    /// Creates a number from its two halves.
    public init(high: UInt128, low: UInt128) {
        self.high = high
        self.low = low
    }

    /// The number as 32 bytes, most significant byte first.
    public var bytes: [UInt8] { high.bytes + low.bytes }

    /// Creates a number from bytes, most significant byte first; uses the last 32 bytes if there are more.
    public init(bytes: some Collection<UInt8>) {
        self.init(high: UInt128(bytes: bytes.dropLast(16)), low: UInt128(bytes: bytes.suffix(16)))
    }
}
