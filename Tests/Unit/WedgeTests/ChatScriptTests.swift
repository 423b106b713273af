// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Configuration
import Daemon
import TestSupport
import Testing
import Texts
import Typing

@Suite("Handshakes and command queues")
struct ChatScriptTests {
    /// Test vector of Tests/Vectors/handshakes.txt.
    private struct Conversation {
        var title: String
        var lines: [(number: Int, text: String)] = []
    }

    private static func conversations() throws -> [Conversation] {
        var all: [Conversation] = []
        for line in try VectorFile.lines("handshakes.txt") {
            if line.text.hasPrefix("== ") {
                all.append(Conversation(title: String(line.text.dropFirst(3))))
            } else if !all.isEmpty {
                all[all.count - 1].lines.append(line)
            }
        }
        return all
    }

    /// Parses `SEND => REPLY [within TIME] [times N] [key BYTES]`.
    private static func command(_ text: Substring) throws -> ChatScript.Command {
        var words = text.split(separator: " ").map(String.init)
        func option(_ name: String) -> String? {
            guard let index = words.lastIndex(of: name), index + 1 < words.count else { return nil }
            defer { words.removeSubrange(index...(index + 1)) }
            return words[index + 1]
        }
        let within = option("within").flatMap { TimeText.duration($0) }
        let times = option("times").flatMap { Int($0) }
        let key = option("key").flatMap { VectorFile.bytes($0) } ?? []
        let rest = words.joined(separator: " ")
        let arrow = try #require(rest.firstRange(of: "=>"))
        let send = rest[..<arrow.lowerBound].drop { $0 == " " }
        let reply = rest[arrow.upperBound...].drop { $0 == " " }
        return ChatScript.Command(
            send: send.hasPrefix("-") ? nil : try HexTemplate(String(send), for: .command, key: key),
            expect: reply == "-" ? nil : try HexTemplate(String(reply), for: .reply, key: key),
            timeout: within ?? .seconds(2),
            attempts: times ?? 1
        )
    }

    private static func outcome(_ step: ChatScript.Step) -> String {
        switch step {
        case .write(let bytes): "write \(Hexadecimal.text(bytes))"
        case .wait: "waiting"
        case .finished(let rest): rest.isEmpty ? "finished" : "finished \(Hexadecimal.text(rest))"
        case .failed(let failure): "failed \(failure.command) \(failure.otherBytes)"
        }
    }

    @Test("BT-7: every conversation of Tests/Vectors/handshakes.txt, byte for byte")
    func vectors() throws {
        let all = try Self.conversations()
        #expect(all.count == 24)
        for conversation in all {
            var commands: [ChatScript.Command] = []
            var early: [UInt8] = []
            var events: [(number: Int, text: String)] = []
            for line in conversation.lines {
                if line.text.hasPrefix("command ") {
                    commands.append(try Self.command(line.text.dropFirst("command ".count)))
                } else if line.text.hasPrefix("early ") {
                    early = try #require(VectorFile.bytes(line.text.dropFirst("early ".count)))
                } else {
                    events.append(line)
                }
            }
            try play(conversation.title, commands, early, events)
        }
    }

