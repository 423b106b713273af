// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes

@testable import HIDReports

/// Reports of a boot keyboard that type a text in a layout, as a scanner makes them.
struct ScannerKeys {
    /// When the scanner sends a report without keys.
    enum Releases: CaseIterable {
        /// After every key.
        case always
        /// Between equal usages with equal modifiers, and at the end (Adafruit `keySequence`).
        case whereNeeded
        /// After every key, with Shift and AltGr in reports of their own before and after it.
        case withModifiersApart
    }

    private let layout: KeyboardLayout
    private let capsLock: Bool

    init(_ layout: BuiltInLayout, capsLock: Bool = false) {
        self.layout = KeyboardLayout(layout)
        self.capsLock = capsLock
    }

    /// Characters that the layout can type, in the order of their numbers.
    var characters: [Unicode.Scalar] {
        (capsLock ? layout.capsLockStrokes : layout.strokes).keys.sorted()
    }

    /// Returns the reports of a text; nil if the layout has no keys for a character.
    func reports(_ text: some Sequence<Unicode.Scalar>, _ releases: Releases = .always) -> [BootReport]? {
        var reports: [BootReport] = []
        var last: BootReport?
        for character in text {
            guard let strokes = strokes(for: character) else { return nil }
            for (usage, modifiers) in strokes {
                let report = BootReport(modifiers: modifiers, keys: [usage])
                switch releases {
                case .always: reports += [report, BootReport()]
                case .whereNeeded:
                    if let last, last.modifiers == modifiers, last.keys == [usage] { reports.append(BootReport()) }
                    reports.append(report)
                case .withModifiersApart where modifiers == 0: reports += [report, BootReport()]
                case .withModifiersApart:
                    reports += [
                        BootReport(modifiers: modifiers), report, BootReport(modifiers: modifiers), BootReport(),
                    ]
                }
                last = report
            }
        }
        return reports + [BootReport()]
    }

    private func strokes(for character: Unicode.Scalar) -> [(usage: UInt8, modifiers: UInt8)]? {
        switch character {
        case "\r": return [(0x28, 0)]
        case "\u{1B}": return [(0x29, 0)]
        case "\u{08}": return [(0x2A, 0)]
        case "\t": return [(0x2B, 0)]
        case "\u{7F}": return [(0x4C, 0)]
        case "\u{00}"..."\u{1F}": return control(UInt8(character.value)).map { [$0] }
        default:
            return layout.strokes(for: character, capsLock: capsLock)?.compactMap { stroke in
                guard let usage = DeviceLayout.usages[stroke.key]?.first else { return nil }
                let shift: UInt8 = stroke.modifiers.contains(.shift) ? 0x02 : 0
                let altGr: UInt8 = stroke.modifiers.contains(.altGr) ? 0x40 : 0
                return (UInt8(usage), shift | altGr)
            }
        }
    }

    /// Returns the key with Ctrl: a letter of the layout, or a sign that is a key of its own.
    private func control(_ code: UInt8) -> (usage: UInt8, modifiers: UInt8)? {
        for character in [code | 0x60, code | 0x40].map(Unicode.Scalar.init) {
            guard let strokes = strokes(for: character), strokes.count == 1, ("@"..."z").contains(character),
                character != "`"
            else { continue }
            return (strokes[0].usage, strokes[0].modifiers | 0x01)
        }
        return nil
    }
}
