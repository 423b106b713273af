// SPDX-License-Identifier: GPL-2.0-or-later

/// Sample data in the format sent by barcode readers.
public enum Corpus: String, CaseIterable, Sendable {
    /// 13 digits followed by CR.
    case ean13
    /// 8 … 24 uppercase letters, digits and punctuation marks, followed by CR.
    case code128
    /// GS1 element strings with group separators, followed by CR LF.
    case gs1
    /// URLs in lowercase with a few uppercase letters, followed by CR LF.
    case url
    case random
    /// Barcodes of the first four kinds in rotation.
    case mixed

    /// Returns `count` bytes, which are the same on every call.
    public func bytes(_ count: Int) -> [UInt8] {
        var random = SplitMix(seed: 20)
        var bytes: [UInt8] = []
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
        case .random: bytes.append(.random(in: .min ... .max, using: &random))
        case .mixed:
            for corpus in [Corpus.ean13, .code128, .gs1, .url] { corpus.append(to: &bytes, &random) }
        }
    }

    private static func pick(_ characters: String, _ count: Int, _ random: inout SplitMix) -> [UInt8] {
        let choices = Array(characters.utf8)
        return (0..<count).map { _ in choices[Int.random(in: choices.indices, using: &random)] }
    }
}

/// Bytes that contenders send repeatedly.
///
/// The first `period` bytes are followed by a copy of their beginning, for chunks that extend past the period.
public struct Pattern: Sendable {
    /// One period, followed by a copy of its beginning.
    public let bytes: [UInt8]
    /// Number of bytes after which the pattern repeats; a power of two.
    public let period: Int

    /// Creates a pattern from a corpus.
    public init(_ corpus: Corpus = .random, period: Int = 4096) {
        let once = corpus.bytes(period)
        bytes = once + once.prefix(256)
        self.period = period
    }
}

/// Deterministic random number generator (SplitMix64).
public struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator whose numbers are determined by `seed`.
    public init(seed: UInt64) {
        state = seed
    }

    /// Returns the next random number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value &>> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value &>> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value &>> 31
    }
}

/// Determines the amount of work that takes a given time.
package enum Calibration {
    /// Returns the number of units that take about `span` nanoseconds, extrapolated from runs that double in size.
    ///
    /// The count passed to `run` never exceeds 2^33 or `Count.max`, even if the units seem to take no time.
    package static func units<Count: FixedWidthInteger, Failure: Error>(
        span: Int64,
        _ run: (_ count: Count) throws(Failure) -> Int64
    ) throws(Failure) -> Count {
        var count: Count = 64
        while true {
            let time = try run(count)
            let (twice, isTooLarge) = count.multipliedReportingOverflow(by: 2)
            if time >= span / 4 || isTooLarge || Int64(clamping: count) > Int64(1) << 32 {
                let wanted = Double(count) * Double(span) / Double(max(1, time))
                return wanted < Double(Count.max) ? max(64, Count(wanted)) : .max
            }
            count = twice
        }
    }
}
