// SPDX-License-Identifier: GPL-2.0-or-later

/// A checksum over bytes, with its name in profiles as raw value (BT-8).
///
/// The polynomials and check values are those of the CRC RevEng catalogue (reveng.sourceforge.io/crc-catalogue).
package enum Checksum: String, Hashable, Sendable, CaseIterable {
    /// CRC-8/MAXIM-DOW: polynomial 0x31, reflected, initial value 0.
    case crc8Maxim = "crc8-maxim"
    /// CRC-8/SMBUS: polynomial 0x07, initial value 0.
    case crc8 = "crc8"
    /// CRC-16/MODBUS: polynomial 0x8005, reflected, initial value 0xFFFF; the low byte is sent first.
    case crc16Modbus = "crc16-modbus"
    /// CRC-16/IBM-3740, often called CCITT-FALSE: polynomial 0x1021, initial value 0xFFFF; the high byte is sent
    /// first.
    case crc16CCITT = "crc16-ccitt"
    /// The exclusive or of all bytes: the block check character of serial protocols.
    case xor = "xor"
    /// The sum of all bytes modulo 256.
    case sum = "sum"
    /// The byte that makes the sum of all bytes, itself included, 0 modulo 256.
    case negatedSum = "sum-negated"

    /// The names of all checksums, separated by commas, for messages.
    package static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// The length of the checksum: 1 or 2 bytes.
    package var length: Int {
        switch self {
        case .crc16Modbus, .crc16CCITT: 2
        case .crc8Maxim, .crc8, .xor, .sum, .negatedSum: 1
        }
    }

    /// The checksum over `bytes`, in the order in which it is sent.
    package func value(of bytes: some Sequence<UInt8>) -> [UInt8] {
        switch self {
        case .crc8Maxim: [bytes.reduce(0) { Self.reflected($0 ^ $1, 0x8C) }]
        case .crc8: [bytes.reduce(0) { Self.shifted($0 ^ $1, 0x07) }]
        case .crc16Modbus:
            Self.littleEndian(bytes.reduce(0xFFFF) { Self.reflected($0 ^ UInt16($1), 0xA001) })
        case .crc16CCITT:
            Self.littleEndian(bytes.reduce(0xFFFF) { Self.shifted($0 ^ UInt16($1) &<< 8, 0x1021) }).reversed()
        case .xor: [bytes.reduce(0, ^)]
        case .sum: [bytes.reduce(0, &+)]
        case .negatedSum: [0 &- bytes.reduce(0, &+)]
        }
    }

    /// Eight steps of a polynomial division, lowest bit first.
    private static func reflected<Register: FixedWidthInteger>(_ register: Register, _ polynomial: Register) -> Register
    {
        (0..<8).reduce(register) { value, _ in value & 1 == 0 ? value &>> 1 : value &>> 1 ^ polynomial }
    }

    /// Eight steps of a polynomial division, highest bit first.
    private static func shifted<Register: FixedWidthInteger>(_ register: Register, _ polynomial: Register) -> Register {
        (0..<8).reduce(register) { value, _ in
            value.leadingZeroBitCount == 0 ? value &<< 1 ^ polynomial : value &<< 1
        }
    }

    private static func littleEndian(_ value: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value &>> 8)]
    }
}
