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

/// A change of one place in one file.
public struct Mutant: Codable, Sendable {
    /// File path as it was given to the generator.
    public let file: String
    /// Line of the first changed byte, from 1.
    public let line: Int
    /// Column of the first changed byte in UTF-8, from 1.
    public let column: Int
    /// Enclosing types and function, such as `ByteRing.push(_:)`.
    public let function: String
    /// Kind of the change.
    public let `operator`: MutationOperator
    /// Source text that is replaced.
    public let before: String
    /// Text that replaces it, with as many line ends.
    public let after: String
    /// Whole lines around the change, on one line and with single blanks, as they are.
    public let linesBefore: String
    /// The same lines with the change.
    public let linesAfter: String
    /// Ordinal among the mutants of the function that change the same lines in the same way; 0 for the first.
    public internal(set) var repetition = 0

    /// Name that outlives changes elsewhere in the file: function, operator, and a hash of the changed lines.
    public var name: String {
        let place = "\(function)/\(`operator`.rawValue)"
        let hash = StableHash("\(place)\0\(linesBefore)\0\(linesAfter)\0\(repetition)").value
        let digits = String(hash & 0xFFFF_FFFF, radix: 16)
        return "\(place)/\(String(repeating: "0", count: 8 - digits.count))\(digits)"
    }
}
