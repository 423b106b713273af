// SPDX-License-Identifier: GPL-2.0-or-later

import Typing

/// Template of bytes in text form: a command to send, or an expected reply (BT-5, BT-7).
///
///     A5 01 0d           bytes in hexadecimal, in upper or lower case, with or without spaces between them
///     "AT+START" 0D 0A   text in quotes, as its UTF-8 bytes
///     {crc8-maxim}       the checksum of all bytes before it; the names are those of `Checksum`
///     ??                 any byte (in a reply)
///     ?1 … ?9            any byte, stored under its number (in a reply)
///     $1                 the byte stored under that number; also $1^5A, $1+0C, $1-0C, modulo 256
///     *                  the rest of the same notification (at the end of a reply)
///
/// With a key, each byte sent or received is XORed with a byte of the key, which is repeated; checksums are computed
/// over the plain bytes.
package struct HexTemplate: Hashable, Sendable {
    package enum Purpose: Sendable {
        case command
        /// Pattern that is compared with received bytes.
        case reply
    }

    package typealias Memory = [UInt8: UInt8]

    /// Result of comparing bytes with a template.
    package enum Match: Equatable, Sendable {
        /// The bytes cannot match, regardless of further bytes.
        case none
        case partial
        /// The template matches this number of bytes.
        case whole(Int)
    }

    /// Operation applied to a stored byte before use.
    enum Operation: Hashable, Sendable {
        case xor(UInt8)
        case add(UInt8)
        case subtract(UInt8)
    }

    /// Element of a template, which stands for one or several bytes.
    enum Element: Hashable, Sendable {
        case byte(UInt8)
        case any
        case remember(UInt8)
        case remembered(UInt8, Operation)
        case checksum(Checksum)
        case rest
    }

    /// Maximum length of a template, in bytes.
    package static let greatestLength = 256
    package static let longestKey = 64

    package let text: String
    let elements: [Element]
    let key: [UInt8]

    /// Parses a template; bytes sent or received are XORed with `key`, unless it is empty.
    package init(_ text: String, for purpose: Purpose, key: [UInt8] = []) throws(HexTemplateFault) {
        var reader = HexTemplateReader(text)
        let elements = try reader.elements(for: purpose)
        guard !elements.isEmpty else { throw HexTemplateFault(column: 1, reason: "no byte") }
        guard Self.length(elements) <= Self.greatestLength else {
            throw HexTemplateFault(column: 1, reason: "more than \(Self.greatestLength) bytes")
        }
        self.text = text
        self.elements = elements
        self.key = key
    }

    /// Minimum length, in bytes.
    package var length: Int { Self.length(elements) }

    /// Numbers under which the template stores bytes.
    package var remembers: Set<UInt8> {
        Set(elements.compactMap { if case .remember(let number) = $0 { number } else { nil } })
    }

    /// Numbers of the stored bytes that the template uses.
    package var uses: Set<UInt8> {
        Set(elements.compactMap { if case .remembered(let number, _) = $0 { number } else { nil } })
    }

    /// Returns the bytes to send.
    ///
    /// A number without a stored byte counts as 0, but a valid configuration does not refer to such a number.
    package func bytes(_ memory: Memory = [:]) -> [UInt8] {
        var plain: [UInt8] = []
        for element in elements {
            switch element {
            case .byte(let byte): plain.append(byte)
            case .remembered(let number, let operation): plain.append(operation.applied(to: memory[number] ?? 0))
            case .checksum(let checksum): plain += checksum.value(of: plain)
            // These elements never occur in a command.
            case .any, .remember, .rest: break
            }
        }
        return plain.indices.map { masked(plain[$0], at: $0) }
    }

    /// Compares received bytes with the reply; if it matches completely, its stored bytes are added to `memory`.
    package func match(_ bytes: ArraySlice<UInt8>, _ memory: inout Memory) -> Match {
        var found = memory
        var plain: [UInt8] = []
        var rest = bytes
        func next() -> UInt8? {
            guard let byte = rest.popFirst() else { return nil }
            plain.append(masked(byte, at: plain.count))
            return plain.last
        }
        for element in elements {
            if case .rest = element {
                memory = found
                return .whole(bytes.count)
            }
            let expected = expectation(of: element, after: plain, found)
            for wanted in expected {
                guard let byte = next() else { return .partial }
                if let wanted, wanted != byte { return .none }
                if case .remember(let number) = element { found[number] = byte }
            }
        }
        memory = found
        return .whole(plain.count)
    }

    /// Returns the bytes expected for an element; nil stands for any byte.
    private func expectation(of element: Element, after plain: [UInt8], _ memory: Memory) -> [UInt8?] {
        switch element {
        case .byte(let byte): [byte]
        case .any, .remember: [nil]
        case .remembered(let number, let operation): [operation.applied(to: memory[number] ?? 0)]
        case .checksum(let checksum): checksum.value(of: plain)
        case .rest: []
        }
    }

    private func masked(_ byte: UInt8, at index: Int) -> UInt8 {
        key.isEmpty ? byte : byte ^ key[index % key.count]
    }

    private static func length(_ elements: [Element]) -> Int {
        elements.reduce(0) { sum, element in
            switch element {
            case .byte, .any, .remember, .remembered: sum + 1
            case .checksum(let checksum): sum + checksum.length
            case .rest: sum
            }
        }
    }
}

extension HexTemplate.Operation {
    func applied(to byte: UInt8) -> UInt8 {
        switch self {
        case .xor(let value): byte ^ value
        case .add(let value): byte &+ value
        case .subtract(let value): byte &- value
        }
    }
}

package struct HexTemplateFault: Error, Equatable, Sendable, CustomStringConvertible {
    package var column: Int
    package var reason: String

    package init(column: Int, reason: String) {
        self.column = column
        self.reason = reason
    }

    package var description: String { "character \(column): \(reason)" }
}

/// Parser of the text of a `HexTemplate`.
struct HexTemplateReader {
    private let characters: [Unicode.Scalar]
    private var index = 0

    init(_ text: String) {
        characters = Array(text.unicodeScalars)
    }

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

    /// Parses bytes in hexadecimal, without other elements.
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
