// SPDX-License-Identifier: GPL-2.0-or-later

/// Character code that is typed on the keypad while Alt is held, as on Windows.
///
/// Three digits are a code of OEM code page 437, where 0 to 31 and 127 are control characters; 0 and three more digits
/// are a code of Windows-1252; `+` and one to six hexadecimal digits are a Unicode scalar value. One or two digits are
/// rejected, though Windows accepts them, because they are what remains of a longer code after a lost report.
struct AltCode: Sendable {
    private enum Base: Sendable { case ten, sixteen }

    private let base: Base
    private var value: UInt32 = 0
    private var count = 0
    private var startsWithZero = false
    /// True after a character that is no digit, or too many digits.
    private var isBroken = false

    /// Starts a code with the character of a keypad key; nil if it is neither a digit nor `+`.
    init?(first character: Unicode.Scalar) {
        if character == "+" {
            base = .sixteen
        } else {
            base = .ten
            guard append(character) else { return nil }
            startsWithZero = character == "0"
        }
    }

    /// Adds the next digit; returns false if the character is no digit, or there are too many: the code is then broken.
    ///
    /// nil stands for a key without a character.
    mutating func append(_ character: Unicode.Scalar?) -> Bool {
        guard let digit = character.flatMap(digit), count < (base == .ten ? 4 : 6) else {
            isBroken = true
            return false
        }
        value = value &* (base == .ten ? 10 : 16) &+ digit
        count += 1
        return true
    }

    private func digit(_ character: Unicode.Scalar) -> UInt32? {
        switch character {
        case "0"..."9": character.value - 0x30
        case "A"..."F" where base == .sixteen: character.value - 0x41 + 10
        case "a"..."f" where base == .sixteen: character.value - 0x61 + 10
        default: nil
        }
    }

    /// Character of the code; nil if the digits are no code.
    var character: Unicode.Scalar? {
        guard !isBroken else { return nil }
        switch base {
        case .sixteen: return count > 0 ? Unicode.Scalar(value) : nil
        case .ten where value > 255: return nil
        case .ten where count == 3: return Self.oem(UInt8(truncatingIfNeeded: value))
        case .ten where count == 4 && startsWithZero: return Self.windows(UInt8(truncatingIfNeeded: value))
        case .ten: return nil
        }
    }

    /// Returns the character of OEM code page 437.
    static func oem(_ code: UInt8) -> Unicode.Scalar {
        code < 128 ? Unicode.Scalar(code) : upper437[Int(code) - 128]
    }

    /// Returns the character of Windows-1252; the five codes without one are C1 control characters.
    static func windows(_ code: UInt8) -> Unicode.Scalar {
        (128..<160).contains(code) ? upper1252[Int(code) - 128] : Unicode.Scalar(code)
    }

    private static let upper437 = Array(
        """
        ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»\
        ░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀\
        αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}
        """.unicodeScalars
    )

    private static let upper1252 = Array(
        "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars
    )
}
