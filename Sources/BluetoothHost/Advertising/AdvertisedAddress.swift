// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Where a device carries its address in the manufacturer data of its advertisements (BT-3).
///
/// For devices whose address on the air changes, or is another one than is printed on them.
public struct AdvertisedAddress: Hashable, Sendable {
    /// The bytes of an address.
    private static let length = 6
    /// The greatest offset: manufacturer data of an extended advertisement ends there.
    public static let greatestOffset = 1650 - length

    /// The address's first byte, counted from 0 at the low byte of the company's number.
    public var offset: Int
    /// True where its last written byte comes first.
    public var isReversed: Bool

    /// An address at a place of the manufacturer data.
    public init(offset: Int, isReversed: Bool = false) {
        self.offset = offset
        self.isReversed = isReversed
    }

    /// The addresses at that place, one for each company's data that reaches as far.
    public func addresses(in data: AdvertisementData) -> [BluetoothAddress] {
        data.manufacturerData.compactMap { item in
            let company = [UInt8(truncatingIfNeeded: item.company), UInt8(truncatingIfNeeded: item.company &>> 8)]
            let bytes = (company + item.data).dropFirst(max(0, offset)).prefix(Self.length)
            guard bytes.count == Self.length else { return nil }
            let written = isReversed ? Array(bytes.reversed()) : Array(bytes)
            return BluetoothAddress(rawValue: written.reduce(0) { $0 &<< 8 | UInt64($1) })
        }
    }
}
