// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage
package import Texts

/// Client of the configured beacon server (D-27).
package struct ServerClient {
    private let settings: ServerSettings
    private let client: HTTPSClient

    /// Creates a client: reads the access token and loads libcurl; throws if the user has not agreed (SW-17).
    package init(
        _ settings: ServerSettings,
        user: UInt32 = ProcessFacts.user,
        libraryFile: String = CurlLibrary.fileName
    ) throws(ServerFault) {
        guard settings.agreement?.server == settings.address.description else { throw .notAgreed(settings.address) }
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

    /// Fetches the regions of a scope (SW-10); `KeptRegions.take` merges them into the stored regions.
    ///
    /// Throws `tooSoon`, without sending a request, if the update interval has not passed at `now`, which is in seconds
    /// since 1970-01-01 00:00:00 UTC.
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

    /// Sends a track, without retries (SW-7); returns the result of the contact check (SW-19).
    package func send(_ record: TrackRecord) throws(ServerFault) -> ContactResult {
        try ServerAnswer.contact(ask(.track(record)))
    }

    /// Adds an event to the server's test log (SW-11).
    ///
    /// Unless test mode is on, throws without sending a request. `now` is the time of the event, in seconds since
    /// 1970-01-01 00:00:00 UTC.
    package func log(_ event: ServerRequest.Event, of region: ServerRegion, at now: Int) throws(ServerFault) {
        guard settings.isTestMode else { throw .notInTestMode }
        try ServerAnswer.acceptance(ask(.testLog(region, event, seconds: now)))
    }

    /// Validates a one-time beacon (SW-14); throws error 2005 if the server times out or is unreachable.
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
            return try client.post(request.body(of: settings.userID), to: request.path)
        } catch {
            throw .request(error)
        }
    }
}

/// Settings for the beacon server (D-27); if there is no server, no request is sent.
package struct ServerSettings: Equatable, Sendable {
    package var address: ServerAddress
    /// File with the access token, accessible only to its owner.
    package var tokenFile: FilePath
    /// File with the CA certificates that are trusted instead of the system's; nil to trust those of the system.
    package var authorityFile: FilePath?
    /// Proxy in libcurl's syntax; nil to use no proxy, even if the environment specifies one.
    package var proxy: String?
    /// Time-out for connecting, including the TLS handshake.
    package var connectTimeout = Duration.seconds(15)
    /// Time-out for the whole request.
    package var timeout = Duration.seconds(15)
    /// Minimum interval between two fetches of regions, in hours.
    package var updateInterval = 12
    /// Identifier that the application uses for its user; nil if there is none (SW-18).
    package var userID: String?
    /// The user's agreement, which may be for another server; nil if there is none.
    package var agreement: ServerAgreement?
    /// True if the test log is enabled (`test-mode`).
    package var isTestMode = false

    package init(_ address: ServerAddress, tokenFile: FilePath) {
        self.address = address
        self.tokenFile = tokenFile
    }
}

/// The base address of a server: `https://HOST[:PORT][/PATH]`.
package struct ServerAddress: Equatable, Sendable, CustomStringConvertible {
    /// An error in the text of a server's address.
    package enum Fault: Error, Equatable, Sendable {
        /// The address does not begin with `https://`.
        case notHTTPS
        case host
        case port
        /// The address contains a user name or a password, which anyone who reads the address would see.
        case user
        /// The address contains a question mark, a `#`, a space, or another forbidden or non-ASCII character.
        case sign
    }

    private static let scheme = "https://"

    /// Address without a trailing slash.
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

    /// Splits the authority part of the address into the host and the port.
    ///
    /// The host is a name or an IP address; an IPv6 address is in brackets.
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

/// The access token of an application (called the application code in SW-1); it is never printed.
package struct AccessToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package enum Failure: Error, Equatable, Sendable {
        case unreadable(FilePath, Errno)
        case foreign(FilePath, owner: UInt32)
        /// The permissions of the file allow more than reading and writing by its owner.
        case open(FilePath, mode: UInt32)
        /// The file is not a single line of 1 to 4,096 visible ASCII characters.
        case garbled(FilePath)
    }

    private static let limit = 4096

    /// Header line that contains the token; pass it only to libcurl.
    let line: String

    package init(file: FilePath, user: UInt32 = ProcessFacts.user) throws(Failure) {
        let read: (bytes: [UInt8], owner: UInt32, mode: UInt32)
        do throws(Errno) {
            // The additional byte allows for a line feed at the end.
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
