// SPDX-License-Identifier: GPL-2.0-or-later

/// The bytes that end a barcode, as text: names and numbers separated by commas, or `none`.
package enum TerminatorText {
    /// The description of the form, for messages.
    package static let form = "names (cr, lf, tab, etx, gs …) or numbers such as 0x03 with commas between them, or none"

    /// Reads the bytes; nil for any other text.
    package static func bytes(_ text: String) -> Set<UInt8>? {
        guard text != "none" else { return [] }
        var bytes: Set<UInt8> = []
        for word in text.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
            guard let byte = byte(word) else { return nil }
            bytes.insert(byte)
        }
        return bytes
    }

    /// The shortest text that `bytes` reads as these bytes.
    package static func text(_ bytes: Set<UInt8>) -> String {
        guard !bytes.isEmpty else { return "none" }
        return bytes.sorted().map { byte in
            names.first { $0.byte == byte }?.name ?? "0x" + String(byte, radix: 16)
        }.joined(separator: ",")
    }

    private static func byte(_ word: Substring) -> UInt8? {
        if let named = names.first(where: { $0.name == word }) { return named.byte }
        guard word.hasPrefix("0x"), word.utf8.count <= 4, !word.contains("+") else { return nil }
        return UInt8(word.dropFirst(2), radix: 16)
    }

    /// The ASCII names of control characters.
    ///
    /// If a byte has two, the first is the one that is written.
    private static let names: [(name: String, byte: UInt8)] = [
        ("nul", 0), ("soh", 1), ("stx", 2), ("etx", 3), ("eot", 4), ("tab", 9), ("ht", 9), ("lf", 10), ("cr", 13),
        ("etb", 23), ("esc", 27), ("fs", 28), ("gs", 29), ("rs", 30), ("us", 31), ("space", 32),
    ]
}
