// SPDX-License-Identifier: GPL-2.0-or-later

import BeaconServer
import Glibc
import SystemPackage
import TestSupport
import Testing
import Texts

@testable import blewedge

@Suite("The access token, and the address it is sent to")
struct TokenTests {
    private let secret = "s3cret"

    private func token(_ text: String, mode: mode_t = 0o600, user: UInt32? = nil) throws -> AccessToken {
        let directory = try TestDirectory()
        try directory.write(text, to: "token")
        try #require(chmod(directory("token"), mode) == 0)
        return try withExtendedLifetime(directory) {
            try AccessToken(file: FilePath(directory("token")), user: user ?? geteuid())
        }
    }

    private func failure(_ text: String, mode: mode_t = 0o600, user: UInt32? = nil) throws -> CommandFailure {
        do {
            _ = try token(text, mode: mode, user: user)
        } catch let failure as AccessToken.Failure {
            return CommandFailure(.token(failure))
        }
        Issue.record("taken")
        return CommandFailure(.usage, Message(detail: ""))
    }

    @Test(
        "D-27: a token that anybody else may read or write, or another user's, is refused with 77",
        arguments: 0...0o777
    )
    func modes(mode: Int) throws {
        // The owner can read the file, and root can read any file.
        guard mode & 0o400 != 0 else { return }
        if mode & 0o177 == 0 {
            _ = try token(secret, mode: mode_t(mode))
        } else {
            let failure = try failure(secret, mode: mode_t(mode))
            #expect(failure.status == .permission && failure.cause.english.contains(String(mode, radix: 8)))
            #expect(failure.remedy?.english.contains("chmod 600") == true)
        }
    }

    @Test("D-27: a token of another user is refused with 77, one that is not there or no token with 78")
    func others() throws {
        let foreign = try failure(secret, user: geteuid() + 1)
        #expect(foreign.status == .permission && foreign.cause.english.contains("belongs to user \(geteuid())"))
        for text in ["", "\n", "a b", "a\nb", "a\r\n", "ä", "a\0b", String(repeating: "x", count: 4097)] {
            #expect(try failure(text).status == .configuration, "\(text.count)")
        }
        _ = try token(String(repeating: "x", count: 4096) + "\n")
        for path in ["/nonexistent", "/dev/zero", "/"] {
            #expect(throws: AccessToken.Failure.self) { try AccessToken(file: FilePath(path), user: 0) }
        }
    }

    @Test("D-27: nothing that prints a token, or what has one, prints its text")
    func unprinted() throws {
        let token = try token(secret)
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped, "\([token])"] { #expect(!text.contains(secret)) }
        let directory = try TestDirectory()
        try directory.write(secret, to: "token")
        try #require(chmod(directory("token"), 0o600) == 0)
        let address = try ServerAddress("https://localhost:1")
        var settings = ServerSettings(address, tokenFile: FilePath(directory("token")))
        settings.agreement = agreement(to: address)
        let client = try ServerClient(settings)
        var kept = KeptRegions()
        let fault = fault { try client.fetch(.whole, into: &kept, at: 0) }
        var all = "\(client)" + String(reflecting: fault)
        dump(client, to: &all)
        #expect(!all.contains(secret))
    }

    @Test("D-27: an address is of HTTPS, with a host, and with nothing that a reader of it should not see")
    func addresses() throws {
        let right = [
            "https://beacons.example", "HTTPS://beacons.example:8443/v1", "https://192.0.2.1/",
            "https://[2001:db8::1]:443/a/b",
        ]
        #expect(
            try right.map { try ServerAddress($0).description } == [
                "https://beacons.example", "https://beacons.example:8443/v1", "https://192.0.2.1",
                "https://[2001:db8::1]:443/a/b",
            ]
        )
        let wrong: [(String, ServerAddress.Fault)] = [
            ("http://beacons.example", .notHTTPS), ("file:///etc/passwd", .notHTTPS), ("", .notHTTPS),
            ("beacons.example", .notHTTPS), ("https://", .host), ("https:///v1", .host), ("https://:443", .host),
            ("https://a_b", .host), ("https://[::1", .host), ("https://[]", .host), ("https://a:b:c", .port),
            ("https://a:", .port), ("https://a:0", .port), ("https://a:65536", .port), ("https://a:+1", .port),
            ("https://me@a", .user), ("https://me:password@a", .user), ("https://a/?b", .sign), ("https://a/#b", .sign),
            ("https://a b", .sign), ("https://a\r\nHost: b", .sign), ("https://ä", .sign), ("https://a\\b", .sign),
        ]
        for (text, fault) in wrong {
            #expect(throws: fault, "\(text)") { try ServerAddress(text) }
            let failure = CommandFailure(fault, in: text)
            #expect(failure.status == .configuration && !failure.cause.english.contains("password"))
        }
    }
}
