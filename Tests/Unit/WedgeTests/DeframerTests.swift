// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Configuration
import Daemon
import TestSupport
import Testing
import Typing

@Suite("Framing")
struct DeframerTests {
    /// Test vector of Tests/Vectors/framing.txt.
    private struct Vector {
        var title: String
        var keys: [String] = []
        var events: [(number: Int, text: String)] = []
    }

    private static func vectors() throws -> [Vector] {
        var all: [Vector] = []
        for line in try VectorFile.lines("framing.txt") {
            if line.text.hasPrefix("== ") {
                all.append(Vector(title: String(line.text.dropFirst(3))))
            } else if ["<", ">"].contains(line.text.prefix(1)) || ["pause", "time-out", "link-end"].contains(line.text)
            {
                all[all.count - 1].events.append(line)
            } else {
                let words = line.text.split(separator: " ", maxSplits: 1)
                all[all.count - 1].keys.append("\(words[0]) = \(words[1])")
            }
        }
        return all
    }

    /// Returns the framing defined by a profile's configuration.
    private static func framing(_ keys: [String]) throws -> Framing {
        let head = "service = \"FFE0\"\nfrom-device = \"FFE1\"\n[framing]\n"
        return try #require(try Profile(text: head + keys.joined(separator: "\n"), name: "test").framing)
    }

    private static func shown(_ result: Deframer.Result, _ waiting: Int) -> String {
        let payload = result.payload.isEmpty ? "" : Hexadecimal.text(result.payload) + " "
        return "> \(payload)/ \(result.wrapping) / \(result.bad) / \(waiting)"
    }

    @Test("Every vector of Tests/Vectors/framing.txt, and every byte is accounted for")
    func vectors() throws {
        let all = try Self.vectors()
        #expect(all.count == 20)
        for vector in all {
            var deframer = Deframer(try Self.framing(vector.keys))
            var sum = Deframer.Result()
            var now = Duration.zero
            for event in vector.events {
                switch event.text.prefix(1) {
                case "<":
                    now += .milliseconds(500)
                    let bytes = try #require(VectorFile.bytes(event.text.dropFirst()))
                    let waitedBefore = deframer.waiting
                    let result = deframer.receive(bytes.span, now: now)
                    let outcome = result.payload.count + result.wrapping + result.bad + deframer.waiting
                    #expect(outcome == waitedBefore + bytes.count, "\(vector.title), line \(event.number)")
                    sum.payload += result.payload
                    sum.wrapping += result.wrapping
                    sum.bad += result.bad
                case "p": now += .seconds(2)
                case "t", "l":
                    let waitedBefore = deframer.waiting
                    if event.text == "time-out" { now = try #require(deframer.deadline) }
                    let result = event.text == "time-out" ? deframer.expire(now: now) : deframer.end()
                    #expect(result.payload.count + result.wrapping + result.bad == waitedBefore)
                    sum.payload += result.payload
                    sum.wrapping += result.wrapping
                    sum.bad += result.bad
                default:
                    #expect(Self.shown(sum, deframer.waiting) == event.text, "\(vector.title), line \(event.number)")
                    sum = Deframer.Result()
                }
            }
        }
    }

    @Test("An incomplete frame is given up a second after its last byte, and not before")
    func deadline() throws {
        var deframer = Deframer(try Framing(start: [2], end: [3]))
        #expect(deframer.deadline == nil)
        _ = deframer.receive([2, 0x31, 2, 0x32].span, now: .seconds(5))
        #expect(deframer.deadline == .seconds(6))
        #expect(deframer.expire(now: .milliseconds(5999)) == Deframer.Result())
        #expect(deframer.waiting == 4)
        #expect(deframer.expire(now: .seconds(6)).bad == 4)
        #expect(deframer.deadline == nil)
    }

    @Test("Random bytes and random splits: the account balances, what waits is bounded, good frames come through")
    func hostile() throws {
        var generator = SeededGenerator(seed: 21)
        let framings = try Self.vectors().map { try Self.framing($0.keys) }
        for framing in framings {
            var deframer = Deframer(framing)
            var received = 0
            var outcome = 0
            for step in 0..<300 {
                let count = Int.random(in: 0...64, using: &generator)
                // Often uses bytes that are significant for the framing.
                let marks = framing.start + framing.end + [0x00, 0x01, 0x05, 0xFF]
                let bytes = (0..<count).map { _ in
                    Bool.random(using: &generator)
                        ? marks[Int.random(in: 0..<marks.count, using: &generator)]
                        : UInt8.random(in: 0...255, using: &generator)
                }
                received += count
                let result = deframer.receive(bytes.span, now: .milliseconds(step))
                outcome += result.payload.count + result.wrapping + result.bad
                #expect(outcome + deframer.waiting == received)
                #expect(deframer.waiting <= Framing.greatestPayload + 4 * Framing.longestMark)
            }
            let rest = deframer.end()
            outcome += rest.payload.count + rest.wrapping + rest.bad
            #expect(outcome == received)
            #expect(deframer.waiting == 0)
        }
    }
}
