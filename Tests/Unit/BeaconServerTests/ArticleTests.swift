// SPDX-License-Identifier: GPL-2.0-or-later

import BeaconServer
import TestSupport
import Testing
import Texts

@Suite("The article on the wire")
struct WireArticleTests {
    /// Examples of the article, each with the line that precedes it.
    private static let examples = Result<[String: String], any Error> {
        var examples: [String: String] = [:]
        let text = try RepositoryFiles.text("Sources/BeaconServer/BeaconServer.docc/Wire.md")
        var (name, lines, isInside) = ("", [Substring](), false)
        for line in text.split(separator: "\n") {
            switch line {
            case "```json": (lines, isInside) = ([], true)
            case "```" where isInside:
                #expect(examples.updateValue(lines.joined(separator: "\n"), forKey: name) == nil)
                isInside = false
            case _ where isInside: lines.append(line)
            default: name = String(line.dropLast())
            }
        }
        return examples
    }

    private func example(_ name: String) throws -> String { try #require(try Self.examples.get()[name], "\(name)") }

    private func answer(_ name: String) throws -> HTTPSClient.Answer {
        HTTPSClient.Answer(status: 200, body: Array(try example(name).utf8))
    }

    private let uuid = ServerUUID("4a1c0d9e-5b8f-4e57-9b7e-1c2d3e4f5a6b")

    @Test("A track may have the smallest and the largest numbers")
    func limits() throws {
        let uuid = try #require(uuid)
        for (major, minor) in [(0, 0), (UInt16.max, UInt16.max)] as [(UInt16, UInt16)] {
            let sighting = TrackRecord.Sighting(major: major, minor: minor, milliseconds: 0)
            let region = ServerRegion.uuid(uuid, major: nil, minor: nil)
            #expect(TrackRecord(region, seconds: 0, sightings: [sighting], number: 1) != nil)
        }
    }

    @Test("D-27: every request of the article is what is sent, byte for byte")
    func requests() throws {
        let uuid = try #require(uuid)
        let record = TrackRecord(
            .uuid(uuid, major: 12, minor: nil),
            seconds: 1_795_478_400,
            sightings: [
                .init(major: 12, minor: 3456, keyCode: "000C0D80", rssi: -59, milliseconds: 0),
                .init(major: 12, minor: 7, milliseconds: 1500),
            ],
            number: 0x0123_4567_89AB_CDEF
        )
        let track = try #require(record)
        let requests: [ServerRequest] = [
            .regions(try #require(RegionScope("owned", beacons: .dynamic))), .track(track),
            .testLog(.uuid(uuid, major: 12, minor: 3456), .enter, seconds: 1_795_478_400),
            .validate(OnetimeBeacon(uuid, major: 12, minor: 3456)),
        ]
        for request in requests {
            let sent = String(decoding: request.body(of: nil), as: UTF8.self)
            #expect(try sent == example("Request `\(request.path)`"))
        }
        let ofUser = String(decoding: requests[3].body(of: "kiosk17"), as: UTF8.self)
        #expect(try ofUser == example("Request `validate` of a user"))
        #expect(requests.map(\.path) == ["regions", "track", "test-log", "validate"])
    }

    @Test("D-27: every answer of the article is read as what it says")
    func answers() throws {
        let uuid = try #require(uuid)
        let scope = try #require(RegionScope("owned", beacons: .dynamic))
        let regions = try ServerAnswer.regions(answer("Answer to `regions`"), for: scope)
        #expect(
            regions == [
                ManagedRegion(.uuid(uuid, major: 12, minor: nil), .owned, .dynamic, name: "badges"),
                ManagedRegion(.namespace("00112233445566778899", instance: "AABBCCDDEEFF"), .owned, .dynamic),
            ]
        )
        #expect(throws: ServerFault.refused(.noRegions)) {
            try ServerAnswer.regions(answer("Answer to `regions` without any"), for: .whole)
        }
        #expect(try ServerAnswer.contact(answer("Answer to `track`")) == .marked)
        try ServerAnswer.acceptance(answer("Answer to `test-log`"))
        #expect(try ServerAnswer.validity(answer("Answer to `validate`")))
        #expect(throws: ServerFault.refused(.invalidBeacon)) {
            try ServerAnswer.validity(answer("Answer to `validate` with an error"))
        }
    }

    @Test("D-27: both files of the article are what is written, and read back")
    func files() throws {
        let regions = try example("File of regions")
        let kept = try KeptRegions(parsing: Array(regions.utf8))
        #expect(kept.text == regions + "\n")
        #expect(kept.current.count == 1 && kept.difference == .new && kept.fetched.values.first == 1_795_478_400)
        let tracks = try example("File of tracks")
        let queue = try TrackQueue(parsing: Array(tracks.utf8))
        #expect(queue.text == tracks + "\n")
        #expect(queue.entries.map(\.attempts) == [1] && queue.sent == 2 && queue.givenUp == 1 && queue.dropped == 0)
        #expect(try Self.examples.get().count == 13)
    }
}
