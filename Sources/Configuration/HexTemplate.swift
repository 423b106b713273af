// SPDX-License-Identifier: GPL-2.0-or-later

import Typing

/// Bytes as people write them: a command to send, or the reply that is expected (BT-5, BT-7).
///
///     A5 01 0d           bytes in hexadecimal, in letters of either case, spaces or none between them
///     "AT+START" 0D 0A   text in quotes, as its UTF-8 bytes
///     {crc8-maxim}       the check value of all bytes before it, by the names of `Checksum`
///     ??                 any byte (in a reply)
///     ?1 … ?9            any byte, remembered under its number (in a reply)
///     $1                 the byte remembered under that number; also $1^5A, $1+0C, $1-0C, modulo 256
///     *                  whatever else the same notification brings (at the end of a reply)
///
/// With a key, bytes on the air are each combined with the key's by exclusive or, the key beginning anew when it is over;
/// check values are taken of the bytes beneath it.
package struct HexTemplate: Hashable, Sendable {
    package enum Purpose: Sendable {
        case command
        /// It is compared with what comes.
        case reply
    }

    package typealias Memory = [UInt8: UInt8]

    /// The outcome of a comparison of bytes with a template.
    package enum Match: Equatable, Sendable {
        /// Not what was expected, whatever follows.
        case none
        case partial
        /// All of it, in that many bytes.
        case whole(Int)
    }

    /// How a remembered byte is changed before it is used.
    enum Operation: Hashable, Sendable {
        case xor(UInt8)
        case add(UInt8)
        case subtract(UInt8)
    }

    /// A byte of the template, or several.
    enum Element: Hashable, Sendable {
        case byte(UInt8)
        case any
        case remember(UInt8)
        case remembered(UInt8, Operation)
        case checksum(Checksum)
        case rest
    }

    /// The most bytes of a template.
    package static let greatestLength = 256
    package static let longestKey = 64

    package let text: String
    let elements: [Element]
    let key: [UInt8]

    /// Reads a template; `key` is what bytes on the air are combined with, nothing if it is empty.
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

    /// How many bytes it has at least.
    package var length: Int { Self.length(elements) }

    /// The numbers under which it remembers bytes.
    package var remembers: Set<UInt8> {
        Set(elements.compactMap { if case .remember(let number) = $0 { number } else { nil } })
    }

    /// The numbers whose bytes it uses.
    package var uses: Set<UInt8> {
        Set(elements.compactMap { if case .remembered(let number, _) = $0 { number } else { nil } })
    }

    /// The bytes to send; a number that nothing was remembered under stands for 0; configurations cannot name one.
    package func bytes(_ memory: Memory = [:]) -> [UInt8] {
        var plain: [UInt8] = []
        for element in elements {
            switch element {
            case .byte(let byte): plain.append(byte)
            case .remembered(let number, let operation): plain.append(operation.applied(to: memory[number] ?? 0))
            case .checksum(let checksum): plain += checksum.value(of: plain)
            // Not in a command.
            case .any, .remember, .rest: break
            }
        }
        return plain.indices.map { masked(plain[$0], at: $0) }
    }

    /// Compares what came with the reply; what it says to remember is in `memory` once the whole has come.
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

    /// The bytes that an element stands for; nil for any byte.
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

/// Reads the text of a `HexTemplate`.
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
