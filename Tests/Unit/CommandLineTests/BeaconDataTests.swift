// SPDX-License-Identifier: GPL-2.0-or-later

import BeaconServer
import Daemon
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts

@testable import blewedge

@Suite("The data of beacons", .timeLimit(.minutes(10)))
struct BeaconDataTests {
    private static let badges = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    private static let gates = "11111111-DFFB-48D2-B060-D0F5A71096E0"
    private static let oneTime = "0A1B2C3D-DFFB-48D2-B060-D0F5A71096E0"

    private let directory: TestDirectory
    private let files: ServerFiles

    /// Creates a region file, two server regions of which the file contains one, a designated beacon, and a queued
    /// track.
    init() throws {
        directory = try TestDirectory()
        files = ServerFiles(in: FilePath(directory.path))
        try directory.write(
            "static \(Self.badges) Badges\ndynamic \(Self.oneTime)\nkey \(Self.badges)/1/2 A17C\n",
            to: "regions"
        )
        try directory.write(
            "adapter = \"h4:unix:\(directory("regions"))\"\n[beacons]\nregions = \"\(directory("regions"))\"\n",
            to: "blewedge.toml"
        )
        let region = try #require(ServerRegion(Self.badges))
        let managed = try [Self.badges, Self.gates].map { text in
            ManagedRegion(try #require(ServerRegion(text)), .thirdParty, name: "Rented")
        }
        for time in [1000, 1001] {
            _ = try RegionStore(files.regions).update { $0.take(managed, of: .whole, at: time) }
        }
        let sightings = [TrackRecord.Sighting(major: 1, minor: 2, rssi: -60, milliseconds: 0)]
        let record = try #require(TrackRecord(region, seconds: 1000, sightings: sightings))
        try TrackStore(files.tracks).update { $0.add(record) }
        let address = try ServerAddress("https://beacons.example")
        try AgreementStore(files.agreement).keep(ServerAgreement(to: address, at: 1000, shownText: "yes"))
        #expect(try run("designate", "A17C").status == 0)
    }

    private func run(_ words: String...) throws -> (status: Int32, output: String) { try run(words, language: "en") }

    private func run(_ words: [String], language: String) throws -> (status: Int32, output: String) {
        let environment = directory.environment + ["BLEWEDGE_LANG=\(language)"]
        let outcome = try RunningProgram(["beacons"] + words, environment: environment).end()
        return (outcome.status, outcome.output)
    }

    /// Returns the fields of the rows that `beacons regions` prints.
    private func regions(_ language: String, _ options: String...) throws -> [[Substring]] {
        try run(["regions"] + options, language: language).output.split(separator: "\n").dropFirst().map { line in
            line.split(separator: "  ").map { $0.drop { $0 == " " } }
        }
    }

    @Test("SW-3: a region that both the file and the server have is listed once, with all its kinds")
    func once() throws {
        let rows = try regions("en")
        #expect(
            rows == [
                [Self.badges[...], "reserved, initial, managed", "third-party", "static", "unchanged", "Badges"],
                [Self.oneTime[...], "dynamic", "-", "-", "-", "-"],
                [Self.gates[...], "managed", "third-party", "static", "unchanged", "Rented"],
                ["\(Self.badges)/1/2", "reserved, designated", "-", "-", "-", "Badges"],
            ]
        )
    }

    @Test("SW-16: the kinds of regions are in Japanese where the language is, with the words that commands take")
    func japanese() throws {
        let rows = try regions("ja")
        #expect(
            rows.map { $0[1] } == ["予約, 固定(initial), 管理(managed)", "可変(dynamic)", "管理(managed)", "予約, 指定(designated)"]
        )
    }

    @Test(
        "SW-20: managed regions are listed by type, beacons and update, the abandoned ones only where they are asked for"
    )
    func managed() throws {
        let uuid = try #require(ServerUUID(Self.gates))
        let kinds: [(ManagedRegion.Kind, ManagedRegion.Variety)] = [
            (.service, .static), (.service, .dynamic), (.owned, .static), (.owned, .dynamic),
        ]
        let four = kinds.enumerated().map { number, kind in
            ManagedRegion(.uuid(uuid, major: UInt16(number), minor: nil), kind.0, kind.1)
        }
        for regions in [Array(four.dropFirst()), four.dropLast()] {
            _ = try RegionStore(files.regions).update { $0.take(regions, of: .whole, at: 2000) }
        }
        for (number, kind) in kinds.prefix(3).enumerated() {
            let rows = try regions("en", "--type", kind.0.rawValue, "--beacons", kind.1.rawValue)
            let update = number == 0 ? "new" : "unchanged"
            let words = [kind.0.rawValue, kind.1.rawValue, update].map { $0[...] }
            #expect(rows == [["\(Self.gates)/\(number)", "managed"] + words + ["-"]])
        }
        #expect(try regions("en", "--update", "new").map { $0[0] } == ["\(Self.gates)/0"])
        #expect(try regions("en", "--update", "unchanged").map { $0[0] } == ["\(Self.gates)/1", "\(Self.gates)/2"])
        let gone = try regions("ja", "--update", "abandoned")
        #expect(gone == [["\(Self.gates)/3", "-", "自社(owned)", "可変値(dynamic)", "廃棄(abandoned)", "-"]])
        #expect(!(try regions("en").map { $0[0] }.contains("\(Self.gates)/3")))
        let answer = try JSONValue(Array(try run("regions", "--type", "service", "--json").output.utf8))
        #expect(answer["update"]?.string == "has-new-and-abandoned" && answer["regions"]?.array?.count == 2)
    }

    @Test(
        "SW-12, SW-21: `clear` removes designated beacons, the server's regions, the tracks and the agreement, not the file"
    )
    func clear() throws {
        #expect(try run("clear").status == 0)
        #expect(!FileSystem.exists(files.regions.string) && !FileSystem.exists(files.tracks.string))
        #expect(!FileSystem.exists(directory("designated")) && !FileSystem.exists(files.agreement.string))
        #expect(try regions("en").map { $0[0] } == [Self.badges[...], Self.oneTime[...]])
        #expect(try run("clear").status == 0)
    }
}
