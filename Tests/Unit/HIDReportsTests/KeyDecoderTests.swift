// SPDX-License-Identifier: GPL-2.0-or-later

import HIDReports
import Keystrokes
import TestSupport
import Testing

@Suite("Keys to text")
struct KeyDecoderTests {
    @Test("Every vector of Tests/Vectors/hid-keys.txt: text and account")
    func vectors() throws {
        let all = try KeyConversation.all()
        #expect(all.count > 90)
        for conversation in all {
            #expect(try conversation.play() == [], "\(conversation.name)")
        }
    }

    private static func decode(_ reports: [BootReport], _ decoder: KeyDecoder) -> (String, KeyAccount) {
        var decoder = decoder
        var text: [UInt8] = []
        for report in reports { _ = decoder.decode(report.reading, into: &text) }
        let account = decoder.account
        #expect(account.sum == UInt64(reports.count) && account.reports == UInt64(reports.count))
        #expect(account.bytes == UInt64(text.count))
        let decoded = String(decoding: text, as: UTF8.self)
        #expect(account.characters == UInt64(decoded.unicodeScalars.count))
        return (decoded, account)
    }

    @Test(
        "Every character of every layout comes back as itself",
        arguments: BuiltInLayout.allCases,
        ScannerKeys.Releases.allCases
    )
    func allCharacters(_ builtIn: BuiltInLayout, _ releases: ScannerKeys.Releases) throws {
        var settings = KeyDecoder.Settings()
        settings.layout = builtIn
        settings.repeatsOnShiftChange = releases == .whereNeeded
        for capsLock in [false, true] {
            settings.capsLock = capsLock ? .assumesOn : .taps
            let decoder = KeyDecoder(settings)
            let keys = ScannerKeys(builtIn, capsLock: capsLock)
            var characters = keys.characters
            #expect(characters.count >= 95)
            var random = SeededGenerator(seed: 37)
            for _ in 0..<3 {
                let (text, account) = Self.decode(try #require(keys.reports(characters, releases)), decoder)
                #expect(text.unicodeScalars.elementsEqual(characters))
                #expect(account[.ambiguous] + account[.unknownUsage] + account[.shortcut] + account.dropped == 0)
                characters = (characters + characters.shuffled(using: &random)).shuffled(using: &random)
            }
        }
    }

    @Test("All 128 codes of ASCII in every layout, 95 of them printable", arguments: BuiltInLayout.allCases)
    func ascii(_ builtIn: BuiltInLayout) throws {
        var settings = KeyDecoder.Settings()
        settings.layout = builtIn
        let decoder = KeyDecoder(settings)
        let keys = ScannerKeys(builtIn)
        var typed = 0
        for code in UInt8(0)..<128 {
            guard let reports = keys.reports([Unicode.Scalar(code)]) else { continue }
            #expect(Self.decode(reports, decoder).0 == String(Unicode.Scalar(code)), "\(code)")
            typed += 1
        }
        // RS and US need a key for ^ and _ that is no dead key; Alt codes (AltCodeTests) make all 128.
        #expect(typed >= 127, "\(typed)")
    }

    @Test("4,000 reports in a row")
    func manyReports() throws {
        let barcode = "]d201049012345678941724\u{1D}AbZ-9/+\r".unicodeScalars
        let text = Array(repeatElement(barcode, count: 63).joined().prefix(2000))
        let reports = try #require(ScannerKeys(.us).reports(text)?.dropLast())
        #expect(reports.count == 4000)
        let (decoded, account) = Self.decode(Array(reports), KeyDecoder())
        #expect(decoded.unicodeScalars.elementsEqual(text))
        #expect(account[.typed] == 2000 && account[.release] == 2000)
    }

    @Test("Every random report has one outcome, and the text is what the account says")
    func randomReports() {
        var random = SeededGenerator(seed: 37)
        let contents: [ReportReading.Content] = [.rollOver, .noKeys, .unknownReport]
        let lengths: [ReportReading.Length] = [.asDeclared, .shorter, .longer]
        var seen: Set<ReportOutcome> = []
        for builtIn in BuiltInLayout.allCases {
            var settings = KeyDecoder.Settings()
            settings.layout = builtIn
            settings.capsLock = CapsLockHabit.allCases.randomElement(using: &random) ?? .taps
            settings.numLock = Bool.random(using: &random)
            settings.repeatsOnShiftChange = Bool.random(using: &random)
            settings.groupSeparatorKey = 0x41
            var decoder = KeyDecoder(settings)
            var text: [UInt8] = []
            var outcomes: [ReportOutcome: UInt64] = [:]
            var held: [UInt16] = []
            var wrong = 0
            for _ in 0..<7000 {
                var content = contents.randomElement(using: &random) ?? .noKeys
                if Int.random(in: 0..<20, using: &random) > 0 {
                    let keys =
                        UInt16.random(in: 0..<4, using: &random) == 0 ? 0...0xFFFF : 4...0xFF as ClosedRange<UInt16>
                    held = held.filter { _ in Bool.random(using: &random) }
                    held += (0..<Int.random(in: 0..<3, using: &random)).map { _ in .random(in: keys, using: &random) }
                    if Bool.random(using: &random) { held.append(.random(in: 0xE0...0xE7, using: &random)) }
                    if Bool.random(using: &random) { held.append(.random(in: 0x54...0x63, using: &random)) }
                    content = .keys(HeldKeys(held))
                }
                if Int.random(in: 0..<100, using: &random) == 0 { decoder.linkLost() }
                let before = text.count
                let length = lengths.randomElement(using: &random) ?? .asDeclared
                let outcome = decoder.decode(ReportReading(content: content, length: length), into: &text)
                outcomes[outcome, default: 0] += 1
                if (outcome == .typed) != (text.count > before) { wrong += 1 }
            }
            let account = decoder.account
            #expect(wrong == 0)
            #expect(account.reports == 7000 && account.sum == 7000)
            for outcome in ReportOutcome.allCases { #expect(account[outcome] == outcomes[outcome] ?? 0) }
            #expect(account.bytes == UInt64(text.count))
            let decoded = String(validating: text, as: UTF8.self)
            #expect(decoded.map { UInt64($0.unicodeScalars.count) } == account.characters)
            seen.formUnion(outcomes.keys)
        }
        #expect(seen == Set(ReportOutcome.allCases))
    }

    @Test("Usages above FF have no character, and share one place")
    func usagesAboveFF() {
        var decoder = KeyDecoder()
        var text: [UInt8] = []
        var outcomes: [ReportOutcome] = []
        for keys in [[0x104], [0x104, 0x105], [0x1E1], [0x1E1, 0x04], [0x04], [0x04, 0xFFFF], []] as [[UInt16]] {
            let reading = ReportReading(content: .keys(HeldKeys(keys)), length: .asDeclared)
            outcomes.append(decoder.decode(reading, into: &text))
        }
        #expect(outcomes == [.unknownUsage, .unchanged, .unchanged, .typed, .release, .unknownUsage, .release])
        #expect(text == Array("a".utf8))
    }

    @Test("Every usage is a key of its own: pressed once, released once")
    func everyUsage() {
        var decoder = KeyDecoder()
        for usage in UInt16(4)...0xFF where !(0xE0...0xE7).contains(usage) {
            var text: [UInt8] = []
            let others = (UInt16(4)...0xFF).filter { $0 != usage && !(0xE0...0xE7).contains($0) }
            var outcomes: [ReportOutcome] = []
            for keys in [others, others + [usage], [usage] + others, others, []] {
                let before = text.count
                let reading = ReportReading(content: .keys(HeldKeys(keys)), length: .asDeclared)
                outcomes.append(decoder.decode(reading, into: &text))
                if keys.count == 251 - 0xE7 + 0xE0 { #expect(text.count - before <= 1) }
            }
            #expect(outcomes[1] != .unchanged && outcomes[1] != .release, "usage \(usage)")
            #expect(outcomes[2...] == [.unchanged, .release, .release], "usage \(usage)")
        }
    }
}
