// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Checksum at the end of a record of a file: ` crc=` and eight hexadecimal digits.
///
/// It is the CRC-32/ISO-HDLC of the text before it, which uses the reflected polynomial 0x04C11DB7.
package enum RecordChecksum {
    private static let name = " crc="

    /// Returns the text with its checksum.
    package static func appended(to text: String) -> String {
        text + name + Hexadecimal.text(UInt64(checksum(text.utf8)), digits: 8)
    }

    /// Returns the text before the checksum; nil if the checksum is missing or wrong.
    package static func removed(from record: String) -> String? {
        let text = String(decoding: record.utf8.dropLast(name.utf8.count + 8), as: UTF8.self)
        return appended(to: text).utf8.elementsEqual(record.utf8) ? text : nil
    }

    private static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }
}
