// SPDX-License-Identifier: GPL-2.0-or-later

import Measuring
import Testing

@Suite struct CorpusTests {
    private static let gs1 =
        "01[0-9]{14}17[0-9]{6}10[A-HJ-NP0-9]{7}\u{1D}21[A-HJ-NPa-h0-9]{10}\r\n"
    private static let url = "https://[a-z]{9}[.]example/[a-z0-9-]{8}[?]id=[A-Ha-p0-9]{8}\r\n"
    private static let code128 = "[A-Z0-9./+%-]{8,24}\r"

    @Test(
        "Each corpus consists of whole barcodes of its kind",
        arguments: [
            (Corpus.ean13, "[0-9]{13}\r", "2023118303173\r5660477025295\r"), (.code128, code128, "BQYGL3UFXIZ\r"),
            (.gs1, gs1, "01"), (.url, url, "https://"),
            (.mixed, "[0-9]{13}\r" + code128 + gs1 + url, "2023118303173\r"),
        ]
    )
    func barcodes(_ corpus: Corpus, _ pattern: String, _ beginning: String) throws {
        let bytes = corpus.bytes(6000)
        #expect(bytes.count == 6000 && corpus.bytes(6000) == bytes)
        // Compared as scalars, because CR LF is one character.
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(Array(text.unicodeScalars).starts(with: Array(beginning.unicodeScalars)))
        let barcode = try Regex(pattern).matchingSemantics(.unicodeScalar)
        var rest = Substring(text)
        var lengths: Set<Int> = []
        while let match = rest.prefixMatch(of: barcode) {
            lengths.insert(text.unicodeScalars.distance(from: match.range.lowerBound, to: match.range.upperBound))
            rest = text[match.range.upperBound...]
        }
        #expect(rest.unicodeScalars.count < 150)
        switch corpus {
        case .ean13: #expect(lengths == [14])
        case .code128: #expect(lengths == Set(9...25))
        case .gs1, .url: #expect(lengths == [48])
        default: #expect(lengths.allSatisfy { (119...135).contains($0) })
        }
    }

    @Test("The random corpus has every byte, and a pattern goes on with its beginning")
    func patterns() {
        #expect(Set(Corpus.random.bytes(4096)).count == 256)
        let pattern = Pattern(.ean13)
        #expect(pattern.period == 4096 && pattern.bytes.count == 4352)
        #expect(pattern.bytes == Corpus.ean13.bytes(4096) + Corpus.ean13.bytes(256))
        #expect(Pattern(period: 512).bytes == Corpus.random.bytes(512) + Corpus.random.bytes(256))
    }

    @Test("The generator is SplitMix64")
    func generator() {
        var random = SplitMix(seed: 1_234_567)
        // Published output of the reference implementation for this seed.
        #expect(
            (0..<5).map { _ in random.next() } == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ]
        )
    }
}
