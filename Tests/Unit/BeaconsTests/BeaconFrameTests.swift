// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothHost
import TestSupport
import Testing

@Suite("A beacon's frame", .timeLimit(.minutes(10)))
struct BeaconFrameTests {
    struct Vector: CustomTestStringConvertible {
        var line: Int
        var bytes: [UInt8]
        var expected: String

        var testDescription: String { "line \(line)" }

        static func all() throws -> [Vector] {
            try VectorFile.lines("beacons.txt").map { line in
                let parts = line.text.split(separator: "|").map { $0.trimmed }
                return Vector(line: line.number, bytes: try #require(VectorFile.bytes(parts[0])), expected: parts[1])
            }
        }
    }

    private static func text(_ frame: BeaconFrame?) -> String {
        guard let frame else { return "none" }
        return "\(frame.format.rawValue) \(frame.identity) \(frame.measuredPower.map { "\($0)" } ?? "-")"
    }

    @Test("D-22: what is a beacon, and which one, is what the vectors say")
    func vectors() throws {
        let all = try Vector.all()
        #expect(all.count > 25)
        for vector in all {
            let text = Self.text(BeaconFrame(advertisement: vector.bytes.span))
            #expect(text == vector.expected, "line \(vector.line)")
        }
    }

    @Test("Every beginning of an advertisement that ends within the beacon is none")
    func truncations() throws {
        for vector in try Vector.all() where vector.expected != "none" {
            for count in 0..<vector.bytes.count {
                let beginning = Array(vector.bytes.prefix(count))
                // Only trailing zeros may be omitted.
                guard vector.bytes.dropFirst(count).contains(where: { $0 != 0 }) || vector.bytes[count - 1] != 0 else {
                    continue
                }
                let frame = BeaconFrame(advertisement: beginning.span)
                let isWhole = Self.text(frame) == vector.expected
                #expect(
                    frame == nil || isWhole && Self.endsBefore(count, vector),
                    "line \(vector.line), \(count) bytes"
                )
            }
        }
    }

    /// Returns true if the beacon's structure is complete within the first `count` bytes.
    private static func endsBefore(_ count: Int, _ vector: Vector) -> Bool {
        var offset = 0
        while offset < vector.bytes.count {
            let end = offset + 1 + Int(vector.bytes[offset])
            guard end <= count else { return false }
            if BeaconFrame(advertisement: Array(vector.bytes[offset..<end]).span) != nil { return true }
            offset = end
        }
        return false
    }

    @Test("A written beacon frame is parsed as the same beacon, and fits into an advertisement with flags")
    func roundTrip() throws {
        for vector in try Vector.all() {
            guard let frame = BeaconFrame(advertisement: vector.bytes.span) else { continue }
            let layout = try AdvertisementLayout(frame.content(), canBeAsked: false)
            #expect(BeaconFrame(advertisement: layout.data.span) == frame, "line \(vector.line)")
            #expect(layout.data.count <= 31 && layout.scanResponse.isEmpty)
        }
    }

    @Test("A format carries its own kind of identity only")
    func formats() throws {
        let badge = try #require(BeaconIdentity("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2"))
        let gate = try #require(BeaconIdentity("eddystone:00112233445566778899/AABBCCDDEEFF"))
        #expect(BeaconFrame(.iBeacon, gate, measuredPower: -59) == nil)
        #expect(BeaconFrame(.altBeacon, gate, measuredPower: -59) == nil)
        #expect(BeaconFrame(.eddystone, badge, measuredPower: -59) == nil)
        #expect(BeaconFrame(.iBeacon, badge, measuredPower: 0)?.measuredPower == nil)
    }

    @Test("Random bytes are parsed without a trap")
    func chance() {
        var random = SeededGenerator(seed: 22)
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...62, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if !bytes.isEmpty, Bool.random(using: &random) {
                bytes[0] = UInt8.random(in: 20...28, using: &random)
            }
            if bytes.count > 1 { bytes[1] = Bool.random(using: &random) ? 0xFF : 0x16 }
            _ = BeaconFrame(advertisement: bytes.span)
        }
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var text = self.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
