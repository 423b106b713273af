// SPDX-License-Identifier: GPL-2.0-or-later

import BeaconServer
import Glibc
import SystemPackage
import TestSupport
import Testing
import Texts

@testable import blewedge

@Suite("A server of beacons over TLS, and every answer it can give", .timeLimit(.minutes(10)), .serialized)
struct ServerTests {
    private let beacon: OnetimeBeacon
    private let region: ServerRegion
    private let track: TrackRecord

    init() throws {
        let uuid = try #require(ServerUUID(badge))
        beacon = OnetimeBeacon(uuid, major: 12, minor: 3456)
        region = .uuid(uuid, major: 12, minor: nil)
        let sightings = [TrackRecord.Sighting(major: 12, minor: 1, rssi: -60, milliseconds: 0)]
        track = try #require(TrackRecord(region, seconds: 1000, sightings: sightings))
    }

    private func regions(_ client: ServerClient, _ scope: RegionScope = .whole) -> ServerFault? {
        fault {
            var kept = KeptRegions()
            try client.fetch(scope, into: &kept, at: 1000)
        }
    }

    private func validity(_ client: ServerClient) -> ServerFault? { fault { _ = try client.validate(beacon) } }

    @Test("SW-10: regions are fetched by type, and sorted into current, new and abandoned")
    func fetch() throws {
        let server = try ReferenceServer()
        var kept = KeptRegions()
        try server.client("fine").fetch(.whole, into: &kept, at: 1000)
        let request = try server.request()
        #expect(request == ReferenceServer.Request(path: "/fine/regions", body: #"{"type":"whole"}"#))
        #expect(kept.current.count == 6 && kept.new == kept.current && kept.abandoned.isEmpty)
        #expect(kept.current[0].name == "badges" && kept.current[3].kind == .thirdParty)
        #expect(kept.current.suffix(2).map(\.kind) == [.service, .service])

        var settings = try server.settings("later")
        settings.updateInterval = 0
        try ServerClient(settings).fetch(.whole, into: &kept, at: 2000)
        #expect(kept.current.count == 6 && kept.difference == .newAndAbandoned)
        #expect(kept.new.map { $0.region.description } == [badge + "/13"])
        #expect(kept.abandoned.map { $0.region.description } == [badge + "/12"])
        #expect(try server.request().path == "/later/regions")

        var owned = KeptRegions()
        let scope = try #require(RegionScope("owned", beacons: .dynamic))
        try server.client("fine").fetch(scope, into: &owned, at: 1000)
        #expect(try server.request().body == #"{"type":"owned","beacons":"dynamic"}"#)
        #expect(owned.current.map { $0.region.description } == [badge + "/12"])
    }

    @Test("SW-20: each of the four kinds of beacons is fetched by itself: service and owned, static and dynamic")
    func kinds() throws {
        let server = try ReferenceServer()
        for (word, variety, count) in [
            ("service", ManagedRegion.Variety.static, 1), ("service", .dynamic, 1), ("owned", .static, 1),
            ("owned", .dynamic, 1),
        ] {
            let scope = try #require(RegionScope(word, beacons: variety))
            var kept = KeptRegions()
            try server.client("fine").fetch(scope, into: &kept, at: 1000)
            #expect(kept.current.count == count)
            #expect(kept.current.allSatisfy { $0.kind.rawValue == word && $0.variety == variety })
            #expect(try server.request().body == #"{"type":"\#(word)","beacons":"\#(variety.rawValue)"}"#)
        }
        #expect(RegionScope("test", beacons: .static) == nil && RegionScope("third-party", beacons: .dynamic) == nil)
    }

    @Test("SW-10: error 1400 is distinguished from 1500, which needs no request, and both from HTTP errors")
    func errors() throws {
        let server = try ReferenceServer()
        #expect(regions(try server.client("error-1400")) == .refused(.noRegions))
        #expect(regions(try server.client("empty")) == .refused(.noRegions))
        for status in [204, 400, 401, 403, 404, 429, 500, 503] {
            let found = regions(try server.client("status-\(status)"))
            #expect(found == .http(status) && found?.status == status && found?.error == nil)
        }
        for _ in 0..<10 { _ = try server.request() }
        // Failures keep the stored regions.
        var kept = KeptRegions()
        try server.client("fine").fetch(.whole, into: &kept, at: 1000)
        #expect(try server.request().path == "/fine/regions")
        let before = kept
        for scenario in ["error-1400", "status-500"] {
            let client = try server.client(scenario)
            #expect(fault { try client.fetch(.whole, into: &kept, at: 1000 + 12 * 3600) } != nil)
            #expect(try server.request().path == "/\(scenario)/regions")
        }
        let client = try server.client("fine")
        let soon = fault { try client.fetch(.whole, into: &kept, at: 1000 + 12 * 3600 - 1) }
        #expect(soon == .tooSoon(until: 1000 + 12 * 3600) && soon?.error?.rawValue == 1500)
        #expect(kept == before)
        // No request was sent: the server's next request is this one.
        #expect(fault { try client.fetch(.whole, into: &kept, at: 1000 + 12 * 3600) } == nil)
        #expect(try server.request().path == "/fine/regions")
        #expect(kept.difference == .none)
    }

