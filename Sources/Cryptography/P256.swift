// SPDX-License-Identifier: GPL-2.0-or-later

import CMbedTLS

/// Key agreement on the elliptic curve P-256.
///
/// Nothing here is random by itself: private keys, and the 128 bits that blind each multiplication against who measures
/// time, are arguments.
///
/// Core 6.0, Vol 3, Part H, 2.3.5.6.1; FIPS 186-4, D.1.2.3.
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
