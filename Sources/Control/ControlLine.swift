// SPDX-License-Identifier: GPL-2.0-or-later

/// Syntax of a line on the control socket (D-9).
///
/// Words are separated by spaces. A word in quotation marks may contain spaces, or be empty; inside it, `\"` and `\\`
/// stand for the characters themselves, `\n` for a line feed, and `\xHH` for any byte. Other control characters are not
/// allowed.
package enum ControlLine {
    /// Maximum length of a line in bytes, without its line feed.
    package static let mostBytes = 4096

    /// Splits a line, given without its line feed, into words.
    package static func words(_ line: [UInt8]) throws(ControlFault) -> [[UInt8]] {
        guard line.count <= mostBytes else { throw ControlFault(1, "the request is longer than \(mostBytes) bytes") }
        guard String(validating: line, as: UTF8.self) != nil else { throw ControlFault(1, "the request is not UTF-8") }
        var words: [[UInt8]] = []
        var rest = line[...]
        while true {
            rest = rest.drop { $0 == space }
            guard let first = rest.first else { return words }
            let number = words.count + 1
            words.append(first == quotationMark ? try quoted(&rest, number) : try plain(&rest, number))
        }
    }

    /// Returns a word in the syntax of a line, in quotation marks if necessary.
    package static func written(_ word: some Sequence<UInt8>) -> String {
        let bytes = Array(word)
        let isText = String(validating: bytes, as: UTF8.self) != nil
        let isPlain = bytes.allSatisfy { $0 > space && $0 != delete && $0 != quotationMark }
        guard bytes.isEmpty || !isPlain || !isText else { return String(decoding: bytes, as: UTF8.self) }
        // If the word is not valid UTF-8, all bytes beyond ASCII are escaped as numbers.
        var result: [UInt8] = [quotationMark]
        for byte in bytes {
            switch byte {
            case quotationMark, backslash: result += [backslash, byte]
            case lineFeed: result += [backslash, UInt8(ascii: "n")]
            case _ where byte < space || byte == delete || byte >= 0x80 && !isText:
                result += Array("\\x\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
            default: result.append(byte)
            }
        }
        return String(decoding: result + [quotationMark], as: UTF8.self)
    }

    private static let space = UInt8(ascii: " ")
    private static let quotationMark = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let delete: UInt8 = 0x7F

    private static func plain(_ rest: inout ArraySlice<UInt8>, _ number: Int) throws(ControlFault) -> [UInt8] {
        let word = rest.prefix { $0 != space }
        guard !word.contains(quotationMark) else {
            throw ControlFault(number, "a quotation mark stands at the beginning of a word only")
        }
        try check(word, number)
        rest = rest.dropFirst(word.count)
        return Array(word)
    }

    private static func quoted(_ rest: inout ArraySlice<UInt8>, _ number: Int) throws(ControlFault) -> [UInt8] {
        rest = rest.dropFirst()
        var word: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case quotationMark:
                guard rest.first ?? space == space else {
                    throw ControlFault(number, "a space is missing after the quotation mark")
                }
                return word
            case backslash: word.append(try escaped(&rest, number))
            default:
                try check([byte], number)
                word.append(byte)
            }
        }
        throw ControlFault(number, "the closing quotation mark is missing")
    }

    private static func escaped(_ rest: inout ArraySlice<UInt8>, _ number: Int) throws(ControlFault) -> UInt8 {
        switch rest.popFirst() {
        case quotationMark: return quotationMark
        case backslash: return backslash
        case UInt8(ascii: "n"): return lineFeed
        case UInt8(ascii: "x"):
            let digits = rest.prefix(2)
            // Require exactly two digits, because the conversion would also accept a sign or a single digit.
            guard digits.count == 2, digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-"),
                let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw ControlFault(number, "two hexadecimal digits belong after \\x") }
            rest = rest.dropFirst(2)
            return byte
        default: throw ControlFault(number, "unknown escape; known are \\\" \\\\ \\n \\xHH")
        }
    }

    private static func check(_ bytes: ArraySlice<UInt8>, _ number: Int) throws(ControlFault) {
        guard bytes.allSatisfy({ $0 >= space && $0 != delete }) else {
            throw ControlFault(number, "a control character is written as \\xHH, in quotation marks")
        }
    }
}
