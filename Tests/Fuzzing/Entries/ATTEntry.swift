// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The input is one PDU.
enum ATTEntry {
    static func fault(in bytes: [UInt8]) -> String? {
        do throws(DecodingError) {
            let pdu = try ATTPDU(bytes.span)
            // Each PDU has only one encoding, so a decoded PDU must be encoded to the same bytes.
            guard pdu.encoded == bytes else { return "\(pdu) is written as \(pdu.encoded)" }
            return pdu.opcode.rawValue == bytes[0] ? nil : "another opcode"
        } catch {
            return PacketsEntry.fault(error, bytes.count)
        }
    }
}
