// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// One PDU.
enum ATTEntry {
    static func fault(in bytes: [UInt8]) -> String? {
        do throws(DecodingError) {
            let pdu = try ATTPDU(bytes.span)
            // A layout has one form: what was read is written as it was.
            guard pdu.encoded == bytes else { return "\(pdu) is written as \(pdu.encoded)" }
            return pdu.opcode.rawValue == bytes[0] ? nil : "another opcode"
        } catch {
            return PacketsEntry.fault(error, bytes.count)
        }
    }
}
