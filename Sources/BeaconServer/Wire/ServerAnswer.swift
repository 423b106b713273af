// SPDX-License-Identifier: GPL-2.0-or-later

import Texts

/// The errors that have a number of the document's.
package enum ServerError: Int, Error, Hashable, Sendable, CaseIterable {
    /// The server has no regions for the application.
    case noRegions = 1400
    /// The interval is not over since regions were fetched: nobody was asked.
    case tooSoon = 1500
    /// The application is not registered for one-time beacons.
    case invalidApplication = 2001
    /// The beacon is of no region of one-time beacons.
    case invalidRegion = 2002
    /// The beacon is no one-time beacon in use.
    case invalidBeacon = 2003
    /// The server failed while it checked.
    case serverFailed = 2004
    /// The server cannot be reached.
    case unreachable = 2005
}

/// Why a server was not asked, or did not do what it was asked.
package enum ServerFault: Error, Equatable, Sendable {
    /// There is no token to be sent.
    case token(AccessToken.Failure)
    /// There is no answer.
    case request(HTTPSClient.Failure)
    /// The answer has another status than 200.
    case http(Int)
    /// The answer is not understood.
    case answer(ServerAnswerFault)
    /// The server, or what stands for it, names an error.
    case refused(ServerError)
    /// Regions were fetched so recently that this is done again only from then on, in seconds since 1970-01-01 00:00:00
    /// UTC.
    case tooSoon(until: Int)
    /// The test log is for test mode.
    case notInTestMode

    /// The document's number of the error; nil where it has none.
    package var error: ServerError? {
        switch self {
        case .refused(let error): error
        case .tooSoon: .tooSoon
        case .token, .request, .http, .answer, .notInTestMode: nil
        }
    }

    /// The status of HTTP; nil where it is 200, or there was no answer.
    package var status: Int? {
        guard case .http(let status) = self else { return nil }
        return status
    }
}

/// What a server answered, read.
package enum ServerAnswer {
    /// Reads an answer to `regions`: at least one, all of which were asked for.
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

    /// Reads an answer to `track` or `test-log`: that it was taken.
    package static func acceptance(_ answer: HTTPSClient.Answer) throws(ServerFault) {
        let object = try whole(answer, errors: [])
        do throws(ServerAnswerFault) {
            guard try object["accepted"].bool() else { throw object["accepted"].fault("is not true") }
        } catch {
            throw .answer(error)
        }
    }

    /// Reads an answer to `validate`: whether the beacon is valid.
    package static func validity(_ answer: HTTPSClient.Answer) throws(ServerFault) -> Bool {
        let errors: Set<ServerError> = [.invalidApplication, .invalidRegion, .invalidBeacon, .serverFailed]
        let object = try whole(answer, errors: errors)
        do throws(ServerAnswerFault) {
            return try object["valid"].bool()
        } catch {
            throw .answer(error)
        }
    }

    /// The object of an answer that names no error; throws the error that it names, which has to be one of those that there
    /// can be.
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
