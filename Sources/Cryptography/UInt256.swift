// SPDX-License-Identifier: GPL-2.0-or-later

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
