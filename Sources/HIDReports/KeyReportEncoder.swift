// SPDX-License-Identifier: GPL-2.0-or-later

public import Keystrokes

/// Encoder of text as the input reports of a boot keyboard: the reverse of `ReportReader` and `KeyDecoder`.
///
/// A report has 8 bytes: the modifiers (bit 0 for usage E0 and so on), a reserved byte, and the usages of up to six held
/// keys of page 07, of which only the first is used. HID 1.11, B.1.
public struct KeyReportEncoder: Sendable {
    /// Rule for the reports without keys.
    public enum Releases: Sendable, CaseIterable {
        /// After every key.
        case afterEveryKey
        /// Only between two equal keys with equal modifiers, and at the end of the text.
        case whereNeeded
    }

    /// Key with its modifiers, as in a report.
    private struct Stroke: Equatable {
        var usage: UInt8
        var modifiers: UInt8
    }

    /// Length of a report in bytes.
    public static let reportLength = 8
    /// Report in which no key is held.
    public static let release = [UInt8](repeating: 0, count: reportLength)
    /// Usages of page 07 that have characters: from A to the last key of the keypad (HID Usage Tables 1.5, 10).
    private static let usages: ClosedRange<UInt8> = 0x04...0xDD
    private static let leftShift: UInt8 = 0x02
    private static let rightAlt: UInt8 = 0x40

    private let strokes: [Unicode.Scalar: Stroke]
    private let releases: Releases

    /// Creates the encoder of a keyboard that is set for a layout.
    public init(_ layout: BuiltInLayout = .us, releases: Releases = .afterEveryKey) {
        let table = DeviceLayout(layout)
        var strokes: [Unicode.Scalar: Stroke] = [:]
        // The first of several keys with a character is used, so that the main block precedes the keypad.
        for usage in Self.usages {
            for modifiers in [0, Self.leftShift, Self.rightAlt, Self.leftShift | Self.rightAlt] {
                let altGr = modifiers & Self.rightAlt != 0
                guard table.hasAltGr || !altGr else { continue }
                let output = table.output(
                    of: UInt16(usage),
                    shift: modifiers & Self.leftShift != 0,
                    altGr: altGr,
                    capsLock: false,
                    numLock: true
                )
                guard case .character(let character)? = output, strokes[character] == nil else { continue }
                strokes[character] = Stroke(usage: usage, modifiers: modifiers)
            }
        }
        self.strokes = strokes
        self.releases = releases
    }

    /// Returns true if the keyboard has a key for the character; `\r` is Enter, and `\t` is Tab.
    public func canType(_ character: Unicode.Scalar) -> Bool { strokes[character] != nil }

    /// Appends the reports that type a text, the last one without keys, and returns the number of omitted characters.
    ///
    /// Characters without a key are omitted; for a text of such characters, no report is appended.
    public func append(_ text: some Sequence<Unicode.Scalar>, to reports: inout [[UInt8]]) -> Int {
        var omitted = 0
        var last: Stroke?
        for character in text {
            guard let stroke = strokes[character] else {
                omitted += 1
                continue
            }
            if let last, releases == .afterEveryKey || last == stroke { reports.append(Self.release) }
            var report = Self.release
            report[0] = stroke.modifiers
            report[2] = stroke.usage
            reports.append(report)
            last = stroke
        }
        if last != nil { reports.append(Self.release) }
        return omitted
    }
}
