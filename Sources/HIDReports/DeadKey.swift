// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes

/// Characters that a dead key, identified by its combining mark, makes with the next character.
enum DeadKey {
    /// Returns the character that the dead key makes with `base`; nil if there is none.
    ///
    /// With the space, it is the spacing form of the mark, as on Windows; X makes an apostrophe of the acute accent,
    /// and quotation marks of the diaeresis.
    static func composed(_ mark: Unicode.Scalar, _ base: Unicode.Scalar) -> Unicode.Scalar? {
        base == " " ? spacing(mark) : compositions[Pair(mark: mark, base: base)]
    }

    /// Returns the spacing form of a mark; the mark itself if it has none.
    static func spacing(_ mark: Unicode.Scalar) -> Unicode.Scalar {
        switch mark {
        case "\u{300}": "`"
        case "\u{301}": "´"
        case "\u{302}": "^"
        case "\u{303}": "~"
        case "\u{304}": "¯"
        case "\u{306}": "˘"
        case "\u{307}": "˙"
        case "\u{308}": "¨"
        case "\u{30A}": "˚"
        case "\u{30B}": "˝"
        case "\u{30C}": "ˇ"
        case "\u{327}": "¸"
        case "\u{328}": "˛"
        default: mark
        }
    }

    private struct Pair: Hashable {
        var mark: Unicode.Scalar
        var base: Unicode.Scalar
    }

    private static let compositions: [Pair: Unicode.Scalar] = {
        var results: [Pair: Unicode.Scalar] = [:]
        for composition in KeyboardLayout.unicodeCompositions {
            results[Pair(mark: composition.dead, base: composition.base)] = composition.result
        }
        return results
    }()
}
