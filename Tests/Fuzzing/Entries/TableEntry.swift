// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Keystrokes

/// The input is the text of a byte table; writing and parsing an accepted table must not change it.
enum TableEntry {
    static func fault(in bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(ByteTable.TextError) {
            let table = try ByteTable(text: text)
            var written = ""
            for byte in UInt8.min...UInt8.max { written += "0x\(Hexadecimal.text([byte])) = \(table[byte])\n" }
            let again = try ByteTable(text: written)
            guard (UInt8.min...UInt8.max).allSatisfy({ again[$0] == table[$0] }) else {
                return "written as another table"
            }
            return compiled(table)
        } catch {
            let count = text.unicodeScalars.count + 1
            return error.line >= 1 && error.column >= 1 && error.column <= count && !error.reason.isEmpty
                ? nil : "no place: \(error)"
        }
    }

    /// Checks that a compiled table presses only keys that it declares, and no forbidden ones.
    private static func compiled(_ table: ByteTable) -> String? {
        do throws(CompiledTable.Failure) {
            let compiled = try CompiledTable(table)
            guard compiled.longestByte <= CompiledTable.mostEvents else {
                return "a byte of \(compiled.longestByte) events"
            }
            return compiled.keys.forbidden.map { "\($0)" }
        } catch {
            return error.description.isEmpty ? "no reason" : nil
        }
    }
}
