// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import Testing
import Typing

@testable import LinuxIO

@Suite("Layouts that differ")
struct LayoutDifferenceTests {
    /// Returns the levels of a console keymap with the strokes of a layout.
    private func levels(_ layout: KeyboardLayout) -> [ConsoleKeymap.Level] {
        layout.strokes.map { character, strokes in
            ConsoleKeymap.Level(
                key: strokes[0].key.rawValue,
                shift: strokes[0].modifiers.contains(.shift),
                altGr: false,
                output: .character(character.value)
            )
        }
    }

    @Test("X-6: a layout does not differ from its own map")
    func same() {
        for layout in [KeyboardLayout.us, .jp, .jpYen] {
            #expect(LayoutDifference.between(layout, levels(layout)).isEmpty)
        }
    }

    @Test("X-6: on a Japanese console the US layout types wrong signs but correct letters")
    func japanese() {
        let differences = LayoutDifference.between(.us, levels(.jp))
        #expect(differences.contains(LayoutDifference(meant: "@", given: "\"")))
        #expect(differences.contains(LayoutDifference(meant: "[", given: "@")))
        #expect(!differences.contains { $0.meant.properties.isAlphabetic || ("0"..."9").contains($0.meant) })
    }

    @Test("X-6: on a console without a keymap no character can be typed")
    func empty() {
        let differences = LayoutDifference.between(.us, [])
        #expect(differences.count == 95)
        #expect(differences.allSatisfy { $0.given == nil })
    }
}
