// SPDX-License-Identifier: GPL-2.0-or-later

import Typing

/// Why a template was refused.
package struct HexTemplateFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The character of the fault, counted from 1.
    package var column: Int
    /// The description of the fault.
    package var reason: String

    /// Makes a fault.
    package init(column: Int, reason: String) {
        self.column = column
        self.reason = reason
    }

    /// Both.
    package var description: String { "character \(column): \(reason)" }
}

/// Reads the text of a `HexTemplate`.
struct HexTemplateReader {
    private let characters: [Unicode.Scalar]
    private var index = 0

    init(_ text: String) {
        characters = Array(text.unicodeScalars)
    }

    /// All elements.
    mutating func elements(for purpose: HexTemplate.Purpose) throws(HexTemplateFault) -> [HexTemplate.Element] {
        var elements: [HexTemplate.Element] = []
        while let character = peek() {
            let start = index
            if case .rest = elements.last, character != " " { throw fault("nothing may follow *") }
            switch character {
            case " ": index += 1
            case "\"": elements += try text().utf8.map { .byte($0) }
            case "{": elements.append(.checksum(try checksum()))
            case "?", "*":
                guard purpose == .reply else { throw fault("\(character) has no place in what is sent") }
                index += 1
                elements.append(character == "*" ? .rest : try wildcard(at: start))
            case "$": elements.append(try remembered())
            default: elements.append(.byte(try byte()))
            }
        }
        return elements
    }

    /// Plain bytes, in hexadecimal and nothing else.
    mutating func bytes() throws(HexTemplateFault) -> [UInt8] {
        var bytes: [UInt8] = []
        while let character = peek() {
            if character == " " { index += 1 } else { bytes.append(try byte()) }
        }
        return bytes
    }

    private func peek() -> Unicode.Scalar? {
        index < characters.count ? characters[index] : nil
    }

    private func fault(_ reason: String, at place: Int? = nil) -> HexTemplateFault {
        HexTemplateFault(column: (place ?? index) + 1, reason: reason)
    }

    private mutating func byte() throws(HexTemplateFault) -> UInt8 {
        let start = index
        guard let high = digit(), let low = digit() else {
            throw fault("two hexadecimal digits make a byte", at: start)
        }
        return high &<< 4 | low
    }

    private mutating func digit() -> UInt8? {
        guard let character = peek(), character.isASCII,
            let digit = Character(character).hexDigitValue
        else { return nil }
        index += 1
        return UInt8(truncatingIfNeeded: digit)
    }

    private mutating func text() throws(HexTemplateFault) -> String {
        let start = index
        index += 1
        var text = String.UnicodeScalarView()
        while let character = peek() {
            index += 1
            if character == "\"" { return String(text) }
            text.append(character)
        }
        throw fault("a quote that is not closed", at: start)
    }

    private mutating func checksum() throws(HexTemplateFault) -> Checksum {
        let start = index
        index += 1
        var name = String.UnicodeScalarView()
        while let character = peek(), character != "}" {
            name.append(character)
            index += 1
        }
        guard peek() != nil else { throw fault("a brace that is not closed", at: start) }
        index += 1
        guard let checksum = Checksum(rawValue: String(name)) else {
            throw fault("no checksum is called \"\(String(name))\"; there are \(Checksum.names)", at: start)
        }
        return checksum
    }

    private mutating func wildcard(at start: Int) throws(HexTemplateFault) -> HexTemplate.Element {
        if peek() == "?" {
            index += 1
            return .any
        }
        return .remember(try number(at: start))
    }

    private mutating func remembered() throws(HexTemplateFault) -> HexTemplate.Element {
        let start = index
        index += 1
        let number = try number(at: start)
        switch peek() {
        case "^":
            index += 1
            return .remembered(number, .xor(try byte()))
        case "+":
            index += 1
            return .remembered(number, .add(try byte()))
        case "-":
            index += 1
            return .remembered(number, .subtract(try byte()))
        default: return .remembered(number, .xor(0))
        }
    }

    private mutating func number(at start: Int) throws(HexTemplateFault) -> UInt8 {
        guard let digit = digit(), (1...9).contains(digit) else {
            throw fault("a number from 1 to 9 names a remembered byte, and ?? is any byte", at: start)
        }
        return digit
    }
}
