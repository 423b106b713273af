// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BeaconServer
import Configuration
import Daemon
import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts

@testable import blewedge

@Suite("The commands that ask a server of beacons", .timeLimit(.minutes(10)), .serialized)
struct ServerCommandTests {
    /// Output of a run.
    private final class Printed {
        var data = ""
        var notes: [String] = []
        var contacts: [TrackRun.Contact] = []

        /// Returns the printed JSON object.
        func object() throws -> JSONValue {
            #expect(data.hasSuffix("}\n") && data.split(separator: "\n").count == 1)
            return try JSONValue(Array(data.utf8))
        }
    }

    private func output(_ printed: Printed, isJSON: Bool) -> ServerOutput {
        ServerOutput(
            isJSON: isJSON,
            write: { printed.data += $0 },
            note: { printed.notes.append($0.english) },
            onContact: { printed.contacts.append($0) }
        )
    }

    private let server: ReferenceServer
    private let files: ServerFiles

    init() throws {
        server = try ReferenceServer()
        files = ServerFiles(in: FilePath(server.directory("state")))
    }

    /// Returns the options that select the reference server and one of its scenarios.
    private func words(_ scenario: String) throws -> [String] {
        let settings = try server.settings(scenario)
        return [
            "--server", "\(settings.address)", "--token-file", "\(settings.tokenFile)", "--ca-file",
            "\(settings.authorityFile ?? "")",
        ]
    }

    /// Runs a command with the files of this test; returns the failure with which the program would exit.
    private func perform(
        _ options: ServerOptions,
        hours: Int = 12,
        isTestMode: Bool = false,
        hasAgreed: Bool = true,
        _ printed: Printed,
        _ body: (ServerRun) throws -> Void
    ) -> CommandFailure? {
        do {
            if hasAgreed, let address = options.server.flatMap({ try? ServerAddress($0) }) {
                try AgreementStore(files.agreement).keep(agreement(to: address))
            }
            try options.perform(
                hours: hours,
                isTestMode: isTestMode,
                files: files,
                output(printed, isJSON: options.json),
                body
            )
            return nil
        } catch {
            return error as? CommandFailure
        }
    }

    private func options(_ scenario: String, _ more: String...) throws -> ServerOptions {
        try ServerOptions.parse(try words(scenario) + more)
    }

    @Test("SW-10: fetch prints the new and the abandoned regions, as text and as JSON, and saves the result")
    func fetch() throws {
        var printed = Printed()
        #expect(perform(try options("fine", "--json"), printed) { try $0.fetch(.whole) } == nil)
        let object = try printed.object()
        #expect(object["ok"]?.bool == true && object["result"]?.string == "has-new")
        #expect(object["regions"]?.array?.count == 6 && object["new"]?.array?.count == 6)
        printed = Printed()
        let soon = perform(try options("fine", "--json"), printed) { try $0.fetch(.whole) }
        #expect(soon?.status == .timeout && soon?.cause.english.contains("1500") == true)
        #expect(try printed.object()["error"]?.integer == 1500 && printed.object()["ok"]?.bool == false)
        printed = Printed()
        #expect(perform(try options("later"), hours: 0, printed) { try $0.fetch(.whole) } == nil)
        #expect(printed.data == "new: \(badge)/13  owned  static\nabandoned: \(badge)/12  owned  dynamic\n")
        #expect(printed.notes == ["regions: 6; new: 1; abandoned: 1"])
        printed = Printed()
        #expect(perform(try options("later"), hours: 0, printed) { try $0.fetch(.whole) } == nil)
        #expect(printed.notes == ["regions: 6; no changes"] && printed.data.isEmpty)
        #expect(try RegionStore(files.regions).read().current.count == 6)
    }

    @Test("SW-10: each error of fetch has its number or its status, and its exit status")
    func fetchErrors() throws {
        let expected: [(String, Int64?, Int64?, Texts.ExitStatus)] = [
            ("error-1400", 1400, nil, .unavailable), ("status-404", nil, 404, .configuration),
            ("status-401", nil, 401, .permission), ("status-500", nil, 500, .timeout),
            ("status-503", nil, 503, .timeout), ("redirect", nil, 302, .configuration),
        ]
        for (scenario, error, status, exit) in expected {
            let printed = Printed()
            let failure = perform(try options(scenario, "--json"), printed) { try $0.fetch(.whole) }
            #expect(failure?.status == exit, "\(scenario)")
            let object = try printed.object()
            #expect(object["error"]?.integer == error && object["status"]?.integer == status)
            #expect(object["cause"]?.string == failure?.cause.english)
        }
        #expect(try RegionStore(files.regions).read() == KeptRegions())
    }

