// SPDX-License-Identifier: GPL-2.0-or-later

import BeaconServer
import BluetoothPackets
import FirmwareSupport
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts

@testable import blewedge

/// Beacons received by a controller on a serial line, which reports their RSSI.
@Suite("Beacons at the end of a line", .serialized, .timeLimit(.minutes(10)))
struct BeaconLineTests {
    private static let badges = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    private static let sender = DeviceAddress(BluetoothAddress(rawValue: 0xC6C7_C8C9_CACB), .random)
    /// iBeacon of badges/1/2 with −59 dBm at one metre.
    private static let advertisement: [UInt8] =
        [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15]
        + [0xE2, 0xC5, 0x6D, 0xB5, 0xDF, 0xFB, 0x48, 0xD2, 0xB0, 0x60, 0xD0, 0xF5, 0xA7, 0x10, 0x96, 0xE0]
        + [0x00, 0x01, 0x00, 0x02, 0xC5]

    /// Command with a controller that receives one beacon.
    private struct Run {
        private let directory: TestDirectory
        private let line: FirmwareLine
        private let program: RunningProgram

        init(_ arguments: [String], rssi: Int8) throws {
            directory = try TestDirectory()
            try directory.write("static \(badges) Badges\nkey \(badges)/1/2 A17C\n", to: "regions")
            try directory.write("[beacons]\nregions = \"\(directory("regions"))\"\n", to: "blewedge.toml")
            let report = ScriptedFirmware.report(sender, advertisement, rssi: rssi)
            line = try FirmwareLine(at: directory("line"), ScriptedFirmware(), chatter: (report, .milliseconds(50)))
            program = try RunningProgram(
                ["beacons"] + arguments + ["--json", "--adapter", line.adapter],
                environment: directory.environment
            )
        }

        /// Waits until the command has ended, and returns its first line.
        func end() throws -> (status: Int32, answer: JSONValue, text: String) {
            defer { line.end() }
            let outcome = try program.end()
            let text = String(outcome.output.split(separator: "\n").first ?? "")
            return (outcome.status, (try? JSONValue(Array(text.utf8))) ?? .null, "\(outcome)")
        }
    }

    @Test("SW-5, D-28: strength, metres and proximity are those of the controller's reports")
    func distance() throws {
        let words = ["range", "static", "--seconds", "3"]
        let expected: [(rssi: Int8, word: String, metres: Double?)] = [
            (-53, "near", 0.5), (-52, "immediate", 0.45), (-79, "far", 10.0), (127, "unknown", nil),
        ]
        let runs = try expected.map { try Run(words, rssi: $0.rssi) }
        for ((rssi, word, metres), run) in zip(expected, runs) {
            let (status, answer, text) = try run.end()
            #expect(status == 0, "\(text)")
            let list = try #require(answer["ranged"]?.array?.first?["beacons"]?.array, "\(text)")
            let beacon = try #require(list.first, "\(text)")
            #expect(list.count == 1 && beacon["beacon"]?.string == "\(Self.badges)/1/2")
            #expect(beacon["proximity"]?.string == word)
            #expect(beacon["rssi"]?.integer == (rssi == 127 ? nil : Int64(rssi)))
            switch beacon["metres"] {
            case .real(let found): #expect(found == metres)
            case .integer(let found): #expect(Double(found) == metres)
            default: #expect(metres == nil)
            }
        }
    }

    @Test("SW-4, D-24: a command without a daemon reports the entered regions at its start only if requested")
    func display() throws {
        let words = ["watch", "initial", "--no-entry", "--no-exit", "--seconds", "2"]
        let asked = try Run(words + ["--entry-state-on-display"], rssi: -60)
        let unasked = try Run(words, rssi: -60)
        let (status, answer, text) = try asked.end()
        #expect(status == 0 && answer["change"]?.string == "inside", "\(text)")
        #expect(answer["region"]?.string == Self.badges && answer["keyCode"]?.string == "A17C", "\(text)")
        #expect(try unasked.end().answer == .null)
    }

    @Test("D-26: a track is of five sightings, and ends with them")
    func track() throws {
        let (status, answer, text) = try Run(["track", Self.badges], rssi: -60).end()
        #expect(status == 0, "\(text)")
        let beacons = try #require(answer["track"]?.array, "\(text)")
        #expect(beacons.compactMap { $0["keyCode"]?.string } == ["A17C"])
        #expect(beacons.compactMap { $0["sightings"]?.integer } == [5])
    }

    @Test("SW-7: a track's record has each sighting with its time and the whole identity, and waits until it is sent")
    func record() throws {
        let namespace: [UInt8] = [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99]
        let eddystone: [UInt8] =
            [0x02, 0x01, 0x06, 0x03, 0x03, 0xAA, 0xFE, 0x17, 0x16, 0xAA, 0xFE, 0x00, 0xC5] + namespace
            + [0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF, 0x00, 0x00]
        let address = try ServerAddress("https://localhost:1")
        for (region, advertisement, identity) in [
            (Self.badges, Self.advertisement, ["major": JSONValue.integer(1), "minor": .integer(2)]),
            ("eddystone:00112233445566778899", eddystone, ["instance": .string("AABBCCDDEEFF")]),
        ] {
            let directory = try TestDirectory()
            try directory.write("static \(region)\n", to: "regions")
            let server = "server = \"\(address)\"\napp-code-file = \"\(directory("none"))\"\n"
            try directory.write("[beacons]\nregions = \"\(directory("regions"))\"\n" + server, to: "blewedge.toml")
            let agreement = ServerAgreement(to: address, at: 1000, shownText: "yes")
            try AgreementStore(ServerFiles(in: FilePath(directory.path)).agreement).keep(agreement)
            let report = ScriptedFirmware.report(Self.sender, advertisement, rssi: -60)
            let line = try FirmwareLine(at: directory("line"), ScriptedFirmware(), chatter: (report, .milliseconds(50)))
            defer { line.end() }
            let words = ["beacons", "track", region, "--adapter", line.adapter]
            let before = WallClock.seconds
            let outcome = try RunningProgram(words, environment: directory.environment).end()
            // Without an access token, the track cannot be sent.
            #expect(outcome.status == 78 && outcome.output.contains("\t5\n"), "\(outcome)")
            let shown = try RunningProgram(["beacons", "show-record"], environment: directory.environment).end()
            let record = try JSONValue(Array(try #require(shown.output.split(separator: "\n").first).utf8))
            let sightings = try #require(record["sightings"]?.array)
            #expect(sightings.count == 5 && sightings.allSatisfy { $0["rssi"]?.integer == -60 }, "\(shown)")
            for (name, value) in identity { #expect(sightings.allSatisfy { $0[name] == value }, "\(shown)") }
            let times = sightings.compactMap { $0["after"]?.integer }
            #expect(times.first == 0 && zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(shown)")
            #expect(record["at"]?.integer.map { (Int64(before)...Int64(WallClock.seconds)).contains($0) } == true)
        }
    }
}
