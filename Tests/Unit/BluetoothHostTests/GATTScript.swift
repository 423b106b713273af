// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import ConformanceSupport
import TestSupport
import Testing

/// Script of gatt-client.txt: actions of the client, PDUs of the peer, and the expected output.
struct GATTScript: CustomTestStringConvertible, Sendable {
    var name: String
    var lines: [(number: Int, text: String)]

    var testDescription: String { name }

    /// Returns all scripts of a file.
    static func all(_ file: String) throws -> [GATTScript] {
        var scripts: [GATTScript] = []
        for line in try VectorFile.lines(file) {
            if line.text.hasPrefix("script ") {
                scripts.append(GATTScript(name: String(line.text.dropFirst(7)), lines: []))
            } else {
                let last = try #require(scripts.indices.last)
                scripts[last].lines.append(line)
            }
        }
        return scripts
    }

    /// Runs the inputs and returns the actual transcript, to be compared with the file.
    func transcript() throws -> [String] {
        var player = GATTTranscript()
        for (number, text) in lines where !text.hasPrefix(">") && !text.hasPrefix("?") {
            player.note(text)
            try player.play(text, line: number)
        }
        return player.log
    }
}

/// Application that controls a client as specified by a script of gatt-client.txt.
struct GATTTranscript {
    struct Unreadable: Error { var line: Int }

    private var player = GATTScriptPlayer()
    private(set) var log: [String] = []
    private var isHolding = false
    private var didFail = false

    /// Adds a line to the transcript.
    mutating func note(_ text: String) { log.append(text) }

    /// Executes a `do`, `<`, `wait`, `hold` or `release` line, and records everything that results from it.
    mutating func play(_ text: String, line: Int) throws {
        let words = text.split(separator: " ").map { String($0) }
        switch words.first {
        case "<":
            guard let bytes = VectorFile.bytes(text.dropFirst(1)) else { throw Unreadable(line: line) }
            let value = "0x" + Hexadecimal.text(bytes.dropFirst(3))
            switch player.client.receive(bytes.span, now: player.now) {
            case .value(let received): log.append("? \(received.kind.name) \(received.handle) \(value)")
            case .ignored: log.append("? ignored")
            case .handled: break
            }
        case "wait":
            guard words.count == 2, let seconds = Int(words[1]) else { throw Unreadable(line: line) }
            player.now += .seconds(seconds)
            if let deadline = player.client.deadline, deadline <= player.now {
                player.client.handleDeadline(now: player.now)
            }
        case "hold": isHolding = true
        case "release": isHolding = false
        case "close": player.client.close()
        case "mtu?", "subscriptions?": if let outcome = player.outcome(of: words) { log.append("? " + outcome) }
        case "do": if let outcome = player.outcome(of: Array(words.dropFirst())) { log.append("? " + outcome) }
        default: throw Unreadable(line: line)
        }
        drain()
    }

    private mutating func drain() {
        while !isHolding, let pdu = player.client.nextOutgoing() {
            log.append("> " + pdu.map { Hexadecimal.text([$0]) }.joined(separator: " "))
        }
        while let event = player.client.nextEvent() { log.append("? " + GATTScriptPlayer.describe(event.result)) }
        if let failure = player.client.failure, !didFail {
            didFail = true
            log.append("? failure: \(failure)")
        }
    }
}