    @Test("SW-11: each of the four events is logged in test mode; otherwise no request is sent")
    func testLog() throws {
        let server = try ReferenceServer()
        var settings = try server.settings("fine")
        #expect(fault { try ServerClient(settings).log(.enter, of: region, at: 1000) } == .notInTestMode)
        settings.isTestMode = true
        for event in ServerRequest.Event.allCases {
            try ServerClient(settings).log(event, of: region, at: 1000)
            let request = try server.request()
            #expect(request.path == "/fine/test-log")
            #expect(request.body.contains(#""event":"\#(event.rawValue)""#) && request.body.contains(#""at":1000"#))
        }
        for (scenario, expected) in [("status-404", 404), ("status-503", 503)] {
            var settings = try server.settings(scenario)
            settings.isTestMode = true
            #expect(fault { try ServerClient(settings).log(.exit, of: region, at: 1000) } == .http(expected))
        }
    }

    @Test("SW-14: a one-time beacon is valid, or invalid, or the error has its number from 2001 to 2004")
    func validation() throws {
        let server = try ReferenceServer()
        #expect(try server.client("fine").validate(beacon))
        let sent = #"{"uuid":"\#(badge)","major":12,"minor":3456}"#
        #expect(try server.request() == ReferenceServer.Request(path: "/fine/validate", body: sent))
        #expect(try !server.client("fine").validate(OnetimeBeacon(beacon.uuid, major: 12, minor: 1)))
        for number in 2001...2004 {
            let found = validity(try server.client("error-\(number)"))
            #expect(found?.error?.rawValue == number)
        }
        let found = validity(try server.client("error-2006"))
        #expect(found == .answer(ServerAnswerFault(place: "error", reason: "2006 is no error of this request")))
        #expect(validity(try server.client("status-500")) == .http(500))
    }

    @Test("A server that cannot be reached, or is silent, is error 2005, and that of nothing else")
    func unreachable() throws {
        let server = try ReferenceServer()
        // Port 1 is closed.
        var settings = try server.settings("fine")
        settings = ServerSettings(try ServerAddress("https://localhost:1"), tokenFile: settings.tokenFile)
        settings.agreement = agreement(to: settings.address)
        #expect(validity(try ServerClient(settings)) == .refused(.unreachable))
        guard case .request(.unreachable) = regions(try ServerClient(settings)) else {
            Issue.record("reached")
            return
        }
        settings.address = try ServerAddress("https://no-such-host.invalid")
        settings.agreement = agreement(to: settings.address)
        #expect(validity(try ServerClient(settings)) == .refused(.unreachable))
        var silent = try server.settings("fine", port: 2)
        silent.connectTimeout = .milliseconds(200)
        #expect(validity(try ServerClient(silent)) == .refused(.unreachable))
        // A certificate error does not mean that the server is unreachable.
        guard case .request(.certificate) = validity(try ServerClient(server.settings("fine", port: 1))) else {
            Issue.record("believed")
            return
        }
    }

