// SPDX-License-Identifier: GPL-2.0-or-later

import HIDReports
import Keystrokes
import TestSupport

/// Vector of Tests/Vectors/hid-keys.txt, in the notation described there.
struct KeyConversation {
    /// Line that is not in the notation.
    struct Unreadable: Error {
        var line: Int
    }

    var name: String
    var lines: [(number: Int, text: String)] = []

    static func all() throws -> [KeyConversation] {
        var all: [KeyConversation] = []
        for line in try VectorFile.lines("hid-keys.txt") {
            if line.text.hasPrefix("== ") {
                all.append(KeyConversation(name: String(line.text.dropFirst(3))))
            } else {
                guard !all.isEmpty else { throw Unreadable(line: line.number) }
                all[all.count - 1].lines.append(line)
            }
        }
        return all
    }

    /// Plays the conversation; returns the lines that differ from what was expected.
    func play() throws -> [String] {
        var settings = KeyDecoder.Settings()
        var map: ReportMap?
        let reports = try lines.drop { line in
            try Self.set(line.text, &settings, &map, Unreadable(line: line.number))
        }
        var decoder = KeyDecoder(settings)
        var reader = map.map(ReportReader.init)
        var length = ReportReading.Length.asDeclared
        var text: [UInt8] = []
        var differences: [String] = []
        for (number, line) in reports {
            let words = line.split(separator: " ", maxSplits: 1)
            let rest = words.count > 1 ? String(words[1]) : ""
            switch words[0] {
            case "<", "*":
                var reading: ReportReading
                if let boot = BootReport(rest) {
                    reading = ReportReading(content: .keys(boot.held), length: length)
                } else if let content = Self.contents[rest] {
                    reading = ReportReading(content: content, length: length)
                } else {
                    guard let bytes = Self.report(rest) else { throw Unreadable(line: number) }
                    let payload = bytes.payload.span
                    guard let read = reader?.read(payload, id: bytes.id) else { throw Unreadable(line: number) }
                    reading = read
                }
                length = .asDeclared
                var outcomes = [decoder.decode(reading, into: &text)]
                if words[0] == "*" {
                    reading = ReportReading(content: .keys(HeldKeys([])), length: .asDeclared)
                    outcomes.append(decoder.decode(reading, into: &text))
                }
            case "shorter": length = .shorter
            case "longer": length = .longer
            case "link":
                decoder.linkLost()
                reader = map.map(ReportReader.init)
            case ">":
                guard let expected = Self.text(rest) else { throw Unreadable(line: number) }
                if text != expected {
                    differences.append("line \(number): \(Hexadecimal.text(text)) for \(Hexadecimal.text(expected))")
                }
                text = []
            case "=":
                let account = Self.text(of: decoder.account)
                if Self.parts(account) != Self.parts(rest) { differences.append("line \(number): \(account)") }
            default: throw Unreadable(line: number)
            }
            if decoder.account.sum != decoder.account.reports { differences.append("line \(number): sum") }
        }
        if !text.isEmpty { differences.append("\(name): text at the end") }
        return differences
    }

    private static let contents: [String: ReportReading.Content] = [
        "roll-over": .rollOver, "no-keys": .noKeys, "unknown": .unknownReport,
    ]

    /// Applies a line with a setting; returns false for the first line of the reports.
    private static func set(
        _ line: String,
        _ settings: inout KeyDecoder.Settings,
        _ map: inout ReportMap?,
        _ unreadable: Unreadable
    ) throws -> Bool {
        let words = line.split(separator: " ", maxSplits: 1)
        let value = words.count > 1 ? String(words[1]) : ""
        switch words[0] {
        case "layout":
            guard let layout = BuiltInLayout(rawValue: value) else { throw unreadable }
            settings.layout = layout
        case "caps-lock":
            guard let habit = CapsLockHabit(rawValue: value) else { throw unreadable }
            settings.capsLock = habit
        case "gs-key":
            guard let usage = UInt16(value, radix: 16) else { throw unreadable }
            settings.groupSeparatorKey = usage
        case "repeats": settings.repeatsOnShiftChange = true
        case "num-lock": settings.numLock = value != "off"
        case "map":
            guard let bytes = VectorFile.bytes(value) else { throw unreadable }
            map = try ReportMap(bytes)
        default: return false
        }
        return true
    }

    /// Returns the report of a map: an ID in brackets, and bytes.
    private static func report(_ text: String) -> (id: UInt8, payload: [UInt8])? {
        guard text.first == "[", let end = text.firstIndex(of: "]") else { return nil }
        let id = UInt8(text[text.index(after: text.startIndex)..<end], radix: 16)
        let payload = VectorFile.bytes(text[text.index(after: end)...])
        guard let id, let payload else { return nil }
        return (id, payload)
    }

    /// Returns the bytes of `"text"` and hexadecimal digits.
    private static func text(_ line: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        for (place, part) in line.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            if place % 2 == 1 {
                bytes += Array(part.utf8)
            } else {
                guard let digits = VectorFile.bytes(part) else { return nil }
                bytes += digits
            }
        }
        return bytes
    }

    /// Returns an account in the notation of the vectors.
    private static func text(of account: KeyAccount) -> String {
        let outcomes = ReportOutcome.allCases.map { (account[$0], "\($0)") }
        let others = [(account.shorter, "shorter"), (account.longer, "longer"), (account.dropped, "dropped")]
        let counts = (outcomes + others).filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return "\(account.reports) reports: " + counts.joined(separator: ", ")
    }

    private static func parts(_ account: String) -> [Substring] {
        account.split { [":", ";", ","].contains($0) }.map { $0.drop { $0 == " " } }.sorted()
    }
}

/// Report of a boot keyboard: `MM:KK KK`, modifiers and up to six keys in hexadecimal digits (HID 1.11, B.1).
struct BootReport {
    var modifiers: UInt8
    var keys: [UInt8]

    init(modifiers: UInt8 = 0, keys: [UInt8] = []) {
        self.modifiers = modifiers
        self.keys = keys
    }

    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let modifiers = UInt8(parts[0], radix: 16), let keys = VectorFile.bytes(parts[1]),
            keys.count <= 6
        else { return nil }
        self.init(modifiers: modifiers, keys: keys)
    }

    /// Keys of this report, as a reader of the boot keyboard's map returns them.
    var held: HeldKeys {
        let modifiers = (0..<8).filter { self.modifiers & 1 << $0 != 0 }.map { UInt16(0xE0 + $0) }
        return HeldKeys(modifiers + keys.filter { $0 > 3 }.map(UInt16.init))
    }

    var reading: ReportReading { ReportReading(content: .keys(held), length: .asDeclared) }
}

enum Hexadecimal {
    static func text(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: " ")
    }
}
