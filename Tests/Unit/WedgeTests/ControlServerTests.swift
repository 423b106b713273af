// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Control
import Daemon
import Glibc
import Keystrokes
import LinuxIO
import TestSupport
import Testing
import Texts
import TextsSupport
import Typing

@Suite("The control socket", .virtualTime, .timeLimit(.minutes(10)))
struct ControlServerTests {
    /// Short limits, so that tests need not wait.
    static var hasty: ControlServer.Limits {
        var limits = ControlServer.Limits()
        limits.patience = .milliseconds(100)
        return limits
    }

    @Test("D-9: an answer is one JSON line that says ok and the version; requests of one client are answered in order")
    func answers() throws {
        let bench = try ControlBench()
        let peer = try bench.connect()
        try peer.send("status\nkey 1 enter\nsnippet nonsense now\n\nstop\n")
        #expect(try bench.run(until: { peer.lineCount == 5 }))
        #expect(peer.lines.first == #"{"ok":true,"version":1,"did":"version 1 status"}"#)
        #expect(peer.values.map { $0["ok"]?.bool } == [true, true, false, false, true])
        #expect(peer.values[2]["version"]?.integer == 1)
        #expect(peer.values[2]["error"]?["code"]?.integer == 64)
        #expect(peer.values[2]["error"]?["cause"]?.string == "word 3: nothing may follow here")
        #expect(bench.handler.requests == [.status, .key([.character("1"), .key(.enter)]), .stop])
        #expect(!peer.isClosed)
    }

    @Test("The owner has a queue of its own: a full one of the group keeps it from nothing")
    func ownersQueue() throws {
        var limits = ControlServer.Limits()
        // In this test, the other clients belong to the owner as well.
        limits.clients = 64
        let bench = try ControlBench(limits: limits)
        var status = stat()
        try #require(lstat(bench.path + ".owner", &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600 && status.st_uid == geteuid())
        var crowd: [Int32] = []
        defer { for client in crowd { close(client) } }
        while let stream = try? LocalStream(connectingTo: bench.path) {
            crowd.append(dup(stream.descriptor.unownedNumber))
        }
        #expect(crowd.count >= 16)
        // The client is connected before the daemon has accepted anybody.
        let stream = try ControlSocket.connect(to: bench.path, patience: .zero)
        #expect(try stream.write(Array("version 1 pause\n".utf8)) == .done(16))
        #expect(try bench.run(until: { bench.handler.requests == [.pause] }))
        bench.server.close()
        #expect(lstat(bench.path + ".owner", &status) != 0)
    }

    @Test("A socket beside the daemon's that is another user's is not taken for the owner's")
    func foreignQueue() throws {
        try #require(geteuid() == 0, "only root can give a file away")
        let directory = try TestDirectory()
        let listener = try LocalListener(at: directory("control"), mode: 0o600)
        let other = try LocalListener(at: directory("control.owner"), mode: 0o666)
        try #require(chown(directory("control.owner"), 65_534, 65_534) == 0)
        let stream = try ControlSocket.connect(to: directory("control"), patience: .zero)
        let (own, foreign) = (try listener.accept() != nil, try other.accept() != nil)
        #expect(own && !foreign)
        _ = consume stream
    }