    @Test("A track is sent as it is, and what the server says of it is told apart")
    func tracks() throws {
        let server = try ReferenceServer()
        #expect(try server.client("fine").send(track) == .marked)
        #expect(try server.request().body == track.members.text)
        #expect(fault { _ = try server.client("status-503").send(track) } == .http(503))
        for (text, place, reason) in [
            (#"{"accepted":false}"#, "accepted", "is not true"), (#"{"accepted":true}"#, "result", "is missing"),
            (#"{"accepted":true,"result":"blocked"}"#, "result", "is none of nothing-to-do, marked, "),
        ] {
            guard case .answer(let found) = fault(of: { _ = try server.answer(with: text).send(track) }) else {
                Issue.record("\(text)")
                continue
            }
            #expect(found.place == place && found.reason.hasPrefix(reason))
        }
    }

    @Test("D-27: a certificate of another name, and one of an unknown authority, are refused before anything is sent")
    func certificates() throws {
        let server = try ReferenceServer()
        var unknown = try server.settings("fine")
        unknown.authorityFile = nil
        var other = try server.settings("fine")
        other.authorityFile = FilePath(server.directory("elsewhere.crt"))
        let address = try server.settings("fine", host: "127.0.0.1")
        for settings in [try server.settings("fine", port: 1), unknown, other, address] {
            guard case .request(.certificate(let text)) = regions(try ServerClient(settings)) else {
                Issue.record("believed")
                continue
            }
            #expect(!text.isEmpty)
        }
        // This is the first request that reaches the server.
        #expect(regions(try server.client("status-418")) == .http(418))
        #expect(try server.request().path == "/status-418/regions")
        var none = try server.settings("fine")
        none.authorityFile = FilePath(server.directory("no-such-file"))
        #expect(regions(try ServerClient(none)) == .request(.authorityFile(server.directory("no-such-file"))))
    }

    @Test("D-27: a redirect is an error with its status, to a file and to the same server")
    func redirects() throws {
        let server = try ReferenceServer()
        #expect(regions(try server.client("redirect")) == .http(302))
        #expect(regions(try server.client("redirect-here")) == .http(307))
        let seen = try [server.request().path, server.request().path]
        #expect(regions(try server.client("status-418")) == .http(418))
        #expect(
            seen + [try server.request().path] == ["redirect", "redirect-here", "status-418"].map { "/\($0)/regions" }
        )
    }

    @Test(
        "D-27: 100 MB are refused after 1 MiB, announced or not; what is just as long is taken",
        arguments: ["huge", "endless"]
    )
    func tooLong(scenario: String) throws {
        let server = try ReferenceServer()
        #expect(regions(try server.client(scenario)) == .request(.tooLong(1 << 20)))
        _ = try server.request()
        let line = try #require(server.line())
        // The transfer ended long before: at most the buffers of both sides were filled.
        #expect(line.hasPrefix("flooded ") && (Int(line.dropFirst(8)) ?? .max) < 50_000_000, "\(line)")
        let text = #"{"valid":true}"#
        let room = String(repeating: " ", count: (1 << 20) - text.utf8.count)
        #expect(try server.answer(with: text + room).validate(beacon))
        #expect(validity(try server.answer(with: text + room + " ")) == .request(.tooLong(1 << 20)))
    }

    @Test("D-27: an answer that is late is taken; one that never comes, or never ends, is not waited for")
    func late() throws {
        let server = try ReferenceServer()
        #expect(try server.client("slow").validate(beacon))
        for (scenario, port) in [("never", 0), ("dribble", 0), ("silent", 2)] {
            var settings = try server.settings(scenario, port: port)
            // Enough time for a server on a busy machine to receive the request; the silent one receives none.
            settings.timeout = scenario == "silent" ? .milliseconds(300) : .seconds(10)
            let found = regions(try ServerClient(settings))
            if case .request(.unreachable) = found, scenario == "silent" { continue }
            #expect(found == .request(.timedOut), "\(scenario)")
        }
        guard case .request(.broken) = regions(try server.client("cut")) else {
            Issue.record("a part was taken for the whole")
            return
        }
    }

    @Test("D-27: wrong JSON is told with its place")
    func wrongJSON() throws {
        let server = try ReferenceServer()
        guard case .answer(let fault) = regions(try server.answer(with: "{\"regions\":\n[}")) else {
            Issue.record("understood")
            return
        }
        #expect(fault.place == "line 2, column 2")
        let region = #"{"regions":[{"uuid":"\#(badge)","type":"test","major":70000}]}"#
        let place = ServerAnswerFault(place: "regions[0].major", reason: "is not from 0 to 65535")
        #expect(regions(try server.answer(with: region)) == .answer(place))
    }

    @Test("D-27: the environment's proxy is not asked, a configured one is")
    func proxy() throws {
        let server = try ReferenceServer()
        setenv("https_proxy", "http://127.0.0.1:1", 1)
        defer { unsetenv("https_proxy") }
        #expect(regions(try server.client("error-1400")) == .refused(.noRegions))
        var settings = try server.settings("fine")
        settings.proxy = "http://127.0.0.1:1"
        guard case .request(.unreachable) = regions(try ServerClient(settings)) else {
            Issue.record("the proxy was not asked")
            return
        }
    }

    @Test("D-31: without libcurl each request says so, and names the package; the options are the library's own")
    func library() throws {
        let server = try ReferenceServer()
        let settings = try server.settings("fine")
        let found = fault { _ = try ServerClient(settings, libraryFile: "libcurl.so.none") }
        guard case .request(.noLibrary(let reason)) = found, let found else {
            Issue.record("loaded")
            return
        }
        #expect(reason.contains("libcurl.so.none"))
        let failure = CommandFailure(found)
        #expect(failure.status == .unavailable && failure.remedy?.english.contains("apt install libcurl4") == true)
        // An existing library that is not libcurl.
        let other = fault { _ = try ServerClient(settings, libraryFile: "libc.so.6") }
        #expect(other == .request(.noLibrary("it has no function curl_easy_init")))

        let library = try CurlLibrary()
        for option in CurlOption.allCases {
            // Versions before 7.73 do not list their options, and those before 7.85 do not support protocol names.
            let number = library.number(ofOption: option.name) ?? option.rawValue
            #expect(number == option.rawValue || number == 0 && option == .protocolNames, "\(option.name)")
        }
    }
}
