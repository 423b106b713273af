// SPDX-License-Identifier: GPL-2.0-or-later

import Texts

/// What is wrong in an answer of the server, or in a file that was made of one: where, and what.
package struct ServerAnswerFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The member, such as `regions[3].uuid`, or the line and column of what is no JSON.
    package var place: String
    /// The description.
    package var reason: String

    /// A fault at a place.
    package init(place: String, reason: String) { (self.place, self.reason) = (place, reason) }

    /// The fault as one line.
    package var description: String { "\(place): \(reason)" }
}

/// A member of what was answered, with its place.
struct AnswerMember {
    typealias Fault = ServerAnswerFault

    /// The value; nil where there is none, or it is `null`.
    let value: JSONValue?
    /// Such as `regions[3].uuid`.
    let place: String

    /// A value at a place.
    init(_ value: JSONValue?, _ place: String) {
        self.value = value == .null ? nil : value
        self.place = place
    }

    /// The whole of an answer, which is an object.
    init(whole bytes: [UInt8]) throws(Fault) {
        do throws(JSONValue.Fault) {
            self.init(try JSONValue(bytes), "")
        } catch {
            throw Fault(place: "line \(error.line), column \(error.column)", reason: error.reason)
        }
        guard case .object = value else { throw Fault(place: "line 1, column 1", reason: "is no object") }
    }

    /// The member of an object.
    subscript(name: String) -> AnswerMember {
        AnswerMember(value?[name], place.isEmpty ? name : "\(place).\(name)")
    }

    /// Whether it is there.
    var isThere: Bool { value != nil }

    /// It, or nil where it is not there.
    var ifThere: AnswerMember? { isThere ? self : nil }

    /// A fault of it.
    func fault(_ reason: String) -> Fault { Fault(place: place, reason: isThere ? reason : "is missing") }

    /// A string of 1 to `longest` signs, none of which is a control character.
    func string(longest: Int) throws(Fault) -> String {
        guard let text = value?.string else { throw fault("is no string") }
        guard (1...longest).contains(text.unicodeScalars.count) else {
            throw Fault(place: place, reason: "has not 1 to \(longest) signs")
        }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw Fault(place: place, reason: "has a control character")
        }
        return text
    }

    /// A whole number within bounds.
    func integer<Number: FixedWidthInteger>(_ range: ClosedRange<Number>) throws(Fault) -> Number {
        guard let number = value?.integer else { throw fault("is no whole number") }
        guard let number = Number(exactly: number), range.contains(number) else {
            throw Fault(place: place, reason: "is not from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// True or false.
    func bool() throws(Fault) -> Bool {
        guard let value = value?.bool else { throw fault("is neither true nor false") }
        return value
    }

    /// The elements of an array of at most `most`.
    func elements(most: Int) throws(Fault) -> [AnswerMember] {
        guard let values = value?.array else { throw fault("is no array") }
        guard values.count <= most else { throw Fault(place: place, reason: "has more than \(most) elements") }
        return values.enumerated().map { AnswerMember($1, "\(place)[\($0)]") }
    }

    /// One of the words of a type.
    func word<Word: RawRepresentable & CaseIterable>() throws(Fault) -> Word where Word.RawValue == String {
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        guard let text = value?.string, let word = Word(rawValue: text) else { throw fault("is none of \(words)") }
        return word
    }
}
