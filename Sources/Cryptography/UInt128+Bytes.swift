// SPDX-License-Identifier: GPL-2.0-or-later

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
