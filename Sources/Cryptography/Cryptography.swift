// SPDX-License-Identifier: GPL-2.0-or-later

import CMbedTLS

/// The block cipher AES with keys of 128 bits.
///
/// Keys and blocks are numbers: their first byte, as FIPS 197 writes them, is the most significant.
public enum AES128 {
    /// Encrypts one block (the security function e of Core 6.0, Vol 3, Part H, 2.2.1; FIPS 197).
    public static func encrypt(_ block: UInt128, key: UInt128) throws(CryptographyError) -> UInt128 {
        var result = [UInt8](repeating: 0, count: 16)
        try CryptographyError.check(unsafe cmbedtls_aes128(key.bytes, block.bytes, &result))
        return UInt128(bytes: result)
    }

    /// The authentication code AES-CMAC of a message of any length (Core 6.0, Vol 3, Part H, 2.2.5; RFC 4493).
    public static func cmac(_ message: [UInt8], key: UInt128) throws(CryptographyError) -> UInt128 {
        var result = [UInt8](repeating: 0, count: 16)
        try CryptographyError.check(unsafe cmbedtls_cmac(key.bytes, message, message.count, &result))
        return UInt128(bytes: result)
    }
}

/// The reason why a function of this module has no result.
public enum CryptographyError: Error, Hashable, Sendable {
    /// A private key outside 1 … n-1, or a public key that is no point of the curve.
    case keyRefused
    /// An error of the library, by its number: there was no memory.
    case library(Int32)

    /// Throws for every outcome but success.
    static func check(_ outcome: Int32) throws(CryptographyError) {
        switch UInt32(bitPattern: outcome) {
        case CMBEDTLS_SUCCESS.rawValue: return
        case CMBEDTLS_REFUSED.rawValue: throw .keyRefused
        default: throw .library(outcome)
        }
    }
}

/// The library that carries out the algorithms.
package enum CryptographyLibrary {
    /// Version of mbedTLS that is linked in, such as `2.28.3`.
    package static var version: String {
        // Sound: a constant text of the C code.
        unsafe String(cString: cmbedtls_version())
    }
}

extension UInt128 {
    /// The 16 bytes of the number, the most significant first.
    public var bytes: [UInt8] {
        stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self &>> UInt128($0)) }
    }

    /// The number that the bytes are, the most significant first; of more than 16 bytes the last 16.
    public init(bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { $0 &<< 8 | UInt128($1) }
    }
}

/// Key agreement on the elliptic curve P-256.
///
/// Nothing here is random by itself: private keys, and the 128 bits that blind each multiplication against who measures
/// time, are arguments. Core 6.0, Vol 3, Part H, 2.3.5.6.1; FIPS 186-4, D.1.2.3.
public enum P256 {
    /// A point of the curve.
    public struct PublicKey: Hashable, Sendable {
        /// The X coordinate.
        public let x: UInt256
        /// The Y coordinate.
        public let y: UInt256

        /// A public key from its coordinates; throws `keyRefused` if there is no such point on the curve.
        public init(x: UInt256, y: UInt256) throws(CryptographyError) {
            self.x = x
            self.y = y
            try CryptographyError.check(unsafe cmbedtls_p256_check(bytes))
        }

        /// A point that the library has computed.
        init(computed bytes: [UInt8]) {
            x = UInt256(bytes: bytes.prefix(32))
            y = UInt256(bytes: bytes.suffix(32))
        }

        var bytes: [UInt8] { x.bytes + y.bytes }
    }

    /// A private key with its public one.
    public struct PrivateKey: Sendable {
        private let secret: UInt256
        /// The public key that belongs to it.
        public let publicKey: PublicKey

        /// A private key; throws `keyRefused` for a number outside 1 … n-1, in which case another has to be drawn.
        public init(_ secret: UInt256, blinding: UInt128) throws(CryptographyError) {
            var result = [UInt8](repeating: 0, count: 64)
            try CryptographyError.check(unsafe cmbedtls_p256_public(secret.bytes, blinding.bytes, &result))
            self.secret = secret
            publicKey = PublicKey(computed: result)
        }

        /// The secret that the owner of `peer` computes too.
        public func shared(with peer: PublicKey, blinding: UInt128) throws(CryptographyError) -> UInt256 {
            var result = [UInt8](repeating: 0, count: 32)
            let outcome = unsafe cmbedtls_p256_shared(secret.bytes, peer.bytes, blinding.bytes, &result)
            try CryptographyError.check(outcome)
            return UInt256(bytes: result)
        }
    }
}

/// A number of 256 bits: a coordinate, a private key or a shared secret of P-256.
public struct UInt256: Hashable, Sendable {
    /// The more significant half.
    public var high: UInt128
    /// The less significant half.
    public var low: UInt128

    /// A number from its halves.
    public init(high: UInt128, low: UInt128) {
        self.high = high
        self.low = low
    }

    /// The 32 bytes of the number, the most significant first.
    public var bytes: [UInt8] { high.bytes + low.bytes }

    /// The number that the bytes are, the most significant first; of more than 32 bytes the last 32.
    public init(bytes: some Collection<UInt8>) {
        self.init(high: UInt128(bytes: bytes.dropLast(16)), low: UInt128(bytes: bytes.suffix(16)))
    }
}
