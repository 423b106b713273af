// SPDX-License-Identifier: GPL-2.0-or-later

import BeaconServer
import TestSupport
import Testing
import Texts

@testable import blewedge

@Suite("Answers of a beacon server")
struct WireTests {
    @Test("SW-19: each of the seven results is read from the answer to a track, and has a text in both languages")
    func contacts() throws {
        let words = [
            "nothing-to-do", "marked", "all-blocked", "part-blocked", "unmarkable", "target-not-found", "skipped",
        ]
        let results = try words.map { try ServerAnswer.contact(answer(#"{"accepted":true,"result":"\#($0)"}"#)) }
        #expect(results == ContactResult.allCases)
        for result in results {
            let texts = Language.allCases.map { result.text($0, "R") }
            #expect(texts.allSatisfy { $0.hasPrefix("R: ") && $0.count > 6 } && Set(texts).count == 2)
        }
        #expect(Set(results.map { $0.text(.japanese, "R") }).count == 7)
    }

    private func answer(_ text: String, status: Int = 200) -> HTTPSClient.Answer {
        HTTPSClient.Answer(status: status, body: Array(text.utf8))
    }

    @Test(
        "What is wrong in a list of regions is named with its place, and nothing of it is taken",
        arguments: [
            (#""#, "line 1, column 1: "),
            (#"[]"#, "line 1, column 1: is no object"),
            ("{\"regions\":\n[}", "line 2, column 2: "),
            (#"{}"#, "regions: is missing"),
            (#"{"regions":null}"#, "regions: is missing"),
            (#"{"regions":{}}"#, "regions: is no array"),
            (#"{"regions":[7]}"#, "regions[0].uuid: is missing"),
            (#"{"regions":[{"uuid":7,"type":"test"}]}"#, "regions[0].uuid: is no UUID"),
            (#"{"regions":[{"uuid":"UUID","type":"test","major":65536}]}"#, "regions[0].major: is not from 0 to 65535"),
            (#"{"regions":[{"uuid":"UUID","type":"test","major":1.5}]}"#, "regions[0].major: is no whole number"),
            (#"{"regions":[{"uuid":"UUID","type":"test","minor":1}]}"#, "regions[0].major: is missing"),
            (
                #"{"regions":[{"uuid":"UUID","type":"test","major":1,"minor":-1}]}"#,
                "regions[0].minor: is not from 0 to 65535"
            ),
            (#"{"regions":[{"uuid":"UUID"}]}"#, "regions[0].type: is missing"),
            (
                #"{"regions":[{"uuid":"UUID","type":"whole"}]}"#,
                "regions[0].type: is none of service, test, owned, third-party"
            ),
            (
                #"{"regions":[{"uuid":"UUID","type":"test","beacons":"all"}]}"#,
                "regions[0].beacons: is none of static, dynamic"
            ),
            (#"{"regions":[{"uuid":"UUID","type":"test","name":""}]}"#, "regions[0].name: has not 1 to 64 signs"),
            (
                #"{"regions":[{"uuid":"UUID","type":"test","name":"a\u001bb"}]}"#,
                "regions[0].name: has a control character"
            ),
            (
                #"{"regions":[{"namespace":"0011","type":"test"}]}"#,
                "regions[0].namespace: has not 20 hexadecimal digits"
            ),
            (
                #"{"regions":[{"namespace":"00112233445566778899","instance":1,"type":"test"}]}"#,
                "regions[0].instance: has not 12 hexadecimal digits"
            ),
            (
                #"{"regions":[{"uuid":"UUID","type":"test"},{"uuid":"UUID","type":"owned"}]}"#,
                "regions[1]: is the region of regions[0] again"
            ),
            (#"{"regions":[{"uuid":"UUID","type":"owned"}]}"#, "regions[0]: is none of test"),
            (#"{"error":"1400"}"#, "error: is no whole number"),
            (#"{"error":1500}"#, "error: 1500 is no error of this request"),
            (#"{"error":2001}"#, "error: 2001 is no error of this request"),
            (#"{"error":1400}{}"#, "line 1, column 15: "),
        ]
    )
    func faults(text: String, said: String) throws {
        let scope = try #require(RegionScope("test"))
        let whole = text.split(separator: "UUID", omittingEmptySubsequences: false).joined(separator: badge)
        let found = fault { _ = try ServerAnswer.regions(answer(whole), for: scope) }
        guard case .answer(let fault) = found else {
            Issue.record("\(text) gives \(String(describing: found))")
            return
        }
        // The explanation after the position of a JSON error comes from Jansson.
        let isWhole = !said.hasSuffix(" ")
        #expect(isWhole ? fault.description == said : fault.description.hasPrefix(said), "\(fault)")
        #expect(CommandFailure(.answer(fault)).status == .inputOutput)
        #expect(CommandFailure(.answer(fault)).cause.english.contains(said))
    }

    @Test("10,000 regions are taken, one more is refused")
    func mostRegions() throws {
        let text = { (count: Int) in
            let regions = (0..<count).map { #"{"uuid":"\#(badge)","major":\#($0),"type":"test"}"# }
            return #"{"regions":[\#(regions.joined(separator: ","))]}"#
        }
        #expect(try ServerAnswer.regions(answer(text(10_000)), for: .whole).count == 10_000)
        let fault = ServerAnswerFault(place: "regions", reason: "has more than 10000 elements")
        #expect(throws: ServerFault.answer(fault)) { try ServerAnswer.regions(answer(text(10_001)), for: .whole) }
    }

    @Test("An answer that says neither yes nor no is no answer")
    func yesOrNo() {
        for text in [#"{}"#, #"{"valid":1}"#, #"{"valid":"true"}"#, #"{"valid":null}"#, #"{"error":1400}"#, "nonsense"]
        {
            guard case .answer = fault(of: { _ = try ServerAnswer.validity(answer(text)) }) else {
                Issue.record("\(text)")
                continue
            }
        }
        for text in [#"{}"#, #"{"accepted":false}"#, #"{"accepted":1}"#, #"{"error":2001}"#] {
            guard case .answer = fault(of: { try ServerAnswer.acceptance(answer(text)) }) else {
                Issue.record("\(text)")
                continue
            }
        }
        #expect(fault { try ServerAnswer.acceptance(answer(#"{"accepted":true}"#, status: 204)) } == .http(204))
    }

    @Test("A region on the command line, in every form")
    func regions() throws {
        let uuid = try #require(ServerUUID(badge))
        let written: [(String, ServerRegion?)] = [
            (badge, .uuid(uuid, major: nil, minor: nil)), (badge.lowercased(), .uuid(uuid, major: nil, minor: nil)),
            (badge + "/12", .uuid(uuid, major: 12, minor: nil)),
            (badge + "/0/65535", .uuid(uuid, major: 0, minor: 65535)),
            ("eddystone:0011223344556677889a", .namespace("0011223344556677889A", instance: nil)),
            (
                "Eddystone:00112233445566778899/aabbccddeeff",
                .namespace("00112233445566778899", instance: "AABBCCDDEEFF")
            ),
            ("", nil), (badge + "/", nil), (badge + "/65536", nil), (badge + "/+1", nil), (badge + "/1/2/3", nil),
            (badge + "/1/", nil), (String(badge.dropLast()), nil), (badge + "0", nil),
            ("eddystone:00112233445566778899/", nil), ("00112233445566778899", nil), ("eddystone:" + badge, nil),
            ("eddystone:00112233445566778899/aabbccddeeff/1", nil), ("eddystone:0011223344556677889g", nil),
            (badge.split(separator: "-").joined(separator: "/"), nil),
        ]
        for (text, region) in written {
            #expect(ServerRegion(text) == region, "\(text)")
            if let region { #expect(ServerRegion(region.description) == region) }
        }
    }

    @Test("SW-7: a record that could not be read back is rejected")
    func records() throws {
        let region = try #require(ServerRegion(badge))
        let sighting = TrackRecord.Sighting(major: 1, minor: 2, milliseconds: 0)
        let record = { (count: Int, keyCode: String?, milliseconds: Int, seconds: Int) in
            let one = TrackRecord.Sighting(major: 1, minor: 2, keyCode: keyCode, milliseconds: milliseconds)
            return TrackRecord(region, seconds: seconds, sightings: Array(repeating: one, count: count))
        }
        #expect(record(260, String(repeating: "k", count: 64), 15_000, 0)?.sightings.count == 260)
        #expect(record(1, nil, 0, 1000)?.sightings == [sighting])
        #expect(record(0, nil, 0, 0) == nil && record(261, nil, 0, 0) == nil)
        #expect(record(1, "", 0, 0) == nil && record(1, "a\nb", 0, 0) == nil)
        #expect(record(1, String(repeating: "k", count: 65), 0, 0) == nil)
        #expect(record(1, nil, -1, 0) == nil && record(1, nil, 15_001, 0) == nil && record(1, nil, 0, -1) == nil)
    }

    @Test("D-27: 40,000 answers and files with a few bytes changed are read, or refused with a place")
    func mutations() throws {
        let uuid = #""uuid":"\#(badge)","major":12"#
        let texts = [
            #"{"regions":[{\#(uuid),"minor":3,"type":"owned","beacons":"dynamic","name":"b"}]}"#,
            #"{"version":1,"fetched":[{"type":"owned dynamic","at":9}],"regions":[{\#(uuid),"type":"test"}],"new":[],"abandoned":[]}"#,
            #"{"sent":2,"givenUp":1,"dropped":0,"version":1,"entries":[{"attempts":1,"record":{"record":"0123456789abcdef","region":{\#(uuid)},"at":7,"sightings":[{"major":12,"minor":3456,"rssi":-3,"after":0}]}}]}"#,
            #"{"valid":true,"error":null}"#,
        ]
        var random = SeededGenerator(seed: 27)
        var (taken, refused) = (0, 0)
        for round in 0..<40_000 {
            var bytes = Array(texts[round % texts.count].utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(bytes[Int.random(in: bytes.indices, using: &random)], at: place)
                }
            }
            let answer = HTTPSClient.Answer(status: 200, body: bytes)
            do {
                switch round % texts.count {
                case 0: _ = try ServerAnswer.regions(answer, for: .whole)
                case 1:
                    #expect(try KeptRegions(parsing: Array(KeptRegions(parsing: bytes).text.utf8)).fetched.count < 2)
                case 2: #expect(try TrackQueue(parsing: Array(TrackQueue(parsing: bytes).text.utf8)).entries.count < 2)
                default: _ = try ServerAnswer.validity(answer)
                }
                taken += 1
            } catch {
                let isPlaced =
                    switch error {
                    case let fault as ServerAnswerFault: !fault.place.isEmpty
                    case ServerFault.answer(let fault): !fault.place.isEmpty
                    case ServerFault.refused: true
                    default: false
                    }
                #expect(isPlaced, "\(error)")
                refused += 1
            }
        }
        #expect(taken > 1000 && refused > 10_000, "\(taken) taken, \(refused) refused")
    }
}
