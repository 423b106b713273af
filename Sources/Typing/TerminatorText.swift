// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes

/// The bytes that end a barcode, as text: names and numbers separated by commas, or `none`.
package enum TerminatorText {
    /// The description of the form, for messages.
    package static let form = "names (cr, lf, tab, etx, gs …) or numbers such as 0x03 with commas between them, or none"

    /// Reads the bytes; nil for any other text.
    package static func bytes(_ text: String) -> Set<UInt8>? {
        guard text != "none" else { return [] }
        var bytes: Set<UInt8> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let byte = ByteName.byte(word) else { return nil }
            bytes.insert(byte)
        }
        return bytes
    }

    /// The shortest text that `bytes` reads as these bytes.
    package static func text(_ bytes: Set<UInt8>) -> String {
        guard !bytes.isEmpty else { return "none" }
        return bytes.sorted().map { byte in
            ByteName.name(of: byte) ?? "0x" + String(byte, radix: 16)
        }.joined(separator: ",")
    }
}
