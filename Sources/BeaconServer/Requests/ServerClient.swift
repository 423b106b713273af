// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage

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
    /// Throws `tooSoon`, without asking, before the interval is over at `now`, in seconds since 1970 UTC.
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

    /// Has an event logged at `now`, in seconds since 1970 UTC (SW-11); throws at once outside test mode.
    package func log(_ event: ServerRequest.Event, of region: ServerRegion, at now: Int) throws(ServerFault) {
        guard settings.isTestMode else { throw .notInTestMode }
        try ServerAnswer.acceptance(ask(.testLog(region, event, seconds: now)))
    }

    /// Checks a one-time beacon (SW-14); error 2005 where the server is silent or unreachable.
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

/// The configured beacon server (D-27); without one no request is sent.
package struct ServerSettings: Equatable, Sendable {
    package var address: ServerAddress
    /// The file of the access token, which belongs to the caller alone.
    package var tokenFile: FilePath
    /// The certificates of the authorities that are believed instead of the system's; nil for the system's.
    package var authorityFile: FilePath?
    /// The proxy, as libcurl takes it; nil for none, whatever the environment says.
    package var proxy: String?
    /// The longest that connecting may take, TLS included.
    package var connectTimeout = Duration.seconds(15)
    /// The longest that a request may take as a whole.
    package var timeout = Duration.seconds(15)
    /// The hours that have to pass after regions were fetched before they are fetched again.
    package var updateInterval = 12
    /// True if the test log is enabled (`test-mode`).
    package var isTestMode = false

    package init(_ address: ServerAddress, tokenFile: FilePath) {
        self.address = address
        self.tokenFile = tokenFile
    }
}

/// The address below which a server answers: `https://HOST[:PORT][/PATH]`.
package struct ServerAddress: Equatable, Sendable, CustomStringConvertible {
    /// Why a text is no address of a server.
    package enum Fault: Error, Equatable, Sendable {
        /// It does not begin with `https://`.
        case notHTTPS
        case host
        case port
        /// It names a user, or has a password: both would be seen by whoever reads it.
        case user
        /// It has a question mark, a `#`, a blank, or what is not ASCII.
        case sign
    }

    private static let scheme = "https://"

    /// The address without a slash at its end.
    package let description: String

    package init(_ text: String) throws(Fault) {
        guard text.lowercased().hasPrefix(Self.scheme) else { throw .notHTTPS }
        var rest = text.dropFirst(Self.scheme.count)
        guard rest.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"?#\\\"<>^`{|}".utf8.contains($0) }) else {
            throw .sign
        }
        while rest.hasSuffix("/") { rest.removeLast() }
        let authority = rest.prefix { $0 != "/" }
        if authority.contains("@") { throw .user }
        let (host, port) = Self.parts(of: authority)
        guard Self.isHost(host) else { throw .host }
        if let port, !(port.utf8.allSatisfy { (0x30...0x39).contains($0) } && (1...65535).contains(Int(port) ?? 0)) {
            throw .port
        }
        description = Self.scheme + rest
    }

    func callAsFunction(_ name: String) -> String { "\(description)/\(name)" }

    /// The host, which is a name or an address (of version 6 in brackets), and the port.
    private static func parts(of authority: Substring) -> (host: Substring, port: Substring?) {
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        let start = end ?? authority.startIndex
        guard let colon = authority[start...].firstIndex(of: ":") else { return (authority, nil) }
        return (authority[..<colon], authority[authority.index(after: colon)...])
    }

    private static func isHost(_ host: Substring) -> Bool {
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]") && host.count > 2
        let name = isBracketed ? host.dropFirst().dropLast() : host
        let isOfHost = { (byte: UInt8) in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"): true
            case UInt8(ascii: ":"): isBracketed
            default: false
            }
        }
        return !name.isEmpty && name.utf8.allSatisfy(isOfHost)
    }
}

/// The access token of an application (SW-1's application's code), which nothing prints.
package struct AccessToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package enum Failure: Error, Equatable, Sendable {
        case unreadable(FilePath, Errno)
        case foreign(FilePath, owner: UInt32)
        /// Others than its owner may read or write the file.
        case open(FilePath, mode: UInt32)
        /// The file is no line of 1 to 4,096 visible ASCII signs.
        case garbled(FilePath)
    }

    private static let limit = 4096

    /// The head of a request that carries it, for the library alone.
    let line: String

    package init(file: FilePath, user: UInt32 = ProcessFacts.user) throws(Failure) {
        let read: (bytes: [UInt8], owner: UInt32, mode: UInt32)
        do throws(Errno) {
            // A line feed behind it.
            read = try FileSystem.contentsAndRights(of: file, limit: Self.limit + 1)
        } catch .fileTooLarge {
            throw .garbled(file)
        } catch {
            throw .unreadable(file, error)
        }
        guard read.owner == user else { throw .foreign(file, owner: read.owner) }
        guard read.mode & 0o177 == 0 else { throw .open(file, mode: read.mode) }
        let bytes = read.bytes.last == UInt8(ascii: "\n") ? read.bytes.dropLast() : read.bytes[...]
        guard (1...Self.limit).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .garbled(file)
        }
        line = "Authorization: Bearer " + String(decoding: bytes, as: UTF8.self)
    }

    package var description: String { "token" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
