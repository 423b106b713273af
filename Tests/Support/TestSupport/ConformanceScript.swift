// SPDX-License-Identifier: GPL-2.0-or-later

/// The link to an implementation under test, in memory or over any transport.
///
/// The lower tester sends and receives PDUs; the upper tester asks the implementation for actions and receives their
/// outcomes.
public protocol ConformanceLink {
    /// Sends one PDU to the implementation.
    mutating func send(_ pdu: [UInt8]) throws
    /// Returns the next PDU from the implementation; nil if there is none.
    ///
    /// The wait for an unexpected PDU may be short.
    mutating func nextPDU(isExpected: Bool) throws -> [UInt8]?
    /// Makes the implementation perform an action, given as words of the script.
    mutating func perform(_ words: [String]) throws
    /// Returns the next outcome that the implementation reports; nil if there is none.
    ///
    /// The wait for an unexpected outcome may be short.
    mutating func nextOutcome(isExpected: Bool) throws -> String?
    /// Waits for this time.
    mutating func wait(seconds: Int) throws
    /// Waits until no PDU and no outcome is in transit.
    mutating func settle() throws
    /// Returns true if the upper tester can receive this outcome over this link.
    func isHeard(_ outcome: String) -> Bool
}

extension ConformanceLink {
    /// Does nothing, because no PDU is ever in transit.
    public mutating func settle() {}

    /// Returns true for all outcomes.
    public func isHeard(_ outcome: String) -> Bool { true }
}

/// Conversation of a conformance file.
///
/// The first lines of the file describe its format.
public struct ConformanceScript: Sendable {
    /// Error of a line that cannot be parsed.
    public struct Unreadable: Error {
        /// The line number in the file.
        public var line: Int

        /// Creates the error for the line with this number.
        public init(line: Int) {
            self.line = line
        }
    }

    /// The text after `script`: ids and a description.
    public var name: String
    /// The lines that define the served database.
    public var database: [String]
    /// The steps, each with its line number.
    public var steps: [(number: Int, text: String)]

    /// The sum of the waits, in seconds.
    public var waitingTime: Int {
        steps.reduce(0) { time, step in
            time + (step.text.hasPrefix("wait ") ? Int(step.text.dropFirst(5)) ?? 0 : 0)
        }
    }

    /// The ids of the published tests that the script implements.
    public var ids: [String] {
        name.split(separator: " ").filter { $0.hasPrefix("GATT/") }.map { String($0) }
    }

    /// Reads all scripts of a file.
    public static func all(_ file: String) throws -> [ConformanceScript] {
        var scripts: [ConformanceScript] = []
        var databases: [String: [String]] = [:]
        var current = ""
        var isDatabase = false
        for (number, text) in try VectorFile.lines(file) {
            if text.hasPrefix("script ") {
                isDatabase = false
                let name = String(text.dropFirst(7))
                scripts.append(ConformanceScript(name: name, database: databases[current] ?? [], steps: []))
            } else if text.hasPrefix("database ") {
                isDatabase = true
                current = String(text.dropFirst(9))
                databases[current] = []
            } else if isDatabase {
                databases[current]?.append(text)
            } else if text.hasPrefix("on "), let index = scripts.indices.last {
                guard let lines = databases[String(text.dropFirst(3))] else { throw Unreadable(line: number) }
                scripts[index].database = lines
            } else {
                guard let index = scripts.indices.last else { throw Unreadable(line: number) }
                scripts[index].steps.append((number, text))
            }
        }
        return scripts
    }

    /// Plays the testers' part of the script.
    ///
    /// Returns the differences from the script, or an empty array if there are none.
    public func run(_ link: inout some ConformanceLink) throws -> [String] {
        var differences: [String] = []
        var isOnItsWay = false
        for (number, text) in steps {
            switch text.first {
            case ">":
                let pdu = try link.nextPDU(isExpected: true)
                if pdu != VectorFile.bytes(text.dropFirst()) {
                    differences.append("line \(number): \(text), not \(pdu.map { Self.text($0) } ?? "nothing")")
                }
            case "?":
                if !link.isHeard(String(text.dropFirst(2))) { continue }
                let outcome = try link.nextOutcome(isExpected: true)
                if outcome != String(text.dropFirst(2)) {
                    differences.append("line \(number): \(text), not \(outcome ?? "nothing")")
                }
            default:
                // All sent PDUs must arrive before the other side continues.
                if isOnItsWay, !text.hasPrefix("<") { try link.settle() }
                differences += try rest(&link, before: number)
                try play(text, number, &link)
            }
            isOnItsWay = text.hasPrefix("<")
        }
        try link.settle()
        return differences + (try rest(&link, before: nil))
    }

    private func play(_ text: String, _ number: Int, _ link: inout some ConformanceLink) throws {
        let words = text.split(separator: " ").map { String($0) }
        switch words.first {
        case "<":
            guard let bytes = VectorFile.bytes(text.dropFirst()) else { throw Unreadable(line: number) }
            try link.send(bytes)
        case "wait":
            guard words.count == 2, let seconds = Int(words[1]) else { throw Unreadable(line: number) }
            try link.wait(seconds: seconds)
        case "do": try link.perform(Array(words.dropFirst()))
        default: throw Unreadable(line: number)
        }
    }

    /// Returns the unexpected PDUs and outcomes.
    private func rest(_ link: inout some ConformanceLink, before line: Int?) throws -> [String] {
        let place = line.map { "before line \($0)" } ?? "at the end"
        var all: [String] = []
        while let pdu = try link.nextPDU(isExpected: false) { all.append("\(place): > \(Self.text(pdu))") }
        while let outcome = try link.nextOutcome(isExpected: false) { all.append("\(place): ? \(outcome)") }
        return all
    }

    private static func text(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined(separator: " ")
    }
}