    @Test("D-9: the next request of a client waits for the answer to the last; other clients do not")
    func later() throws {
        let bench = try ControlBench()
        bench.handler.answer = { $0 == .connect ? nil : .success(JSONObject()) }
        let (slow, quick) = (try bench.connect(), try bench.connect())
        try slow.send("connect\npause\n")
        #expect(try bench.run(until: { bench.handler.requests == [.connect] }))
        try quick.send("status\n")
        #expect(try bench.run(until: { quick.lineCount == 1 }))
        #expect(slow.lines.isEmpty)
        #expect(bench.handler.requests == [.connect, .status])
        bench.handler.replies.removeFirst()(.failure(CommandFailure(.timeout, "cause", remedy: "remedy")))
        #expect(try bench.run(until: { slow.lineCount == 2 }))
        #expect(
            slow.lines
                == [
                    #"{"ok":false,"version":1,"error":{"code":75,"cause":"cause","remedy":"remedy"}}"#,
                    #"{"ok":true,"version":1}"#,
                ]
        )
        #expect(bench.handler.requests == [.connect, .status, .pause])
    }

    @Test("D-9: a client that sends requests without end keeps nobody waiting: one request a client and turn")
    func pipelined() throws {
        let bench = try ControlBench()
        let floods = try (0..<8).map { _ in try bench.connect() }
        let answered = { floods.reduce(0) { $0 + $1.lineCount } }
        for flood in floods { try flood.send(String(repeating: "status\n", count: 500)) }
        #expect(try bench.run(until: { answered() >= 8 }))
        let quick = try bench.connect()
        try quick.send("pause\n")
        let before = answered()
        #expect(try bench.run(until: { quick.lineCount == 1 }))
        // The request is answered after a few turns of the loop: one each for the connection, the request and the
        // answer.
        #expect(answered() - before < 8 * 8)
        // All requests of the other clients are answered.
        #expect(try bench.run(until: { floods.allSatisfy { $0.lineCount == 500 } }))
        #expect(bench.handler.requests.count { $0 == .pause } == 1)
    }

    @Test("D-9: status requests in one loop iteration get the same answer, unless the state has changed in between")
    func shared() throws {
        let bench = try ControlBench()
        let clients = try (0..<8).map { _ in try bench.connect() }
        let asked = { bench.handler.requests.count { $0 == .status } }
        let send = { (lines: [String]) in
            let wanted = clients[0].lineCount + 1
            for (client, line) in zip(clients, lines) { try client.send(line) }
            #expect(try bench.run(until: { clients.allSatisfy { $0.lineCount == wanted } }))
        }
        let all = [String](repeating: "status\n", count: clients.count)
        try send(all)
        #expect(asked() == 1)
        // In a later turn, the status is determined again.
        try send(all)
        #expect(asked() == 2)
        // Clients after a request that changes something receive the new status.
        try send(all.enumerated().map { $0.offset == 4 ? "pause\n" : $0.element })
        #expect(asked() == 4)
    }

    @Test(
        "D-9: the socket is for its owner and its group; with keys switched off, typing is refused, and all else is not"
    )
    func rights() throws {
        let bench = try ControlBench(allowsKeys: false)
        var status = stat()
        try #require(lstat(bench.path, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o660)
        #expect(status.st_uid == geteuid())
        let peer = try bench.connect()
        try peer.send("key 1\nsnippet link\nclear\npause\n")
        #expect(try bench.run(until: { peer.lineCount == 4 }))
        #expect(peer.values.map { $0["error"]?["code"]?.integer } == [77, 77, 77, nil])
        #expect(bench.handler.requests == [.pause])
        bench.server.allowsKeys = true
        try peer.send("clear\n")
        #expect(try bench.run(until: { peer.lineCount == 5 }))
        #expect(bench.handler.requests == [.pause, .clear])
    }

    @Test("D-9: a client that closes its sending side after a request is answered, then disconnected")
    func halfClose() throws {
        let bench = try ControlBench()
        let peer = try bench.connect()
        try peer.send("status\nhalf")
        try peer.finishWriting()
        #expect(try bench.run(until: { peer.isClosed }))
        #expect(peer.lineCount == 1)
        #expect(bench.handler.requests == [.status])
    }

    @Test("D-9: what a client asked for before it went is carried out, and its late answer goes nowhere")
    func gone() throws {
        let bench = try ControlBench()
        bench.handler.answer = { _ in nil }
        let peer = try bench.connect()
        try peer.send("pause\n")
        peer.close()
        #expect(try bench.run(until: { bench.handler.requests == [.pause] }))
        try bench.run(for: .milliseconds(20))
        #expect(bench.server.clientCount == 0)
        for reply in bench.handler.replies { reply(.success(JSONObject())) }
        let next = try bench.connect()
        try next.send("status\n")
        #expect(try bench.run(until: { bench.handler.requests == [.pause, .status] }))
    }

    @Test("D-9: events begin with the state as it stands, come to every follower in order, and to nobody else")
    func events() throws {
        let bench = try ControlBench()
        bench.handler.currentEvents = [ControlServerTests.event(0)]
        let followers = [try bench.connect(), try bench.connect()]
        let other = try bench.connect()
        for follower in followers { try follower.send("events\n") }
        try other.send("status\n")
        #expect(try bench.run(until: { followers.allSatisfy { $0.lineCount == 2 } && other.lineCount == 1 }))
        // Input of a follower is ignored, even the end of its input.
        try followers[0].send("stop\n" + String(repeating: "x", count: 10_000))
        try followers[1].finishWriting()
        for number in 1...100 { bench.server.publish(ControlServerTests.event(number)) }
        #expect(try bench.run(until: { followers.allSatisfy { $0.lineCount == 102 } }))
        for follower in followers {
            #expect(follower.lines[0] == #"{"ok":true,"version":1}"#)
            #expect(follower.values.dropFirst().map { $0["notifications"]?.integer } == (0...100).map { $0 })
        }
        #expect(other.lineCount == 1)
        #expect(bench.handler.requests == [.status])
        bench.server.close()
        #expect(try bench.run(until: { followers.allSatisfy(\.isClosed) }))
        #expect(access(bench.path, F_OK) != 0)
    }

    @Test("D-9: events that a slow follower has no room for are left out and counted; what it gets adds up")
    func missedEvents() throws {
        let bench = try ControlBench(limits: Self.hasty)
        let slow = try bench.connect(isReading: false)
        let quick = try bench.connect()
        for peer in [slow, quick] { try peer.send("events\n") }
        #expect(try bench.run(until: { quick.lineCount == 1 }))
        let total = 20_000
        for number in 1...total {
            bench.server.publish(Self.event(number))
            if number.isMultiple(of: 100) { #expect(try bench.run(until: { quick.lineCount == number + 1 })) }
        }
        // Longer than the time-out for requests: a follower may be slow.
        try bench.run(for: .milliseconds(200))
        slow.read()
        #expect(!slow.isClosed)
        bench.server.publish(Self.event(total + 1))
        try bench.run(for: .milliseconds(20))
        slow.read()
        bench.server.publish(Self.event(total + 2))
        slow.read()
        let events = slow.values.dropFirst()
        #expect(events.count < total)
        var next: Int64 = 1
        for event in events {
            let number = try #require(event["notifications"]?.integer)
            #expect(number - next == event["missed"]?.integer ?? 0)
            next = number + 1
        }
        #expect(next == Int64(total) + 3)
    }

    static func event(_ number: Int) -> JSONObject {
        var event = JSONObject()
        event.add("event", "received")
        event.add("notifications", number)
        return event
    }
}

