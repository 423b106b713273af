// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import Control
import Devices
import LinuxIO
import TestSupport
import Testing
import Texts
import TextsSupport

@Suite("Conversations on the control socket", .virtualTime, .timeLimit(.minutes(10)))
struct ControlConversationTests {
    @Test(
        "D-9: a conversation is lines both ways on one connection, has no patience, and ends the connection with its last line"
    )
    func conversation() throws {
        let bench = try ControlBench(limits: ControlServerTests.hasty)
        let peer = try bench.connect()
        try peer.send("pair A\n")
        #expect(try bench.run(until: { peer.lineCount == 1 }))
        #expect(peer.lines == [#"{"ok":true,"version":1}"#])
        let conversation = try #require(bench.handler.conversations.first)
        try bench.run(for: .milliseconds(300))
        #expect(!peer.isClosed && !conversation.isCancelled)
        conversation.say(PairingEvent.ask(.enter).object, false)
        #expect(try bench.run(until: { peer.lineCount == 2 }))
        try peer.send("bad\nyes\n")
        #expect(try bench.run(until: { conversation.heard == ["bad", "yes"] && peer.lineCount == 3 }))
        #expect(peer.values.last?["error"]?["code"]?.integer == 64)
        conversation.say(PairingEvent.failed(CommandFailure(.timeout, "over")).object, true)
        #expect(try bench.run(until: { peer.isClosed }))
        #expect(peer.lines.last == #"{"event":"failed","error":{"code":75,"cause":"over"}}"#)
        #expect(!conversation.isCancelled && bench.server.clientCount == 0)
    }

    @Test(
        "D-9: a conversation is cancelled by the connection's end: a client that goes, ends its writing, or sends no line"
    )
    func brokenConversation() throws {
        let long = String(repeating: "1", count: ControlLine.mostBytes + 1)
        for end in [{ $0.close() }, { try $0.finishWriting() }, { try $0.send(long) }] as [(ControlPeer) throws -> Void]
        {
            let bench = try ControlBench()
            let peer = try bench.connect()
            try peer.send("pair A\n")
            #expect(try bench.run(until: { peer.lineCount == 1 }))
            let conversation = try #require(bench.handler.conversations.first)
            let second = try bench.connect()
            try second.send("pair B\n")
            #expect(try bench.run(until: { second.lineCount == 1 }))
            #expect(second.values.first?["error"]?["code"]?.integer == 75 && bench.handler.conversations.count == 1)
            try end(peer)
            #expect(try bench.run(until: { conversation.isCancelled && bench.server.clientCount == 1 }))
            // Messages to a disconnected client are discarded.
            conversation.say(PairingEvent.listening.object, true)
            try second.send("pair B\n")
            #expect(try bench.run(until: { second.lineCount == 2 }))
            #expect(bench.handler.conversations.count == 2)
        }
    }

    @Test("D-9: a client that answers without end and reads nothing is held up, and keeps no other waiting")
    func floodedConversation() throws {
        let bench = try ControlBench()
        let flood = try bench.connect(isReading: false)
        try flood.send("pair A\n" + String(repeating: "bad\n", count: 200_000))
        #expect(try bench.run(until: { (bench.handler.conversations.first?.heard.count ?? 0) > 100 }))
        let quick = try bench.connect()
        try quick.send("status\n")
        #expect(try bench.run(until: { quick.lineCount == 1 }))
        try bench.run(for: .milliseconds(200))
        let heard = try #require(bench.handler.conversations.first).heard.count
        try bench.run(for: .milliseconds(200))
        #expect(bench.handler.conversations.first?.heard.count == heard && heard < 200_000)
    }
}
