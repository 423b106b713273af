// SPDX-License-Identifier: GPL-2.0-or-later

import BeaconServer
import Glibc
import SystemPackage
import TestSupport
import Testing
import Texts

/// The server of reference-server.py over TLS, with newly generated certificates.
///
/// It is killed when this object is released or the tests end.
final class ReferenceServer {
    /// Access token with which the server is called.
    static let token = "secret-0123456789"

    /// Directory of the certificates and the token.
    let directory: TestDirectory
    private let child: pid_t
    private let input: Int32
    private let output: LineReader
    /// The ports of the server, of a server with a certificate for another name, and of one that never responds.
    private let ports: [Int]

    /// Request that the server has received.
    struct Request: Equatable {
        var path: String
        var body: String
    }

    /// Starts the server, and waits until it listens.
    init() throws {
        let directory = try TestDirectory()
        self.directory = directory
        var authorities = ""
        for name in ["localhost", "elsewhere"] {
            try Self.makeCertificate(of: name, in: directory)
            let certificate = try Self.text(of: directory(name + ".crt"))
            authorities += certificate
            try directory.write(try Self.text(of: directory(name + ".key")) + certificate, to: name + ".pem")
        }
        try directory.write(authorities, to: "authorities.pem")
        try directory.write(Self.token + "\n", to: "token")
        try #require(chmod(directory("token"), 0o600) == 0)

        var (toChild, fromChild) = ([Int32](repeating: 0, count: 2), [Int32](repeating: 0, count: 2))
        try #require(pipe(&toChild) == 0)
        try #require(pipe(&fromChild) == 0)
        for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        child = try Self.start(
            ["python3", RepositoryFiles.path("Tests/Unit/BeaconServerTests/reference-server.py"), directory.path],
            (toChild[0], fromChild[1])
        )
        close(toChild[0])
        close(fromChild[1])
        input = toChild[1]
        output = LineReader(fromChild[0])
        var ports: [Int] = []
        if let line = output.line(), line.hasPrefix("ready ") {
            ports = line.split(separator: " ").dropFirst().compactMap { Int($0) }
        }
        self.ports = ports
        try #require(ports.count == 3, "the reference server did not start")
    }

    deinit {
        kill(child, SIGKILL)
        close(input)
        waitpid(child, nil, 0)
    }

    /// Returns the settings for one of its scenarios, such as `fine` or `status-503`.
    func settings(_ scenario: String, host: String = "localhost", port: Int = 0) throws -> ServerSettings {
        let address = try ServerAddress("https://\(host):\(ports[port])/\(scenario)")
        var settings = ServerSettings(address, tokenFile: FilePath(directory("token")))
        settings.authorityFile = FilePath(directory("authorities.pem"))
        settings.agreement = agreement(to: address)
        return settings
    }

    /// Returns a client for one of its scenarios.
    func client(_ scenario: String) throws -> ServerClient { try ServerClient(try settings(scenario)) }

    /// Makes the server respond with this text under the scenario `name`.
    func answer(with text: String, as name: String = "text") throws -> ServerClient {
        try directory.write(text, to: "answers/" + name)
        return try client(name)
    }

    /// Returns the next line that the server prints; nil if it prints none for a minute, or has ended.
    func line() -> String? { output.line() }

    /// Returns the next request that the server has received.
    func request() throws -> Request {
        let next = line()
        let line = try #require(next)
        try #require(line.hasPrefix("request "), "\(line)")
        let value = try JSONValue(Array(line.dropFirst(8).utf8))
        return Request(path: try #require(value["path"]?.string), body: try #require(value["body"]?.string))
    }

    private static func makeCertificate(of name: String, in directory: TestDirectory) throws {
        let words =
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            + ["-days", "2", "-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:\(name)"]
            + ["-keyout", directory(name + ".key"), "-out", directory(name + ".crt")]
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        var status: Int32 = 0
        let child = try start(words, (null, null), error: null)
        let ended = waitpid(child, &status, 0)
        try #require(ended == child && status == 0, "openssl made no certificate")
    }

    /// Starts a program with redirected standard input and output.
    private static func start(_ words: [String], _ ends: (Int32, Int32), error: Int32? = nil) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends.0, 0)
        posix_spawn_file_actions_adddup2(&actions, ends.1, 1)
        if let error { posix_spawn_file_actions_adddup2(&actions, error, 2) }
        var argv = words.map { strdup($0) } + [nil]
        defer { for word in argv { free(word) } }
        var child: pid_t = 0
        let error = posix_spawnp(&child, words[0], &actions, nil, &argv, environ)
        try #require(error == 0, "there is no \(words[0])")
        return child
    }

    static func text(of path: String) throws -> String {
        let stream = try #require(fopen(path, "r"))
        defer { fclose(stream) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(stream), byte >= 0 { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ServerClient {
    /// Fetches regions, and merges them into the stored ones.
    func fetch(_ scope: RegionScope, into kept: inout KeptRegions, at now: Int) throws {
        kept.take(try fetch(scope, after: kept, at: now), of: scope, at: now)
    }
}

/// Creates a user's agreement to use a server.
func agreement(to address: ServerAddress) -> ServerAgreement { ServerAgreement(to: address, at: 900, shownText: "yes") }

/// UUID for tests.
let badge = "4A1C0D9E-5B8F-4E57-9B7E-1C2D3E4F5A6B"

/// Returns the error that `body` throws.
func fault(of body: () throws -> Void) -> ServerFault? {
    do {
        try body()
        return nil
    } catch {
        return error as? ServerFault
    }
}
