// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Daemon
import Devices
import Setup
import TestSupport
import Testing
import Texts

/// Error messages of the beacon commands, with their remedies.
@Suite("Remedies of beacons", .timeLimit(.minutes(10)))
struct BeaconRemedyTests {
    private static let badges = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"

    private static func run(_ arguments: [String], regions: String) throws -> (
        status: Int32, output: String, error: String, configuration: String
    ) {
        let directory = try TestDirectory()
        try directory.write(regions, to: "regions")
        try directory.write("[beacons]\nregions = \"\(directory("regions"))\"\n", to: "blewedge.toml")
        let program = try RunningProgram(["beacons"] + arguments, environment: directory.environment)
        let outcome = try program.end()
        return (outcome.status, outcome.output, outcome.error, directory("blewedge.toml"))
    }

    @Test("Without a server, fetch exits with 78, and names the setting and its file")
    func server() throws {
        let (status, output, error, file) = try Self.run(["fetch"], regions: "static \(Self.badges)\n")
        #expect(status == 78 && output.isEmpty)
        #expect(error.contains("specify its address with --server, or set beacons.server in \(file)"), "\(error)")
    }

    @Test("Without a designated beacon the list says so, in place of a table")
    func nothingDesignated() throws {
        let (status, output, error, _) = try Self.run(["designated"], regions: "")
        #expect(status == 0)
        #expect((output + error).contains("no beacon is designated"))
        #expect(!(output + error).contains("CODE"))
    }

    @Test("set-up creates a region file, and says how the configuration names it until it does")
    func regionFile() throws {
        let directory = try TestDirectory()
        func setUp() throws -> Outcome {
            try RunningProgram(["beacons", "set-up"], environment: directory.environment).end()
        }
        let use = "to use \(directory("regions")), add these lines to \(directory("blewedge.toml")): [beacons] and "
        let created = try setUp()
        #expect(created.status == 0 && created.error.contains("created \(directory("regions"))"), "\(created)")
        #expect(created.error.contains(use + "regions = \"\(directory("regions"))\""), "\(created)")
        #expect(try setUp().error.contains(use))
        try directory.write("[beacons]\nregions = \"\(directory("regions"))\"\n", to: "blewedge.toml")
        let known = try setUp()
        #expect(known.error.contains("already exists") && !known.error.contains("to use"), "\(known)")
    }

    @Test("SW-17: with a server, set-up and track do nothing without an agreement, and --agree gives it")
    func agreement() throws {
        let directory = try TestDirectory()
        try directory.write("static \(Self.badges)\n", to: "regions")
        let server = "server = \"https://localhost:1\"\napp-code-file = \"\(directory("code"))\"\n"
        try directory.write("[beacons]\nregions = \"\(directory("regions"))\"\n" + server, to: "blewedge.toml")
        func run(_ words: String...) throws -> Outcome {
            try RunningProgram(["beacons"] + words, environment: directory.environment).end()
        }
        for words in [["set-up", "--json"], ["track", Self.badges, "--json", "--adapter", "h4:unix:/nonexistent"]] {
            let outcome = try RunningProgram(["beacons"] + words, environment: directory.environment).end()
            #expect(outcome.status == 77 && outcome.output.contains(#""ok":false"#), "\(outcome)")
            #expect(outcome.error.contains("you have not agreed to use https://localhost:1"), "\(outcome)")
        }
        let agreed = try run("set-up", "--agree", "--json")
        #expect(agreed.error.contains("If you agree, https://localhost:1 receives"), "\(agreed)")
        // After the agreement, the next error is the missing access token.
        #expect(try run("fetch").status == 78)
        #expect(try run("clear").status == 0)
        #expect(try run("fetch").status == 77)
    }

    @Test("A failed designation reports its remedy, as text and as JSON")
    func designating() throws {
        let (status, output, _, _) = try Self.run(["designate", "A17C"], regions: "")
        #expect(status == 64)
        let lines = output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.last == "specify it with --region; `blewedge beacons regions` lists the known regions")
        let json = try Self.run(["designate", "A17C", "--json"], regions: "").output
        let answer = try JSONValue(Array(try #require(json.split(separator: "\n").first).utf8))
        #expect(answer["answer"]?.integer ?? 0 < 0)
        #expect(answer.message("remedy") != nil, "\(json)")
    }

    @Test("SW-13: if beacons can be neither received nor advertised, `check` reports the reason and a remedy")
    func check() throws {
        let (status, output, _, _) = try Self.run(
            ["check", "--json", "--adapter", "h4:unix:/nonexistent"],
            regions: ""
        )
        #expect(status == 69)
        let answer = try JSONValue(Array(try #require(output.split(separator: "\n").first).utf8))
        #expect(answer["available"]?.bool == false && answer["canAdvertise"]?.bool == false)
        #expect(answer["cause"]?.string?.contains("/nonexistent") == true, "\(output)")
        #expect(answer["remedy"]?.string?.isEmpty == false, "\(output)")
        let people = try Self.run(["check", "--adapter", "h4:unix:/nonexistent"], regions: "")
        #expect(people.status == 69 && people.output.isEmpty && people.error.contains("/nonexistent"))
    }

    @Test("SW-22: `check` reports separately the abilities of the device, its settings, and whether Bluetooth is on")
    func availability() throws {
        func answer(_ adapter: String, _ status: Int32) throws -> JSONValue {
            let outcome = try Self.run(["check", "--json", "--adapter", adapter], regions: "")
            #expect(outcome.status == status)
            return try JSONValue(Array(try #require(outcome.output.split(separator: "\n").first).utf8))
        }
        let good = try answer("memory:", 0)
        #expect(good["device"]?.bool == true && good["foreground"]?.bool == true && good["on"]?.bool == true)
        #expect(good["background"]?.bool == (SystemFacts.installedService != nil))
        let broken = try answer("h4:unix:/nonexistent", 69)
        for name in ["device", "foreground", "background", "on"] { #expect(broken[name] == nil, "\(name)") }
    }

    @Test("A region that cannot be tracked is refused with 78 and a remedy")
    func tracking() throws {
        let (status, output, error, _) = try Self.run(["track", Self.badges], regions: "")
        #expect(status == 78 && output.isEmpty)
        #expect(error.contains("  fix: specify a region that `blewedge beacons regions` lists as initial"), "\(error)")
    }
}
