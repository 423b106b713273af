// SPDX-License-Identifier: GPL-2.0-or-later

/// A kind of change.
public enum MutationOperator: String, Codable, Sendable {
    case negatedCondition = "negated-condition"
    case comparison
    case constant
    case droppedCall = "dropped-call"
    case boolean
    case arithmetic
    case minMax = "min-max"
    case andOr = "and-or"
    case droppedAssignment = "dropped-assignment"
    case swappedCases = "swapped-cases"
    case droppedGuard = "dropped-guard"
    case breakContinue = "break-continue"
}

/// Change at one position in a file.
public struct Mutant: Codable, Sendable {
    /// File path as passed to the generator.
    public let file: String
    /// Line of the first changed byte, counted from 1.
    public let line: Int
    /// Column of the first changed byte in UTF-8, counted from 1.
    public let column: Int
    /// Enclosing types and function, such as `ByteRing.push(_:)`.
    public let function: String
    /// Kind of the change.
    public let `operator`: MutationOperator
    /// Source text that is replaced.
    public let before: String
    /// Replacement text, which contains the same number of line breaks.
    public let after: String
    /// Original text of the whole lines around the change, joined to one line with single spaces.
    public let linesBefore: String
    /// The same lines with the change.
    public let linesAfter: String
    /// Ordinal among the mutants of the same function with identical changes; 0 for the first.
    public internal(set) var repetition = 0

    /// Name that does not depend on other parts of the file: function, operator, and a hash of the changed lines.
    public var name: String {
        let place = "\(function)/\(`operator`.rawValue)"
        let hash = StableHash("\(place)\0\(linesBefore)\0\(linesAfter)\0\(repetition)").value
        let digits = String(hash & 0xFFFF_FFFF, radix: 16)
        return "\(place)/\(String(repeating: "0", count: 8 - digits.count))\(digits)"
    }
}
