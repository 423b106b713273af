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

    /// A file of regions, two regions of a server of which the file has one, a designated beacon, and a track that waits.
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
        _ = try RegionStore(files.regions).update { $0.take(managed, of: .whole, at: 1000) }
        let sightings = [TrackRecord.Sighting(major: 1, minor: 2, rssi: -60, milliseconds: 0)]
        let record = try #require(TrackRecord(region, seconds: 1000, sightings: sightings))
        try TrackStore(files.tracks).update { $0.add(record) }
        let address = try ServerAddress("https://beacons.example")
        try AgreementStore(files.agreement).keep(ServerAgreement(to: address, at: 1000, shownText: "yes"))
        #expect(try run("designate", "A17C").status == 0)
    }

    private func run(_ words: String..., language: String = "en") throws -> (status: Int32, output: String) {
        let environment = directory.environment + ["BLEWEDGE_LANG=\(language)"]
        let outcome = try RunningProgram(["beacons"] + words, environment: environment).end()
        return (outcome.status, outcome.output)
    }

    /// The rows of `beacons regions`, each as its fields.
    private func regions(_ language: String) throws -> [[Substring]] {
        try run("regions", language: language).output.split(separator: "\n").dropFirst().map { line in
            line.split(separator: "  ").map { $0.drop { $0 == " " } }
        }
    }

    @Test("SW-3: a region that both the file and the server have is listed once, with all its kinds")
    func once() throws {
        let rows = try regions("en")
        #expect(
            rows == [
                [Self.badges[...], "reserved, initial, managed", "Badges"], [Self.oneTime[...], "dynamic", "-"],
                [Self.gates[...], "managed", "Rented"], ["\(Self.badges)/1/2", "reserved, designated", "Badges"],
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
