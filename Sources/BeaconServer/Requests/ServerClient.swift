// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage
package import Texts

/// Client of the configured beacon server (D-27).
package struct ServerClient {
    private let settings: ServerSettings
    private let client: HTTPSClient

    /// Creates a client: reads the access token, and loads libcurl; throws unless the user has agreed (SW-17).
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
    /// Throws `tooSoon`, without a request, if the update interval is not over at `now`, in seconds since 1970 UTC.
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

    /// Sends a track without retries (SW-7); returns the result of the contact check (SW-19).
    package func send(_ record: TrackRecord) throws(ServerFault) -> ContactResult {
        try ServerAnswer.contact(ask(.track(record)))
    }

    /// Adds an event to the server's test log at `now`, in seconds since 1970 UTC (SW-11); throws, without a request,
    /// outside test mode.
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

/// Settings of the beacon server (D-27); without a server, no request is sent.
package struct ServerSettings: Equatable, Sendable {
    package var address: ServerAddress
    /// File of the access token, accessible to its owner only.
    package var tokenFile: FilePath
    /// File of CA certificates that are trusted instead of the system's; nil for the system's.
    package var authorityFile: FilePath?
    /// Proxy in libcurl's syntax; nil for none, even if the environment names one.
    package var proxy: String?
    /// Time-out for the connection, including the TLS handshake.
    package var connectTimeout = Duration.seconds(15)
    /// Time-out for the request as a whole.
    package var timeout = Duration.seconds(15)
    /// Minimum interval between two fetches of regions, in hours.
    package var updateInterval = 12
    /// Identifier that the application has for its user; nil for none (SW-18).
    package var userID: String?
    /// User's agreement; nil if there is none, and it may be to the use of another server.
    package var agreement: ServerAgreement?
    /// True if the test log is enabled (`test-mode`).
    package var isTestMode = false

    package init(_ address: ServerAddress, tokenFile: FilePath) {
        self.address = address
        self.tokenFile = tokenFile
    }
}

/// Base address of a server: `https://HOST[:PORT][/PATH]`.
package struct ServerAddress: Equatable, Sendable, CustomStringConvertible {
    /// Error in the text of a server's address.
    package enum Fault: Error, Equatable, Sendable {
        /// The address does not begin with `https://`.
        case notHTTPS
        case host
        case port
        /// The address contains a user name or a password, which would be visible to everybody who reads it.
        case user
        /// The address contains a question mark, a `#`, a blank, or another forbidden or non-ASCII character.
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

    /// Splits the authority into the host, which is a name or an IP address (IPv6 in brackets), and the port.
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

/// Access token of an application (the application code of SW-1), never printed.
package struct AccessToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package enum Failure: Error, Equatable, Sendable {
        case unreadable(FilePath, Errno)
        case foreign(FilePath, owner: UInt32)
        /// The mode of the file gives more rights than reading and writing by its owner.
        case open(FilePath, mode: UInt32)
        /// The file is not a single line of 1 to 4,096 visible ASCII characters.
        case garbled(FilePath)
    }

    private static let limit = 4096

    /// Header line with the token, to be passed to the library only.
    let line: String

    package init(file: FilePath, user: UInt32 = ProcessFacts.user) throws(Failure) {
        let read: (bytes: [UInt8], owner: UInt32, mode: UInt32)
        do throws(Errno) {
            // One more byte for a final line feed.
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
