// SPDX-License-Identifier: GPL-2.0-or-later

/// A packet under construction.
///
/// Multi-byte integers are little-endian.
public struct ByteWriter: Sendable {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []

    /// An empty packet.
    public init(reservingCapacity capacity: Int = 32) {
        bytes.reserveCapacity(capacity)
    }

    /// Appends one byte.
    public mutating func write(_ value: UInt8) {
        bytes.append(value)
    }

    /// Appends an integer of 16, 32, 64 or 128 bits.
    public mutating func write(_ value: some FixedWidthInteger & UnsignedInteger) {
        var rest = value
        for _ in 0..<(value.bitWidth / 8) {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// Appends bytes as they are.
    public mutating func write(_ value: some Sequence<UInt8>) {
        bytes.append(contentsOf: value)
    }

    /// Appends the six bytes of an address.
    public mutating func write(_ value: BluetoothAddress) {
        var rest = value.rawValue
        for _ in 0..<6 {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// Appends a UUID as two bytes where it has a 16-bit form, else as sixteen; ATT knows no 32-bit form.
    ///
    /// Core 6.0, Vol 3, Part F, 3.2.1.
    public mutating func write(_ value: BluetoothUUID) {
        if let short = value.shortForm16 {
            write(short)
        } else {
            write(value.low)
            write(value.high)
        }
    }
}