    @Test("SW-14: validate exits with 0 for a valid beacon only, and prints each error number")
    func validate() throws {
        let beacon = OnetimeBeacon(try #require(ServerUUID(badge)), major: 12, minor: 3456)
        let printed = Printed()
        #expect(perform(try options("fine"), printed) { try $0.validate(beacon) } == nil)
        #expect(printed.notes == ["valid"])
        let invalid = Printed()
        let other = OnetimeBeacon(beacon.uuid, major: 12, minor: 1)
        #expect(perform(try options("fine", "--json"), invalid) { try $0.validate(other) }?.status == .permission)
        #expect(try invalid.object()["valid"]?.bool == false)
        let expected: [(String, Int64, Texts.ExitStatus)] = [
            ("error-2001", 2001, .permission), ("error-2002", 2002, .usage), ("error-2003", 2003, .usage),
            ("error-2004", 2004, .timeout),
        ]
        for (scenario, number, exit) in expected {
            let printed = Printed()
            let failure = perform(try options(scenario, "--json"), printed) { try $0.validate(beacon) }
            #expect(failure?.status == exit && failure?.cause.english.contains("(\(number))") == true)
            #expect(try printed.object()["error"]?.integer == number)
        }
        let nobody = Printed()
        let nowhere = ["--server", "https://localhost:1", "--token-file", server.directory("token"), "--json"]
        let failure = perform(try ServerOptions.parse(nowhere), nobody) { try $0.validate(beacon) }
        #expect(failure?.status == .timeout)
        #expect(try nobody.object()["error"]?.integer == 2005)
    }

    @Test("A command without a server prints the failure for programs, too")
    func noServer() throws {
        let missing = Printed()
        let failure = perform(try ServerOptions.parse(["--json"]), missing) { try $0.fetch(.whole) }
        #expect(failure?.status == .configuration)
        let object = try missing.object()
        #expect(object["ok"]?.bool == false && object["error"] == nil)
        #expect(object["cause"]?.string == failure?.cause.english)
        #expect(object["remedy"]?.string == failure?.remedy?.english && object["remedy"] != nil)
        let text = Printed()
        #expect(perform(try ServerOptions.parse([]), text) { try $0.fetch(.whole) } == failure)
        #expect(text.data.isEmpty && text.notes.isEmpty)
        // A file that cannot be read is reported likewise.
        try FileSystem.makeDirectory(files.regions.removingLastComponent(), mode: 0o700)
        try FileSystem.replace(files.regions, with: Array("{".utf8), mode: 0o600)
        let broken = Printed()
        let unreadable = perform(try options("fine", "--json"), broken) { try $0.fetch(.whole) }
        #expect(try broken.object()["cause"]?.string == unreadable?.cause.english && unreadable != nil)
    }

    @Test("SW-11: test-log requires test mode")
    func testLog() throws {
        let region = try #require(ServerRegion(badge + "/12"))
        let printed = Printed()
        let failure = perform(try options("fine"), printed) { try $0.log(.inside, of: region) }
        #expect(failure?.status == .configuration)
        #expect(perform(try options("fine"), isTestMode: true, printed) { try $0.log(.inside, of: region) } == nil)
        #expect(printed.notes == ["the server accepted the test log"])
        #expect(try server.request().body.contains(#""event":"inside""#))
    }

    @Test(
        "SW-18: the auid of the configuration is sent with every request, and only show-record prints it"
    )
    func userID() throws {
        let configured = try Configuration(text: "[beacons]\nauid = \"kiosk17\"\n").beacons
        let region = try #require(ServerRegion(badge + "/12"))
        let sightings = [TrackRecord.Sighting(major: 12, minor: 1, rssi: -60, milliseconds: 0)]
        let record = try #require(TrackRecord(region, seconds: 1000, sightings: sightings))
        try TrackStore(files.tracks).update { $0.add(record) }
        let shown = Printed()
        try ServerRun.showRecords(in: files, of: configured.userID, output(shown, isJSON: false))
        var settings = try options("fine").settings(configured)
        settings.agreement = agreement(to: settings.address)
        settings.isTestMode = true
        let said = Printed()
        let run = ServerRun(settings, files: files, output(said, isJSON: false))
        try run.send()
        #expect(try server.request().body + "\n" == shown.data)
        try run.fetch(.whole)
        #expect(try server.request().body == #"{"type":"whole","auid":"kiosk17"}"#)
        try run.log(.enter, of: region)
        #expect(try server.request().body.hasSuffix(#","auid":"kiosk17"}"#))
        try run.validate(OnetimeBeacon(try #require(ServerUUID(badge)), major: 12, minor: 3456))
        #expect(try server.request().body.hasSuffix(#","auid":"kiosk17"}"#))
        #expect(shown.data.hasSuffix(#","auid":"kiosk17"}"# + "\n"))
        #expect(!said.data.contains("kiosk17") && !said.notes.contains { $0.contains("kiosk17") })
    }

    @Test(
        "SW-19: send prints the server's result for each record, as text and as JSON, and informs the daemon"
    )
    func contacts() throws {
        let region = try #require(ServerRegion(badge + "/12"))
        let sightings = [TrackRecord.Sighting(major: 12, minor: 1, milliseconds: 0)]
        for result in ContactResult.allCases {
            let record = try #require(TrackRecord(region, seconds: 1000, sightings: sightings))
            try TrackStore(files.tracks).update { $0.add(record) }
            let printed = Printed()
            #expect(perform(try options("contact-\(result.rawValue)", "--json"), printed) { try $0.send() } == nil)
            let contact = try #require(try printed.object()["contacts"]?.array?.first)
            #expect(contact["result"]?.string == result.rawValue && contact["region"]?.string == badge + "/12")
            #expect(contact["record"]?.string == record.identifier)
            #expect(printed.contacts == [TrackRun.Contact(record, result)])
        }
    }

    @Test("SW-7: a track is saved and sent at once; without a network it stays queued, and the command succeeds")
    func keeping() throws {
        let region = try #require(ServerRegion(badge + "/12"))
        let sightings = [TrackRecord.Sighting(major: 12, minor: 1, milliseconds: 0)]
        let records = try (0..<3).map { _ in try #require(TrackRecord(region, seconds: 1000, sightings: sightings)) }
        let store = TrackStore(files.tracks)
        let nowhere = ["--server", "https://localhost:1", "--token-file", server.directory("token")]
        let printed = Printed()
        let wait = { (_: Duration) in }
        #expect(perform(try ServerOptions.parse(nowhere), printed) { try $0.keep(records[0], wait: wait) } == nil)
        #expect(printed.notes.last?.contains("cannot be reached") == true)
        #expect(try store.read().entries.map(\.record) == [records[0]])
        #expect(perform(try options("fine"), Printed()) { try $0.keep(records[1], wait: wait) } == nil)
        #expect(try [server.request().body, server.request().body] == records.prefix(2).map(\.members.text))
        // A process that holds the sender lock also sends this record.
        let fine = try options("fine")
        let failure = try store.asSender { perform(fine, Printed()) { try $0.keep(records[2], wait: wait) } }
        #expect(failure == nil)
        #expect(try store.read().entries.map(\.record) == [records[2]])
    }

    @Test("SW-7: show-record prints exactly the bytes that send sends, and send prints the results")
    func send() throws {
        let region = try #require(ServerRegion(badge + "/12"))
        let sightings = [TrackRecord.Sighting(major: 12, minor: 1, rssi: -60, milliseconds: 0)]
        let record = try #require(TrackRecord(region, seconds: 1000, sightings: sightings))
        try TrackStore(files.tracks).update { $0.add(record) }
        let shown = Printed()
        try ServerRun.showRecords(in: files, of: nil, output(shown, isJSON: false))
        #expect(shown.notes == ["no record was sent"])
        let printed = Printed()
        #expect(perform(try options("fine"), printed) { try $0.send() } == nil)
        #expect(try server.request().body + "\n" == shown.data)
        #expect(printed.notes == ["sent: 1; failed: 0; pending: 0"])
        #expect(printed.data == "\(badge)/12: marked for the campaign\n")
        let after = Printed()
        try ServerRun.showRecords(in: files, of: nil, output(after, isJSON: true))
        #expect(try after.object()["last"]?.text == record.members.text)
        #expect(try after.object()["sent"]?.integer == 1 && after.object()["records"]?.array == [])

        try TrackStore(files.tracks).update { $0.add(record) }
        let failed = Printed()
        var (now, waited) = (Duration.zero, [Duration]())
        let failure = perform(try options("status-503", "--json"), failed) { run in
            try run.send(
                now: { now },
                wait: {
                    waited.append($0)
                    now += $0
                }
            )
        }
        #expect(
            failure?.status == .timeout && failure?.cause.english.hasPrefix("records that could not be sent: 1") == true
        )
        #expect(waited == [.seconds(2), .seconds(4), .seconds(8)])
        let object = try failed.object()
        #expect(object["givenUp"]?.integer == 1 && object["status"]?.integer == 503 && object["ok"]?.bool == false)
        for _ in 1...4 { #expect(try server.request().path == "/status-503/track") }
    }

    @Test("SW-17: without an agreement no command asks the server, and each says how to agree, to programs too")
    func unagreed() throws {
        let region = try #require(ServerRegion(badge + "/12"))
        let beacon = OnetimeBeacon(try #require(ServerUUID(badge)), major: 12, minor: 3456)
        let sightings = [TrackRecord.Sighting(major: 12, minor: 1, milliseconds: 0)]
        let record = try #require(TrackRecord(region, seconds: 1000, sightings: sightings))
        try TrackStore(files.tracks).update { $0.add(record) }
        let commands: [(ServerRun) throws -> Void] = [
            { try $0.fetch(.whole) }, { try $0.log(.enter, of: region) }, { try $0.validate(beacon) },
            { try $0.send() }, { try $0.requireAgreement() },
        ]
        let fine = try server.settings("fine").address
        for command in commands {
            let printed = Printed()
            let failure = perform(try options("fine", "--json"), isTestMode: true, hasAgreed: false, printed, command)
            #expect(failure?.status == .permission)
            #expect(failure?.cause.english == "you have not agreed to use \(fine)")
            #expect(failure?.remedy?.english.contains("`blewedge beacons set-up --server \(fine)`") == true)
            let object = try printed.object()
            #expect(object["ok"]?.bool == false && object["cause"]?.string == failure?.cause.english)
            #expect(object["remedy"]?.string == failure?.remedy?.english)
        }
        // An agreement to use another server does not count.
        try AgreementStore(files.agreement).keep(agreement(to: try ServerAddress("https://localhost")))
        let failure = perform(try options("fine"), hasAgreed: false, Printed()) { try $0.send() }
        #expect(failure?.status == .permission)
        #expect(try TrackStore(files.tracks).read().entries.map(\.attempts) == [0])
        // This is the first request that reaches the server.
        #expect(perform(try options("status-418"), Printed()) { try $0.fetch(.whole) }?.status == .configuration)
        #expect(try server.request().path == "/status-418/regions")
    }

    @Test("SW-17: set-up shows the text, and keeps it with its date if the user agrees, or --agree is given")
    func agreeing() throws {
        let store = AgreementStore(files.agreement)
        func setUp(isAgreed: Bool, ask: (() throws -> Bool)?) throws -> (JSONValue, Printed, CommandFailure?) {
            var answer = JSONObject()
            let printed = Printed()
            let failure = perform(try options("fine"), hasAgreed: false, printed) { run in
                try run.setUp(isAgreed: isAgreed, ask: ask, &answer)
            }
            return (try JSONValue(Array(answer.text.utf8)), printed, failure)
        }
        #expect(try setUp(isAgreed: false, ask: nil).2?.status == .permission)
        let refused = try setUp(isAgreed: false, ask: { false })
        #expect(refused.2?.status == .permission && refused.1.notes.count == 1)
        #expect(try store.read() == nil)
        let before = WallClock.seconds
        let (answer, printed, failure) = try setUp(isAgreed: false, ask: { true })
        let kept = try #require(try store.read())
        let address = try server.settings("fine").address.description
        #expect(failure == nil && kept.server == address)
        #expect((before...WallClock.seconds).contains(kept.seconds))
        #expect(
            printed.notes.first == kept.shownText && kept.shownText.contains("If you agree, \(kept.server) receives")
        )
        #expect(answer["agreement"]?["at"]?.integer == Int64(kept.seconds))
        // A stored agreement is not requested again.
        #expect(try setUp(isAgreed: false, ask: nil).2 == nil)
        try store.remove()
        #expect(try setUp(isAgreed: true, ask: nil).2 == nil)
        #expect(try store.read()?.shownText == kept.shownText)
    }

    @Test("SW-21: set-up fetches the official regions, once in each start of the machine, and keeps the others")
    func preparing() throws {
        let store = RegionStore(files.regions)
        let uuid = try #require(ServerUUID(badge))
        _ = try store.update {
            $0.take([ManagedRegion(.uuid(uuid, major: 9, minor: nil), .test)], of: .whole, at: 1000)
        }
        func prepare(_ scenario: String, since start: Int) throws -> (JSONValue, CommandFailure?) {
            var answer = JSONObject()
            let failure = perform(try options(scenario), Printed()) { try $0.prepare(since: start, &answer) }
            return (try JSONValue(Array(answer.text.utf8)), failure)
        }
        let start = WallClock.seconds - 100
        let (answer, failure) = try prepare("fine", since: start)
        #expect(failure == nil && answer["result"]?.string == "has-new" && answer["official"]?.array?.count == 2)
        #expect(try server.request().body == #"{"type":"service"}"#)
        #expect(try store.read().current.map(\.kind) == [.test, .service, .service])
        // Nothing is fetched again after the same start; after the next start, regions are fetched even within the
        // update interval.
        let (again, _) = try prepare("fine", since: start)
        #expect(again["result"] == nil && again["official"]?.array?.count == 2)
        let (next, _) = try prepare("later", since: WallClock.seconds + 1)
        #expect(next["result"]?.string == "no-difference")
        #expect(try server.request().path == "/later/regions")
        // A failed update keeps the existing regions, and is repeated after the same start.
        #expect(try prepare("status-503", since: WallClock.seconds + 1).1?.status == .timeout)
        #expect(try server.request().path == "/status-503/regions")
        #expect(try store.read().current.count == 3)
    }

    @Test(
        "D-27: nobody is asked unless a server and a token's file are named, and never with a token that others may read"
    )
    func unconfigured() throws {
        let printed = Printed()
        let asked: (ServerRun) throws -> Void = { _ in Issue.record("asked") }
        #expect(perform(try ServerOptions.parse([]), printed, asked)?.status == .configuration)
        let server = ["--server", "https://localhost"]
        #expect(perform(try ServerOptions.parse(server), printed, asked)?.status == .configuration)
        let plain = ["--server", "http://localhost", "--token-file", "/nonexistent"]
        #expect(perform(try ServerOptions.parse(plain), printed, asked)?.status == .configuration)
        let open = self.server.directory("token")
        #expect(chmod(open, 0o640) == 0)
        let failure = perform(try options("fine"), printed) { try $0.fetch(.whole) }
        #expect(failure?.status == .permission && failure?.remedy?.english == "`chmod 600 \(open)`")
        #expect(printed.data.isEmpty && printed.notes.isEmpty)
    }

    @Test("D-27: the command lines of all of them, right and wrong")
    func parsing() throws {
        let fetch = try BeaconsFetchCommand.parse(["third-party"] + words("fine") + ["--timeout", "2s"])
        #expect(fetch.type == "third-party" && fetch.updateInterval == nil)
        var configured = BeaconConfiguration()
        configured.server = "https://configured.example"
        let settings = try fetch.server.settings(configured)
        #expect(settings.timeout == .seconds(2) && settings.connectTimeout == .seconds(2) && settings.proxy == nil)
        #expect(try BeaconsFetchCommand.parse(["owned", "--beacons", "dynamic"]).beacons == .dynamic)
        #expect(try BeaconsTestLogCommand.parse([badge, "outside"]).event == .outside)
        #expect(try BeaconsValidateCommand.parse([badge, "0", "65535"]).minor == 65535)
        _ = try BeaconsSendCommand.parse([])
        #expect(try BeaconsShowRecordCommand.parse(["--json"]).json)
        for words in [
            ["all"], ["whole", "--beacons", "static"], ["test", "--beacons", "static"], ["--update-interval", "-1"],
        ] {
            #expect(throws: (any Error).self) { try BeaconsFetchCommand.parse(words) }
        }
        #expect(throws: (any Error).self) { try BeaconsTestLogCommand.parse([badge, "left"]) }
        #expect(throws: (any Error).self) { try BeaconsValidateCommand.parse([badge, "65536", "1"]) }
        for (failing, status) in [
            (try BeaconsTestLogCommand.parse(["nowhere", "enter"]).run, Texts.ExitStatus.usage),
            (try BeaconsValidateCommand.parse(["nobody", "1", "2"]).run, .usage),
        ] {
            do {
                try failing()
                Issue.record("ran")
            } catch {
                #expect((error as? CommandFailure)?.status == status)
            }
        }
    }
}
