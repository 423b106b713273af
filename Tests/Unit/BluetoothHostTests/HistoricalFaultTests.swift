// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport
import Testing

/// Faults listed in Tests/Vectors/historical-faults.txt.
@Suite(.timeLimit(.minutes(10))) struct HistoricalFaultTests {
    /// Fault of another implementation, and the evidence that this one does not have it.
    private struct Fault {
        var name: String
        var blocks: [(kind: String, lines: [(number: Int, text: String)])] = []
        var sentences: [String] = []
        var tests: [String] = []
        var vectors: [String] = []

        static func all() throws -> [Fault] {
            var all: [Fault] = []
            for line in try VectorFile.lines("historical-faults.txt") {
                let (word, rest) = halves(line.text, " ")
                if word == "fault" {
                    all.append(Fault(name: halves(rest, ":").0))
                    continue
                }
                let last = try #require(all.indices.last)
                switch word {
                case "scan", "client", "pairing": all[last].blocks.append((line.text, []))
                case "cannot:": all[last].sentences.append(rest)
                case "test:": all[last].tests.append(rest)
                case "vector": all[last].vectors.append(rest)
                default:
                    let block = try #require(all[last].blocks.indices.last, "line \(line.number)")
                    all[last].blocks[block].lines.append(line)
                }
            }
            return all
        }
    }

    /// Splits the text at the first occurrence of a character.
    private static func halves(_ text: String, _ sign: Character) -> (String, String) {
        let parts = text.split(separator: sign, maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count > 1 ? parts[1].drop { $0 == " " }.description : "")
    }

    /// Parses bytes; `AA*10` repeats a byte ten times.
    private static func bytes(_ text: String, line: Int) throws -> [UInt8] {
        try text.split(separator: " ").flatMap { word -> [UInt8] in
            let (one, count) = halves(String(word), "*")
            let bytes = try #require(VectorFile.bytes(one), "line \(line)")
            return count.isEmpty ? bytes : Array([[UInt8]](repeating: bytes, count: Int(count) ?? 0).joined())
        }
    }

    @Test("T14-T25: every historical fault has a vector, a test, or a sentence why it cannot be here, and each holds")
    func faults() throws {
        let all = try Fault.all()
        #expect(all.count >= 38)
        #expect(Set(all.map(\.name)).count == all.count)
        let tests = try RepositoryFiles.files(below: "Tests").filter { $0.hasSuffix("Tests.swift") }
            .map { try RepositoryFiles.text($0) }
        for fault in all {
            #expect(!(fault.blocks.isEmpty && fault.sentences.isEmpty && fault.tests.isEmpty && fault.vectors.isEmpty))
            for sentence in fault.sentences {
                #expect(sentence.hasSuffix(".") && sentence.split(separator: " ").count >= 8, "\(fault.name)")
            }
            for name in fault.tests {
                let isThere = tests.contains { $0.contains("\"\(name)\"") }
                #expect(isThere, "\(fault.name): there is no test \(name)")
            }
            for vector in fault.vectors {
                let (file, title) = Self.halves(vector, ":")
                let lines = try VectorFile.lines(file).map(\.text)
                #expect(lines.contains("script \(title)"), "\(fault.name): \(file) has no \(title)")
            }
            for block in fault.blocks {
                let lines = block.lines
                #expect(!lines.isEmpty, "\(fault.name)")
                switch block.kind {
                case "scan": try scan(lines, fault.name)
                case "client":
                    let script = GATTScript(name: fault.name, lines: lines)
                    #expect(try script.transcript() == lines.map(\.text), "\(fault.name)")
                case "pairing central", "pairing peripheral": try pairing(block.kind, lines, fault.name)
                default: Issue.record("\(fault.name): \(block.kind)")
                }
            }
        }
    }

    private func scan(_ lines: [(number: Int, text: String)], _ name: String) throws {
        var scanner = Scanner.scanning(.extended)
        for (number, text) in lines where text.hasPrefix("<") {
            scanner.feed(try Self.bytes(String(text.dropFirst()), line: number))
        }
        let counters = scanner.devices.counters
        let outcome = "= reports \(counters.reports) bad \(counters.badEvents) devices \(scanner.devices.count)"
        #expect(outcome == lines.last?.text, "\(name)")
        #expect(scanner.state == .scanning, "\(name)")
    }

    private func pairing(_ kind: String, _ lines: [(number: Int, text: String)], _ name: String) throws {
        let side = kind == "pairing central" ? 0 : 1
        var manager = SecurityManager(
            role: side == 0 ? .central : .peripheral,
            local: PairingInMemory.address[side],
            peer: PairingInMemory.address[1 - side],
            policy: PairingInMemory.policy(side)
        )
        if side == 0 { try manager.pair(now: .zero) }
        _ = manager.takeEffects()
        var sent: [[UInt8]] = []
        for (number, text) in lines {
            let rest = try text == "> -" ? [] : Self.bytes(String(text.dropFirst()), line: number)
            if text.hasPrefix("<") {
                manager.receive(rest.span, now: .zero)
                for case .send(let frame) in manager.takeEffects() { sent.append(frame) }
            } else {
                #expect(sent.last ?? [] == rest, "\(name), line \(number)")
            }
        }
        #expect(manager.bond == nil && !manager.isPairing, "\(name)")
    }
}