    private func play(
        _ title: String,
        _ commands: [ChatScript.Command],
        _ early: [UInt8],
        _ events: [(number: Int, text: String)]
    ) throws {
        var queue = ChatScript(commands)
        if !early.isEmpty { #expect(queue.receive(early, now: .zero) == .wait) }
        var step = queue.begin(now: .zero)
        for event in events {
            let place: Comment = "\(title), line \(event.number)"
            let words = event.text.split(separator: " ")
            if words.first == "end" {
                #expect(Self.outcome(step) == words.dropFirst().joined(separator: " "), place)
                continue
            }
            let time = try #require(words.first, place)
            let now = try #require(TimeText.duration(time), place)
            let bytes = words.count > 2 ? try #require(VectorFile.bytes(words[2]), place) : []
            switch words[1] {
            case ">", ">>":
                #expect(Self.outcome(step) == "write \(Hexadecimal.text(bytes))", place)
                step = words[1] == ">" ? queue.written(now: now) : .wait
            case "written": step = queue.written(now: now)
            case "<":
                let next = queue.receive(bytes, now: now)
                if next != .wait { step = next }
            case "!":
                let next = queue.handleDeadline(now: now)
                if next != .wait { step = next }
            default: Issue.record("unknown word", sourceLocation: #_sourceLocation)
            }
        }
    }

    @Test("A handshake has the same result however bytes are split into notifications")
    func splitting() throws {
        let commands = try [
            Self.command("01 => 81 ?1 {crc8}"), Self.command("02 $1^FF => \"OK\" ??"), Self.command("03 => 83 83 84"),
        ]
        let reply1: [UInt8] = [0x81, 0x42] + Checksum.crc8.value(of: [0x81, 0x42])
        let replies: [[UInt8]] = [[0x00, 0x81] + reply1, Array("OOK".utf8) + [0x0A], [0x83, 0x83, 0x83, 0x84, 0x39]]
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<200 {
            var queue = ChatScript(commands)
            var step = queue.begin(now: .zero)
            for (index, reply) in replies.enumerated() {
                guard case .write(let bytes) = step else {
                    Issue.record("command \(index) is not written: \(step)")
                    return
                }
                #expect(bytes.first == UInt8(index + 1))
                step = queue.written(now: .zero)
                var rest = reply[...]
                while !rest.isEmpty {
                    let count = Int.random(in: 1...rest.count, using: &generator)
                    step = queue.receive(Array(rest.prefix(count)), now: .zero)
                    rest = rest.dropFirst(count)
                    if step != .wait { break }
                }
            }
            guard case .finished(let rest) = step else {
                Issue.record("\(step)")
                return
            }
            #expect(rest.isEmpty || rest == [0x39])
        }
    }

    @Test("Random bytes neither trap nor finish a handshake that a check value guards, and are bounded")
    func hostile() throws {
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<10 {
            var queue = ChatScript([try Self.command("01 => A5 5A ?? ?? ?? {crc16-ccitt}")])
            _ = queue.begin(now: .zero)
            _ = queue.written(now: .zero)
            for _ in 0..<50 {
                let count = Int.random(in: 0...512, using: &generator)
                // Excludes the first byte of the reply, so that random bytes cannot form the reply.
                let bytes = (0..<count).map { _ in UInt8.random(in: 0...0xA4, using: &generator) }
                #expect(queue.receive(bytes, now: .zero) == .wait)
            }
            guard case .failed = queue.handleDeadline(now: .seconds(2)) else {
                Issue.record("no failure")
                return
            }
        }
    }

    @Test("D-6: a failed handshake says which command and how many bytes came, never which bytes")
    func texts() {
        let silent = ChatScript.Failure(command: 1, timeout: .milliseconds(500), otherBytes: 0)
        #expect("\(silent)" == "no reply to handshake command 1 within 500ms")
        let wrong = ChatScript.Failure(command: 2, timeout: .seconds(2), otherBytes: 7)
        #expect("\(wrong)" == "unexpected reply to handshake command 2 within 2s: 7 bytes")
    }

    @Test(
        "BT-7: templates that are wrong are refused, with the place",
        arguments: [
            ("", HexTemplate.Purpose.command, 1), ("A", .command, 1), ("A5 0", .command, 4), ("A5 G1", .command, 4),
            ("A5 ??", .command, 4), ("*", .command, 1), ("A5 * 01", .reply, 6), ("\"OK", .reply, 1),
            ("A5 {crc9}", .reply, 4), ("A5 {xor", .reply, 4), ("?0", .reply, 1), ("?", .reply, 1), ("$", .command, 1),
            ("$1^", .command, 4), ("$A", .command, 1), ("０１", .command, 1),
            (String(repeating: "00", count: 257), .command, 1),
        ]
    )
    func wrongTemplates(_ text: String, _ purpose: HexTemplate.Purpose, _ column: Int) {
        #expect(throws: HexTemplateFault.self) { try HexTemplate(text, for: purpose) }
        do {
            _ = try HexTemplate(text, for: purpose)
        } catch {
            #expect(error.column == column, "\(text): \(error)")
        }
    }
}
