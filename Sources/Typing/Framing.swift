// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes

/// Framing of the bytes that a device sends.
///
/// A frame consists of, in this order: `start`, `header` skipped bytes, the optional length field, the payload, the
/// optional checksum before the end, `end`, and the optional checksum after the end.
package struct Framing: Hashable, Sendable {
    package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
    }

    package struct Length: Hashable, Sendable {
        /// Size of the field: 1 or 2 bytes.
        package var size: Int
        /// True if the low byte of a 2-byte field comes first.
        package var isLittleEndian: Bool
        /// Number of bytes, 0 to 64, that the field counts in addition to the payload.
        package var surplus: Int

        /// Creates a length field; by default, it has one byte and counts only the payload.
        package init(size: Int = 1, isLittleEndian: Bool = true, surplus: Int = 0) {
            self.size = size
            self.isLittleEndian = isLittleEndian
            self.surplus = surplus
        }
    }

    package struct Check: Hashable, Sendable {
        package var checksum: Checksum
        /// Index of the first byte covered by the checksum, from 0; coverage ends right before the checksum.
        package var from: Int
        /// True if the checksum follows the end bytes.
        package var isBehindEnd: Bool

        /// Creates a checksum; by default, it covers the whole frame before it.
        package init(_ checksum: Checksum, from: Int = 0, isBehindEnd: Bool = false) {
            self.checksum = checksum
            self.from = from
            self.isBehindEnd = isBehindEnd
        }
    }

    /// Maximum payload in bytes; it bounds the memory and time that a device can consume on the host.
    package static let greatestPayload = 1024
    /// Maximum length, in bytes, of each of `start`, `end` and `header`.
    package static let longestMark = 16
    /// Pause after which an incomplete frame is abandoned.
    package static let longestPause = Duration.seconds(1)

    /// Bytes that begin a frame; empty if a frame begins with the header or the length field.
    package let start: [UInt8]
    /// Number of bytes skipped after `start`.
    package let header: Int
    /// Length field; nil if the payload extends to the `end` bytes.
    package let length: Length?
    /// Bytes that end a frame; empty if only the length field determines its end.
    package let end: [UInt8]
    package let check: Check?
    /// True if the `end` bytes are typed too.
    package let keepsEnd: Bool
    /// Maximum payload of this framing, in bytes.
    package let maximum: Int

    /// Creates a framing; throws a `Fault` if its parts are out of range or inconsistent.
    package init(
        start: [UInt8] = [],
        header: Int = 0,
        length: Length? = nil,
        end: [UInt8] = [],
        check: Check? = nil,
        keepsEnd: Bool = false,
        maximum: Int = greatestPayload
    ) throws(Fault) {
        guard length != nil || !end.isEmpty else { throw Fault(description: "a frame needs a length or an end") }
        guard max(start.count, end.count) <= Self.longestMark, (0...Self.longestMark).contains(header) else {
            throw Fault(description: "start, end and header have at most \(Self.longestMark) bytes each")
        }
        guard (1...Self.greatestPayload).contains(maximum) else {
            throw Fault(description: "a payload has from 1 to at most \(Self.greatestPayload) bytes, not \(maximum)")
        }
        if let length {
            guard (1...2).contains(length.size) else { throw Fault(description: "a length has 1 or 2 bytes") }
            guard (0...64).contains(length.surplus) else {
                throw Fault(description: "a length counts from 0 to 64 bytes besides the payload")
            }
        } else if let check, !check.isBehindEnd {
            throw Fault(description: "a checksum before the end wants a length: its value may look like the end")
        }
        if let check {
            guard !check.isBehindEnd || !end.isEmpty else {
                throw Fault(description: "a checksum behind the end wants an end")
            }
            guard (0...start.count + header).contains(check.from) else {
                throw Fault(description: "a checksum covers the frame from its byte 0 to \(start.count + header) on")
            }
        }
        guard !keepsEnd || !end.isEmpty else { throw Fault(description: "there is no end to keep") }
        self.start = start
        self.header = header
        self.length = length
        self.end = end
        self.check = check
        self.keepsEnd = keepsEnd
        self.maximum = maximum
    }
}

/// Text form of the barcode terminators: names and numbers separated by commas, or `none`.
package enum TerminatorText {
    /// Description of the syntax, for messages.
    package static let form = "names (cr, lf, tab, etx, gs …) or numbers such as 0x03 with commas between them, or none"

    /// Parses the terminators; returns nil for any other text.
    package static func bytes(_ text: String) -> Set<UInt8>? {
        guard text != "none" else { return [] }
        var bytes: Set<UInt8> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let byte = ByteName.byte(word) else { return nil }
            bytes.insert(byte)
        }
        return bytes
    }

    /// Returns the shortest text that `bytes` parses as these bytes.
    package static func text(_ bytes: Set<UInt8>) -> String {
        guard !bytes.isEmpty else { return "none" }
        return bytes.sorted().map { byte in
            ByteName.name(of: byte) ?? "0x" + String(byte, radix: 16)
        }.joined(separator: ",")
    }
}

/// Checksum algorithm, with its profile name as raw value (BT-8).
///
/// The polynomials and check values are those of the CRC RevEng catalogue (reveng.sourceforge.io/crc-catalogue).
package enum Checksum: String, Hashable, Sendable, CaseIterable {
    /// CRC-8/MAXIM-DOW: polynomial 0x31, reflected, initial value 0.
    case crc8Maxim = "crc8-maxim"
    /// CRC-8/SMBUS: polynomial 0x07, initial value 0.
    case crc8 = "crc8"
    /// CRC-16/MODBUS: polynomial 0x8005, reflected, initial value 0xFFFF; the low byte is sent first.
    case crc16Modbus = "crc16-modbus"
    /// CRC-16/IBM-3740, often called CCITT-FALSE: polynomial 0x1021, initial value 0xFFFF; the high byte is sent first.
    case crc16CCITT = "crc16-ccitt"
    /// Exclusive or of all bytes: the block check character of serial protocols.
    case xor = "xor"
    /// Sum of all bytes modulo 256.
    case sum = "sum"
    /// Byte that makes the sum of all bytes, including itself, 0 modulo 256.
    case negatedSum = "sum-negated"

    package static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// Length of the checksum: 1 or 2 bytes.
    package var length: Int {
        switch self {
        case .crc16Modbus, .crc16CCITT: 2
        case .crc8Maxim, .crc8, .xor, .sum, .negatedSum: 1
        }
    }

    /// Returns the checksum of `bytes`, in transmission order.
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

    /// Performs eight steps of a polynomial division, lowest bit first.
    private static func reflected<Register: FixedWidthInteger>(_ register: Register, _ polynomial: Register) -> Register
    {
        (0..<8).reduce(register) { value, _ in value & 1 == 0 ? value &>> 1 : value &>> 1 ^ polynomial }
    }

    /// Performs eight steps of a polynomial division, highest bit first.
    private static func shifted<Register: FixedWidthInteger>(_ register: Register, _ polynomial: Register) -> Register {
        (0..<8).reduce(register) { value, _ in
            value.leadingZeroBitCount == 0 ? value &<< 1 ^ polynomial : value &<< 1
        }
    }

    private static func littleEndian(_ value: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value &>> 8)]
    }
}
