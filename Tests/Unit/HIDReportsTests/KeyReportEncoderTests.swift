// SPDX-License-Identifier: GPL-2.0-or-later

import HIDReports
import Keystrokes
import Testing

@Suite("Encoder of keyboard reports")
struct KeyReportEncoderTests {
    /// Returns the reports of a text as hexadecimal modifiers and key.
    private func words(_ text: String, _ releases: KeyReportEncoder.Releases = .afterEveryKey) -> [String] {
        var reports: [[UInt8]] = []
        _ = KeyReportEncoder(releases: releases).append(text.unicodeScalars, to: &reports)
        return reports.map { report in
            #expect(report.count == KeyReportEncoder.reportLength && report.dropFirst(3).allSatisfy { $0 == 0 })
            return "\(String(report[0], radix: 16)):\(String(report[2], radix: 16))"
        }
    }

    @Test("Letters, digits, punctuation, Tab and Enter have the usages and the Shift of a US keyboard")
    func usages() {
        #expect(words("aZ") == ["0:4", "0:0", "2:1d", "0:0"])
        #expect(words("10") == ["0:1e", "0:0", "0:27", "0:0"])
        #expect(words("-_") == ["0:2d", "0:0", "2:2d", "0:0"])
        #expect(words("*/") == ["2:25", "0:0", "0:38", "0:0"], "the main block precedes the keypad")
        #expect(words("\t\r") == ["0:2b", "0:0", "0:28", "0:0"])
        #expect(words("\u{1D}") == ["0:9f", "0:0"])
    }

    @Test("Characters of AltGr have its modifier")
    func altGr() {
        var reports: [[UInt8]] = []
        #expect(KeyReportEncoder(.de).append("@{".unicodeScalars, to: &reports) == 0)
        #expect(reports.map { Array($0.prefix(3)) } == [[0x40, 0, 0x14], [0, 0, 0], [0x40, 0, 0x24], [0, 0, 0]])
    }

    @Test("With few releases, only equal keys with equal modifiers are released between them")
    func fewReleases() {
        #expect(words("12", .whereNeeded) == ["0:1e", "0:1f", "0:0"])
        #expect(words("11", .whereNeeded) == ["0:1e", "0:0", "0:1e", "0:0"])
        #expect(words("aA", .whereNeeded) == ["0:4", "2:4", "0:0"])
    }

    @Test("Characters without a key are omitted and counted")
    func omitted() {
        var reports: [[UInt8]] = []
        let encoder = KeyReportEncoder()
        #expect(encoder.append("1é\n2".unicodeScalars, to: &reports) == 2)
        #expect(reports.count == 4)
        #expect(encoder.append("é".unicodeScalars, to: &reports) == 1)
        #expect(reports.count == 4, "a text without keys has no report")
        #expect(!encoder.canType("\n") && encoder.canType("\r"))
    }

    @Test("The decoder reads every character back, in every layout", arguments: BuiltInLayout.allCases)
    func decoded(_ layout: BuiltInLayout) throws {
        let map = try ReportMap(Self.bootMap)
        for releases in KeyReportEncoder.Releases.allCases {
            let encoder = KeyReportEncoder(layout, releases: releases)
            var text = String.UnicodeScalarView((0...0x2FF).compactMap(Unicode.Scalar.init).filter(encoder.canType))
            #expect(text.count > 70)
            text.append(contentsOf: text.reversed())
            var reports: [[UInt8]] = []
            #expect(encoder.append(text, to: &reports) == 0)
            var settings = KeyDecoder.Settings()
            settings.layout = layout
            settings.repeatsOnShiftChange = releases == .whereNeeded
            var decoder = KeyDecoder(settings)
            var reader = ReportReader(map)
            var decoded: [UInt8] = []
            for report in reports { _ = decoder.decode(reader.read(report.span, id: 0), into: &decoded) }
            #expect(String(decoding: decoded, as: UTF8.self) == String(text), "\(releases)")
        }
    }

    /// Report map of a boot keyboard whose array has all usages up to DD.
    private static let bootMap: [UInt8] = [
        0x05, 0x01, 0x09, 0x06, 0xA1, 0x01, 0x05, 0x07, 0x19, 0xE0, 0x29, 0xE7, 0x15, 0x00, 0x25, 0x01, 0x75, 0x01,
        0x95, 0x08, 0x81, 0x02, 0x95, 0x01, 0x75, 0x08, 0x81, 0x01, 0x95, 0x06, 0x26, 0xDD, 0x00, 0x19, 0x00, 0x29,
        0xDD, 0x81, 0x00, 0xC0,
    ]
}
