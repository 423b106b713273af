// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// Errors that have a number in the specification.
package enum ServerError: Int, Error, Hashable, Sendable, CaseIterable {
    /// The server has no regions for the application.
    case noRegions = 1400
    /// The update interval has not passed since the last fetch, so no request was sent.
    case tooSoon = 1500
    /// The application is not registered for one-time beacons.
    case invalidApplication = 2001
    /// The beacon is not in a region of one-time beacons.
    case invalidRegion = 2002
    /// The beacon is not a one-time beacon that is in use.
    case invalidBeacon = 2003
    case serverFailed = 2004
    /// The server cannot be reached.
    case unreachable = 2005
}

/// The reason why a server request was not sent or failed.
package enum ServerFault: Error, Equatable, Sendable {
    case token(AccessToken.Failure)
    case request(HTTPSClient.Failure)
    /// The HTTP status is not 200.
    case http(Int)
    case answer(ServerAnswerFault)
    /// A numbered error, reported by the server or detected by the client.
    case refused(ServerError)
    /// Regions were fetched recently; `until` is the time of the next permitted fetch, in seconds since 1970-01-01
    /// 00:00:00 UTC.
    case tooSoon(until: Int)
    case notInTestMode
    /// The user has not agreed to the use of this server (SW-17); no request was sent.
    case notAgreed(ServerAddress)

    /// The numbered error; nil if the fault has no number.
    package var error: ServerError? {
        switch self {
        case .refused(let error): error
        case .tooSoon: .tooSoon
        case .token, .request, .http, .answer, .notInTestMode, .notAgreed: nil
        }
    }

    /// HTTP status; nil if it is 200, or if there was no response.
    package var status: Int? {
        guard case .http(let status) = self else { return nil }
        return status
    }
}

package enum ServerAnswer {
    /// Parses a response to `regions`.
    ///
    /// There must be at least one region, and all regions must be within the requested scope.
    package static func regions(
        _ answer: HTTPSClient.Answer,
        for scope: RegionScope
    ) throws(ServerFault) -> [ManagedRegion] {
        let object = try whole(answer, errors: [.noRegions])
        let regions: [ManagedRegion]
        do throws(ServerAnswerFault) {
            regions = try ManagedRegion.list(object["regions"])
        } catch {
            throw .answer(error)
        }
        guard !regions.isEmpty else { throw .refused(.noRegions) }
        if let index = regions.firstIndex(where: { !scope.covers($0) }) {
            throw .answer(ServerAnswerFault(place: "regions[\(index)]", reason: "is none of \(scope)"))
        }
        return regions
    }

    /// Parses a response to `track`, which must confirm acceptance; returns the result of the contact check (SW-19).
    package static func contact(_ answer: HTTPSClient.Answer) throws(ServerFault) -> ContactResult {
        let object = try accepted(answer)
        do throws(ServerAnswerFault) {
            return try object["result"].word()
        } catch {
            throw .answer(error)
        }
    }

    /// Checks that a response to `test-log` confirms acceptance.
    package static func acceptance(_ answer: HTTPSClient.Answer) throws(ServerFault) { _ = try accepted(answer) }

    private static func accepted(_ answer: HTTPSClient.Answer) throws(ServerFault) -> AnswerMember {
        let object = try whole(answer, errors: [])
        do throws(ServerAnswerFault) {
            guard try object["accepted"].bool() else { throw object["accepted"].fault("is not true") }
        } catch {
            throw .answer(error)
        }
        return object
    }

    /// Parses a response to `validate`; returns true if the beacon is valid.
    package static func validity(_ answer: HTTPSClient.Answer) throws(ServerFault) -> Bool {
        let errors: Set<ServerError> = [.invalidApplication, .invalidRegion, .invalidBeacon, .serverFailed]
        let object = try whole(answer, errors: errors)
        do throws(ServerAnswerFault) {
            return try object["valid"].bool()
        } catch {
            throw .answer(error)
        }
    }

    /// Returns the JSON object of a response.
    ///
    /// If the response reports an error, throws that error, which must be one of `errors`.
    private static func whole(
        _ answer: HTTPSClient.Answer,
        errors: Set<ServerError>
    ) throws(ServerFault) -> AnswerMember {
        guard answer.status == 200 else { throw .http(answer.status) }
        let member: AnswerMember
        let number: Int?
        do throws(ServerAnswerFault) {
            member = try AnswerMember(whole: answer.body)
            number = try member["error"].ifThere?.integer(0...9999)
        } catch {
            throw .answer(error)
        }
        guard let number else { return member }
        guard let error = ServerError(rawValue: number), errors.contains(error) else {
            throw .answer(ServerAnswerFault(place: "error", reason: "\(number) is no error of this request"))
        }
        throw .refused(error)
    }
}

/// A fault in a server's response, or in a file that stores a response: its place and its description.
package struct ServerAnswerFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// Path of the member, such as `regions[3].uuid`, or the line and column of invalid JSON.
    package var place: String
    package var reason: String

    package init(place: String, reason: String) { (self.place, self.reason) = (place, reason) }

    package var description: String { "\(place): \(reason)" }
}

struct AnswerMember {
    typealias Fault = ServerAnswerFault

    /// Value of the member; nil if the member is missing or `null`.
    let value: JSONValue?
    /// Path of the member, such as `regions[3].uuid`.
    let place: String

    init(_ value: JSONValue?, _ place: String) {
        self.value = value == .null ? nil : value
        self.place = place
    }

    init(whole bytes: [UInt8]) throws(Fault) {
        do throws(JSONValue.Fault) {
            self.init(try JSONValue(bytes), "")
        } catch {
            throw Fault(place: "line \(error.line), column \(error.column)", reason: error.reason)
        }
        guard case .object = value else { throw Fault(place: "line 1, column 1", reason: "is no object") }
    }

    subscript(name: String) -> AnswerMember {
        AnswerMember(value?[name], place.isEmpty ? name : "\(place).\(name)")
    }

    var isThere: Bool { value != nil }

    /// This member; nil if it is missing.
    var ifThere: AnswerMember? { isThere ? self : nil }

    func fault(_ reason: String) -> Fault { Fault(place: place, reason: isThere ? reason : "is missing") }

    /// Returns a string of 1 to `longest` characters without control characters.
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

    func integer<Number: FixedWidthInteger>(_ range: ClosedRange<Number>) throws(Fault) -> Number {
        guard let number = value?.integer else { throw fault("is no whole number") }
        guard let number = Number(exactly: number), range.contains(number) else {
            throw Fault(place: place, reason: "is not from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func bool() throws(Fault) -> Bool {
        guard let value = value?.bool else { throw fault("is neither true nor false") }
        return value
    }

    /// Returns the elements of an array with at most `most` elements.
    func elements(most: Int) throws(Fault) -> [AnswerMember] {
        guard let values = value?.array else { throw fault("is no array") }
        guard values.count <= most else { throw Fault(place: place, reason: "has more than \(most) elements") }
        return values.enumerated().map { AnswerMember($1, "\(place)[\($0)]") }
    }

    func word<Word: RawRepresentable & CaseIterable>() throws(Fault) -> Word where Word.RawValue == String {
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        guard let text = value?.string, let word = Word(rawValue: text) else { throw fault("is none of \(words)") }
        return word
    }
}
