// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import ConformanceSupport
import TestSupport

/// Client under test, without a transport.
struct ClientUnderTest: ConformanceLink {
    private var player = GATTScriptPlayer()
    private var outcomes: [String] = []
    private var didFail = false

    mutating func send(_ pdu: [UInt8]) {
        let value = "0x" + Hexadecimal.text(pdu.dropFirst(3))
        switch player.client.receive(pdu.span, now: player.now) {
        case .value(let received): outcomes.append("\(received.kind.name) \(received.handle) \(value)")
        case .ignored: outcomes.append("ignored")
        case .handled: break
        }
    }

    mutating func nextPDU(isExpected: Bool) -> [UInt8]? { player.client.nextOutgoing() }

    mutating func perform(_ words: [String]) {
        if let outcome = player.outcome(of: words) { outcomes.append(outcome) }
    }

    mutating func nextOutcome(isExpected: Bool) -> String? {
        if !outcomes.isEmpty { return outcomes.removeFirst() }
        if let event = player.client.nextEvent() { return GATTScriptPlayer.describe(event.result) }
        guard let failure = player.client.failure, !didFail else { return nil }
        didFail = true
        return "failure: \(failure)"
    }

    mutating func wait(seconds: Int) {
        player.now += .seconds(seconds)
        player.client.handleDeadline(now: player.now)
    }
}

/// Server under test, without a transport.
struct ServerUnderTest: ConformanceLink {
    private var server: GATTServer
    private var link = GATTClient()
    private let peer: GATTServer.PeerID
    private var now = Duration.zero
    private var words = ServerWords()
    private var outcomes: [String] = []
    private var didFail = false

    init(_ database: [String]) throws {
        server = GATTServer(try ConformanceDatabase.build(database))
        peer = server.connect()
    }

    mutating func send(_ pdu: [UInt8]) {
        _ = link.receive(pdu.span, from: peer, for: &server, now: now)
    }

    mutating func nextPDU(isExpected: Bool) -> [UInt8]? {
        link.nextOutgoing(to: peer, from: &server, now: now)
    }

    mutating func perform(_ words: [String]) throws {
        if let outcome = try self.words.perform(words, on: &server, peer) { outcomes.append(outcome) }
    }

    mutating func nextOutcome(isExpected: Bool) -> String? {
        if !outcomes.isEmpty { return outcomes.removeFirst() }
        if let failure = link.failure, !didFail {
            didFail = true
            server.disconnect(peer)
            return "failure: \(failure)"
        }
        guard let event = server.nextEvent() else { return nil }
        return words.describe(event)
    }

    mutating func wait(seconds: Int) {
        now += .seconds(seconds)
        link.handleDeadline(now: now)
        server.handleDeadline(now: now)
    }
}
