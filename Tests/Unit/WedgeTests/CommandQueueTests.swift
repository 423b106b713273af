// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Configuration
import Daemon
import Link
import TestSupport
import Testing
import Texts
import Typing

/// Conversation with a command queue, whose steps are lines of Tests/Vectors/command-queue.txt.
private struct QueueConversation {
    private var queue = CommandQueue()
    /// Results that no line has mentioned yet.
    private var ends: [String] = []
    /// Bytes to be written.
    private var write: [UInt8]?

    /// Executes a line; returns the difference from the expected result, or nil.
    mutating func play(_ line: String) throws -> String? {
        let words = line.split(separator: " ").map(String.init)
        if line.hasPrefix("gone") {
            let steps = queue.removeAll()
            ends += steps.ends.map(Self.text)
            let left = steps.others.isEmpty ? "-" : Hexadecimal.text(steps.others)
            return line == "gone => \(left)" ? nil : "left is \(left)"
        }
        guard let now = TimeText.duration(words[0]), words.count > 1, Int(words[0]) == nil else {
            let next = ends.isEmpty ? "nothing" : ends.removeFirst()
            return next == line ? nil : "ended is \(next)"
        }
        let sides = line.components(at: " => ")
        switch words[1] {
        case "add":
            let command = try Self.command(line.components(at: " add ")[1])
            guard let added = queue.add(command, now: now) else { return "it is full" }
            take(added.steps)
        case ">", ">>":
            let wanted = VectorFile.bytes(words[2])
            guard write == wanted, write != nil else { return rest.last ?? "nothing is to be written" }
            write = nil
            if words[1] == ">" { take(queue.written(now: now)) }
        case "written": take(queue.written(now: now))
        case "refused": take(queue.notWritten(now: now))
        case "<", "!":
            let wanted = sides[1] == "-" ? [] : VectorFile.bytes(sides[1]) ?? []
            let steps =
                words[1] == "!"
                ? queue.handleDeadline(now: now) : queue.receive(VectorFile.bytes(words[2]) ?? [], now: now)
            take(steps)
            if steps.others != wanted { return "typed is \(Hexadecimal.text(steps.others))" }
        default: return "no such line"
        }
        return nil
    }

    /// Results that remain at the end.
    var rest: [String] { ends + (write.map { ["to write is \(Hexadecimal.text($0))"] } ?? []) }

    private mutating func take(_ steps: CommandQueue.Steps) {
        ends += steps.ends.map(Self.text)
        if let bytes = steps.write { write = bytes }
    }

    private static func text(_ end: CommandQueue.End) -> String {
        switch end.outcome {
        case .answered(let reply): "\(end.number) answered \(reply.isEmpty ? "-" : Hexadecimal.text(reply))"
        case .unanswered: "\(end.number) unanswered"
        case .notWritten: "\(end.number) not written"
        case .lost(let isWritten): "\(end.number) \(isWritten ? "cut" : "unsent")"
        }
    }

    private static func command(_ text: String) throws -> ChatScript.Command {
        var sides = text.components(at: " => ")
        var options: [String: String] = [:]
        for name in [" times ", " within "] {
            let parts = sides[1].components(at: name)
            if parts.count > 1 { (sides[1], options[name]) = (parts[0], parts[1]) }
        }
        return ChatScript.Command(
            send: try HexTemplate(sides[0], for: .command),
            expect: sides[1] == "-" ? nil : try HexTemplate(sides[1], for: .reply),
            timeout: options[" within "].flatMap { TimeText.duration($0) } ?? .seconds(2),
            attempts: options[" times "].flatMap { Int($0) } ?? 1
        )
    }
}

extension String {
    /// Returns the texts before and after the first separator, or the whole text.
    fileprivate func components(at separator: String) -> [String] {
        guard let range = firstRange(of: separator) else { return [self] }
        return [String(self[..<range.lowerBound]), String(self[range.upperBound...])]
    }
}

@Suite("Commands to a connected device")
struct CommandQueueTests {
    @Test("Every conversation of Tests/Vectors/command-queue.txt, byte for byte")
    func vectors() throws {
        var conversation: (title: String, state: QueueConversation)?
        var count = 0
        func finish() { #expect(conversation?.state.rest ?? [] == [], "\(conversation?.title ?? "")") }
        for line in try VectorFile.lines("command-queue.txt") {
            if line.text.hasPrefix("== ") {
                finish()
                conversation = (String(line.text.dropFirst(3)), QueueConversation())
                count += 1
            } else {
                let fault = try conversation?.state.play(line.text)
                #expect(fault == nil, "\(conversation?.title ?? ""), line \(line.number): \(line.text)")
            }
        }
        finish()
        #expect(count == 15)
    }

    @Test("Replies are recognised, and other bytes typed, however bytes are split into notifications")
    func splitting() throws {
        var random = SeededGenerator(seed: 13)
        let reply = try HexTemplate("A5 81 ?? {crc8-maxim}", for: .reply)
        for _ in 0..<500 {
            var queue = CommandQueue()
            var stream: [UInt8] = []
            var wanted: [UInt8] = []
            var replies: [[UInt8]] = []
            for _ in 0..<3 {
                // Excludes the first byte of a reply, because the queue may hold back bytes after it until the end.
                let count = Int.random(in: 0...6, using: &random)
                let others = (0..<count).map { _ in UInt8.random(in: 0...0xA4, using: &random) }
                let bytes: [UInt8] = [0xA5, 0x81, UInt8.random(in: .min ... .max, using: &random)]
                replies.append(bytes + Checksum.crc8Maxim.value(of: bytes))
                stream += others + replies[replies.count - 1]
                wanted += others
            }
            let command = ChatScript.Command(send: try HexTemplate("01", for: .command), expect: reply)
            let added = (0..<3).map { _ in queue.add(command, now: .zero) }
            #expect(added.map { $0?.steps.write != nil } == [true, false, false])
            var typed: [UInt8] = []
            var answers: [[UInt8]] = []
            _ = queue.written(now: .zero)
            var rest = stream[...]
            while !rest.isEmpty {
                // Bytes after a reply in the same notification never belong to the next reply, so replies are received
                // byte by byte.
                let isShort = rest.prefix(5).contains(0xA5)
                let length = isShort ? 1 : Int.random(in: 1...min(5, rest.count), using: &random)
                let now = queue.receive(Array(rest.prefix(length)), now: .zero)
                typed += now.others
                for end in now.ends { if case .answered(let bytes) = end.outcome { answers.append(bytes) } }
                if now.write != nil { _ = queue.written(now: .zero) }
                rest = rest.dropFirst(length)
            }
            #expect(typed == wanted)
            #expect(answers == replies)
        }
    }

    @Test("At most 32 commands at a time; when one has ended there is room for another")
    func full() throws {
        var queue = CommandQueue()
        let command = ChatScript.Command(
            send: try HexTemplate("01", for: .command),
            expect: try HexTemplate("81", for: .reply)
        )
        for _ in 0..<CommandQueue.mostCommands { #expect(queue.add(command, now: .zero) != nil) }
        #expect(queue.add(command, now: .zero) == nil)
        _ = queue.written(now: .zero)
        #expect(queue.receive([0x81], now: .zero).write == [0x01])
        #expect(queue.add(command, now: .zero) != nil)
        #expect(queue.add(command, now: .zero) == nil)
        #expect(queue.removeAll().ends.count == CommandQueue.mostCommands)
    }
}