@Suite("Hostile clients of the control socket", .timeLimit(.minutes(10)))
struct HostileControlTests {
    @Test(
        "D-9: a client that sends half a line or nothing is disconnected after a time-out, and delays no other client"
    )
    func halfLine() throws {
        let bench = try ControlBench(limits: ControlServerTests.hasty)
        let (half, silent) = (try bench.connect(), try bench.connect())
        try half.send("stat")
        let honest = try bench.connect()
        try honest.send("status\n")
        #expect(try bench.run(until: { honest.lineCount == 1 }))
        #expect(!half.isClosed && !silent.isClosed)
        #expect(try bench.run(until: { half.isClosed && silent.isClosed && honest.isClosed }))
        #expect(half.lines.isEmpty && silent.lines.isEmpty)
        #expect(bench.server.clientCount == 0)
        #expect(bench.handler.requests == [.status])
    }

    @Test("D-9: a client that sends one byte at a time gets no more time")
    func trickle() throws {
        let bench = try ControlBench(limits: ControlServerTests.hasty)
        let peer = try bench.connect()
        for _ in 0..<1000 where !peer.isClosed {
            try peer.send("s")
            _ = try bench.run(until: { peer.isClosed }, limit: .milliseconds(5))
        }
        #expect(peer.isClosed)
        #expect(peer.sent < 1000)
    }

    @Test("D-9: a megabyte without an end is refused after 4096 bytes, not read to its end")
    func megabyte() throws {
        let bench = try ControlBench()
        let peer = try bench.connect()
        try peer.send([UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20))
        #expect(try bench.run(until: { peer.isClosed }))
        #expect(peer.values.first?["error"]?["code"]?.integer == 64)
        #expect(peer.values.first?["error"]?["cause"]?.string?.contains("4096") == true)
        // Limited by what the server has read, and by the kernel's buffers for a socket that nobody reads.
        #expect(peer.sent < 2 * peer.sendBuffer)
        #expect(bench.handler.requests.isEmpty)
    }

    @Test("D-9: a client that sends requests but never reads gets one answer, and is disconnected")
    func neverReads() throws {
        let bench = try ControlBench(limits: ControlServerTests.hasty)
        bench.handler.answer = { _ in
            var object = JSONObject()
            object.add("text", String(repeating: "x", count: 1 << 20))
            return .success(object)
        }
        let peer = try bench.connect(isReading: false)
        try peer.send(String(repeating: "status\n", count: 1000))
        #expect(try bench.run(until: { bench.server.clientCount == 0 && !bench.handler.requests.isEmpty }))
        #expect(try bench.run(until: { peer.isClosed }))
        #expect(bench.handler.requests.count == 1)
    }

    @Test(
        "D-9: at most 16 clients: the next one is rejected with an error, and accepted after another has disconnected"
    )
    func tooMany() throws {
        let bench = try ControlBench()
        let peers = try (0..<16).map { _ in try bench.connect() }
        for peer in peers { try peer.send("events\n") }
        #expect(try bench.run(until: { peers.allSatisfy { $0.lineCount == 1 } }))
        let next = try bench.connect()
        #expect(try bench.run(until: { next.isClosed }))
        #expect(next.values.first?["error"]?["code"]?.integer == 69)
        peers[0].close()
        try bench.run(for: .milliseconds(20))
        let last = try bench.connect()
        try last.send("status\n")
        #expect(try bench.run(until: { last.lineCount == 1 }))
        #expect(last.values.first?["ok"]?.bool == true)
    }

    @Test("D-9: ten clients that send garbage at once keep nobody from being answered")
    func garbage() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<RunCount.from("BLEWEDGE_CONTROL_RUNS", usual: 20) {
            let bench = try ControlBench()
            let peers = try (0..<10).map { _ in try bench.connect() }
            for peer in peers {
                let length = Int.random(in: 0...20_000, using: &random)
                var bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
                if Bool.random(using: &random) { bytes += Array("\n".utf8) }
                try peer.send(bytes)
                if Bool.random(using: &random) { peer.close() }
            }
            let honest = try bench.connect()
            try honest.send("status\n")
            #expect(try bench.run(until: { honest.lineCount == 1 }))
            #expect(bench.handler.requests.last == .status)
        }
    }
}
