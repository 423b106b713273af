// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO

/// A server of beacons, as it is configured (D-27).
package struct ServerClient {
    private let settings: ServerSettings
    private let client: HTTPSClient

    /// A server; its token is read, and libcurl loaded, now.
    package init(
        _ settings: ServerSettings,
        user: UInt32 = ProcessFacts.user,
        libraryFile: String = CurlLibrary.fileName
    ) throws(ServerFault) {
        self.settings = settings
        let token: AccessToken
        do throws(AccessToken.Failure) {
            token = try AccessToken(file: settings.tokenFile, user: user)
        } catch {
            throw .token(error)
        }
        do throws(HTTPSClient.Failure) {
            client = try HTTPSClient(settings, token: token, libraryFile: libraryFile)
        } catch {
            throw .request(error)
        }
    }

    /// Fetches the regions of a scope (SW-10); `KeptRegions.take` sorts them into those that are kept.
    ///
    /// Throws `tooSoon` where the interval of the settings is not over at `now`, in seconds since 1970-01-01 00:00:00 UTC,
    /// without asking anybody.
    package func fetch(
        _ scope: RegionScope,
        after kept: KeptRegions,
        at now: Int
    ) throws(ServerFault) -> [ManagedRegion] {
        if let next = kept.nextFetch(of: scope, interval: settings.updateInterval, at: now) {
            throw .tooSoon(until: next)
        }
        return try ServerAnswer.regions(ask(.regions(scope)), for: scope)
    }

    /// Sends a track, once (SW-7).
    package func send(_ record: TrackRecord) throws(ServerFault) {
        try ServerAnswer.acceptance(ask(.track(record)))
    }

    /// Has an event logged, at `now`, in seconds since 1970-01-01 00:00:00 UTC (SW-11); throws outside test mode, without
    /// asking anybody.
    package func log(_ event: ServerRequest.Event, of region: ServerRegion, at now: Int) throws(ServerFault) {
        guard settings.isTestMode else { throw .notInTestMode }
        try ServerAnswer.acceptance(ask(.testLog(region, event, seconds: now)))
    }

    /// Whether a one-time beacon is valid (SW-14).
    ///
    /// Where the server cannot be reached, or is silent for too long, the error is number 2005.
    package func validate(_ beacon: OnetimeBeacon) throws(ServerFault) -> Bool {
        let answer: HTTPSClient.Answer
        do throws(ServerFault) {
            answer = try ask(.validate(beacon))
        } catch .request(.unreachable), .request(.timedOut) {
            throw .refused(.unreachable)
        } catch {
            throw error
        }
        return try ServerAnswer.validity(answer)
    }

    private func ask(_ request: ServerRequest) throws(ServerFault) -> HTTPSClient.Answer {
        do throws(HTTPSClient.Failure) {
            return try client.post(request.body, to: request.path)
        } catch {
            throw .request(error)
        }
    }
}
