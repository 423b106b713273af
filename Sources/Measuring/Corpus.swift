// SPDX-License-Identifier: GPL-2.0-or-later

/// Bytes as barcode readers send them.
public enum Corpus: String, CaseIterable, Sendable {
    /// 13 digits and CR.
    case ean13
    /// 8 … 24 capital letters, digits and signs, and CR.
    case code128
    /// Element strings with group separators, and CR LF.
    case gs1
    /// Addresses in small letters with a few capitals, and CR LF.
    case url
    /// Every byte value.
    case random
    /// Barcodes of the first four kinds in turn.
    case mixed

    /// `count` bytes, always the same.
    public func bytes(_ count: Int) -> [UInt8] {
        var random = SplitMix(seed: 20)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 64)
        while bytes.count < count { append(to: &bytes, &random) }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    private func append(to bytes: inout [UInt8], _ random: inout SplitMix) {
        switch self {
        case .ean13: bytes += Self.pick("0123456789", 13, &random) + [0x0D]
        case .code128:
            let length = Int.random(in: 8...24, using: &random)
            bytes +=
                Self.pick("ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-./+%", length, &random) + [
                    0x0D
                ]
        case .gs1:
            bytes += Array("01".utf8) + Self.pick("0123456789", 14, &random) + Array("17".utf8)
            bytes += Self.pick("0123456789", 6, &random) + Array("10".utf8)
            bytes += Self.pick("ABCDEFGHJKLMNP0123456789", 7, &random) + [0x1D] + Array("21".utf8)
            bytes += Self.pick("ABCDEFGHJKLMNPabcdefgh0123456789", 10, &random) + [0x0D, 0x0A]
        case .url:
            bytes += Array("https://".utf8) + Self.pick("abcdefghijklmnopqrstuvwxyz", 9, &random)
            bytes += Array(".example/".utf8) + Self.pick("abcdefghijklmnopqrstuvwxyz0123456789-", 8, &random)
            bytes += Array("?id=".utf8) + Self.pick("ABCDEFGHabcdefghijklmnop0123456789", 8, &random) + [0x0D, 0x0A]
        case .random:
            bytes += (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        case .mixed:
            for corpus in [Corpus.ean13, .code128, .gs1, .url] { corpus.append(to: &bytes, &random) }
        }
    }

    private static func pick(_ characters: String, _ count: Int, _ random: inout SplitMix) -> [UInt8] {
        let choices = Array(characters.utf8)
        return (0..<count).map { _ in choices[Int.random(in: choices.indices, using: &random)] }
    }
}

/// The bytes that contenders send again and again: `period` of them, followed by the same once more for chunks that
/// reach beyond.
public struct Pattern: Sendable {
    /// The bytes.
    public let bytes: [UInt8]
    /// The number of bytes after which they repeat, a power of two.
    public let period: Int

    /// A pattern of a corpus.
    public init(_ corpus: Corpus = .random, period: Int = 4096) {
        let once = corpus.bytes(period)
        bytes = once + once.prefix(256)
        self.period = period
    }
}
