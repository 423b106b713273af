// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import Configuration
import Control
import Daemon
import Devices
import Link
import LinuxIO
import TestSupport
import Testing

@Suite("The simulated module")
struct SimulatedModuleTests {
    /// Write to the Client Characteristic Configuration after the output's value, according to the database layout.
    private static let subscribe: [UInt8] = [0x12, 0x0A, 0x00, 0x01, 0x00]
    private static let unsubscribe: [UInt8] = [0x12, 0x0A, 0x00, 0x00, 0x00]
    private static let write: [UInt8] = [0x52, 0x0C, 0x00] + Array("hello".utf8)
    private static let exchangeMTU: [UInt8] = [0x02, 0xF7, 0x00]

    /// Input and output of the module.
    private final class Log {
        var lines: [[UInt8]]
        var taken = 0
        var sent: [[UInt8]] = []
        var received: [[UInt8]] = []
        weak var sender: LineSender?

        init(_ lines: [[UInt8]]) {
            self.lines = lines
        }

        func next() -> [UInt8]? {
            guard taken < lines.count else { return nil }
            defer { taken += 1 }
            return lines[taken]
        }
    }

    /// Advertising module, and its recorded events.
    private struct Bench {
        let adapter = StubPeripheral()
        let loop: EventLoop
        let log: Log
        let module: SimulatedModule
        let sender: LineSender

        init(_ lines: [[UInt8]], access: GATTAccess = .open) throws {
            let log = Log(lines)
            loop = try EventLoop()
            let radio = RadioArbiter(on: loop, using: adapter)
            module = try SimulatedModule(.linble, name: "LINBLE-TEST", access: access, on: radio) { event in
                switch event {
                case .subscribed(true): log.sender?.pump()
                case .received(let value): log.received.append(value)
                case .subscribed(false), .connected, .disconnected: break
                }
            }
            sender = LineSender(module, on: loop, next: log.next) { line in log.sent.append(line) }
            log.sender = sender
            self.log = log
            try module.start { _ in }
        }
    }

    private static func line(_ number: Int) -> [UInt8] { Array("line \(number)\r".utf8) }

    @Test("A full queue holds up the lines, bounded, and every one arrives in order when there is room again")
    func backPressure() throws {
        let bench = try Bench((0..<1000).map(Self.line))
        bench.sender.pump()
        #expect(bench.log.taken == 0, "a line was read while there was nobody")
        let central = bench.adapter.connect(1)
        central.request(Self.exchangeMTU)
        central.isWritable = false
        central.request(Self.subscribe)
        #expect(central.values.isEmpty)
        #expect((1...70).contains(bench.log.taken), "\(bench.log.taken) lines were read for a central that takes none")
        let before = bench.log.taken
        bench.sender.pump()
        #expect(bench.log.taken == before)
        central.isWritable = true
        #expect(central.values == bench.log.lines)
        #expect(bench.log.sent == bench.log.lines)
        #expect(bench.module.counts.values == 1000 && bench.module.counts.discarded == 0)
        #expect(bench.module.counts.bytes == bench.log.lines.joined().count && bench.sender.lines == 1000)
    }

    @Test("Of two centrals the slow one holds up both, and each gets every value once and in order")
    func twoCentrals() throws {
        let bench = try Bench((0..<500).map(Self.line))
        let centrals = [bench.adapter.connect(1), bench.adapter.connect(2)]
        for central in centrals { central.request(Self.exchangeMTU) }
        centrals[1].isWritable = false
        bench.log.lines = []
        for central in centrals { central.request(Self.subscribe) }
        bench.log.lines = (0..<500).map(Self.line)
        bench.sender.pump()
        #expect(centrals[0].values.count < 500)
        // The central is slow, but accepts some values now and then.
        for _ in 0..<20 {
            centrals[1].isWritable = true
            centrals[1].isWritable = false
        }
        centrals[1].isWritable = true
        for central in centrals { #expect(central.values == bench.log.lines) }
    }

    @Test("A central that leaves while its queue is full frees the others")
    func leaving() throws {
        let bench = try Bench((0..<300).map(Self.line))
        let (stays, leaves) = (bench.adapter.connect(1), bench.adapter.connect(2))
        for central in [stays, leaves] { central.request(Self.exchangeMTU) }
        leaves.isWritable = false
        for central in [leaves, stays] { central.request(Self.subscribe) }
        #expect(stays.values.count < 300)
        leaves.onClosed?(.closedByPeer)
        #expect(stays.values.last == Self.line(299))
        #expect(bench.module.isSubscribed)
    }

    @Test("A module that wants encryption sends to links that have it and takes from them, by whole keys only")
    func secured() throws {
        let bench = try Bench([Self.line(0)], access: .encrypted)
        let central = bench.adapter.connect(1)
        for security in [GATTLinkSecurity(), GATTLinkSecurity(level: .encrypted, keySize: 15)] {
            central.security = security
            central.request(Self.subscribe)
            central.request(Self.write)
            #expect(!bench.module.isSubscribed && bench.log.received.isEmpty && central.values.isEmpty)
        }
        central.security = GATTLinkSecurity(level: .encrypted, isBonded: true)
        central.request(Self.subscribe)
        central.request(Self.write)
        #expect(central.values == [Self.line(0)] && bench.log.received == [Array("hello".utf8)])
        let open = try Bench([Self.line(0)])
        let anyone = open.adapter.connect(1)
        anyone.request(Self.subscribe)
        #expect(anyone.values == [Self.line(0)])
        let demanding = try Bench([Self.line(0)], access: .authenticated)
        let other = demanding.adapter.connect(1)
        other.security = central.security
        other.request(Self.subscribe)
        #expect(!demanding.module.isSubscribed)
    }

    @Test("A line longer than the MTU goes in parts; one that nobody is left for begins anew")
    func longLine() throws {
        let long = (0..<4000).map { UInt8(truncatingIfNeeded: $0) }
        let bench = try Bench([long, Self.line(1)])
        let first = bench.adapter.connect(1)
        first.isWritable = false
        first.request(Self.subscribe)
        #expect(bench.log.taken == 1)
        first.request(Self.unsubscribe)
        first.onClosed?(.closedByPeer)
        let second = bench.adapter.connect(2)
        second.request(Self.subscribe)
        #expect(second.values.allSatisfy { $0.count <= 20 })
        #expect(Array(second.values.joined()) == long + Self.line(1))
        #expect(bench.log.sent == [long, Self.line(1)])
    }

    @Test("Writes are reported; a name that is too long is rejected with the sizes")
    func written() throws {
        let bench = try Bench([])
        #expect(bench.module.notify([1]) && bench.module.notify([2]))
        let counts = bench.module.counts
        #expect(counts.values == 0 && counts.bytes == 0 && counts.discarded == 2)
        #expect(bench.module.longestValue == 20)
        let central = bench.adapter.connect(1)
        central.request([0x52, 0x0C, 0x00] + Array("hello".utf8))
        #expect(bench.log.received == [Array("hello".utf8)])
        var isStopped = false
        bench.module.stop { isStopped = true }
        #expect(isStopped)
        #expect(bench.adapter.disconnected == [central.device])
        #expect(bench.adapter.advertisement == nil)
        let long = try SimulatedModule(
            .linble,
            name: String(repeating: "x", count: 40),
            on: RadioArbiter(on: bench.loop, using: bench.adapter)
        ) { _ in }
        #expect(throws: SimulationFailure.self) { try long.start { _ in } }
    }
}

#if DEBUG
    @Suite("The pace of lines", .virtualTime)
    struct LineSenderTests {
        @Test("Lines start a period apart; a pause postpones the next one, but a shorter one does not")
        func period() throws {
            let loop = try EventLoop()
            let adapter = StubPeripheral()
            weak var sender: LineSender?
            let module = try SimulatedModule(.linble, name: "LINBLE-TEST", on: RadioArbiter(on: loop, using: adapter)) {
                if case .subscribed(true) = $0 { sender?.pump() }
            }
            var times: [Duration] = []
            let made = LineSender(module, every: .seconds(1), on: loop, next: { times.count < 5 ? [0x31, 0x0D] : nil })
            { _ in
                times.append(MonotonicClock.now)
            }
            sender = made
            #expect(made.lines == 0)
            try module.start { _ in }
            let start = MonotonicClock.now
            adapter.connect(1).request([0x12, 0x0A, 0x00, 0x01, 0x00])
            #expect(times == [start])
            // A call while no line is due sends none.
            made.pump()
            #expect(times.count == 1)
            #expect(try loop.run(turn: .milliseconds(100)) { times.count == 2 })
            made.postpone(by: .seconds(5))
            #expect(try loop.run(turn: .milliseconds(100)) { times.count == 3 })
            made.postpone(by: .milliseconds(10))
            #expect(try loop.run(turn: .milliseconds(100)) { times.count == 5 })
            #expect(times.map { ($0 - start).components.seconds } == [0, 1, 6, 7, 8])
            #expect(made.lines == 5)
        }
    }
#endif

@Suite("Lines")
struct LineSplitterTests {
    /// Returns the lines of a text that is received in blocks of this size.
    private func lines(_ text: String, by size: Int) -> [String] {
        var splitter = LineSplitter()
        var pieces: [LineSplitter.Piece] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            splitter.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            while let piece = splitter.next() { pieces.append(piece) }
        }
        if let piece = splitter.finish() { pieces.append(piece) }
        return pieces.map { String(decoding: $0.bytes, as: UTF8.self) + ($0.isLineEnd ? "" : "…") }
    }

    @Test("CR LF, LF and CR each end one line, wherever the pieces are cut", arguments: 1...12)
    func ends(size: Int) {
        #expect(lines("a\nbc\r\nd\re\r\rf\n\n\r\ng", by: size) == ["a", "bc", "d", "e", "", "f", "", "", "g"])
        #expect(lines("a\r\n", by: size) == ["a"])
        #expect(lines("\n", by: size) == [""])
        #expect(lines("", by: size).isEmpty)
    }

    @Test("A line without an end comes in pieces, and nothing of it is lost or kept")
    func endless() {
        let long = LineSplitter().longestLine * 3 + 5
        let found = lines(String(repeating: "x", count: long) + "\nend", by: 1000)
        let piece = String(repeating: "x", count: 4096) + "…"
        #expect(found == [piece, piece, piece, "xxxxx", "end"])
        #expect(lines(String(repeating: "x", count: 4096) + "\r\n\n", by: 999) == [piece, "", ""])
    }

    @Test("Where LF alone ends a line, CR belongs to it, and a line of one byte less than the longest is whole")
    func lineFeeds() {
        var splitter = LineSplitter(longestLine: 4, ends: .lineFeed)
        splitter.append(Array("a\r\nabc\nabcd\n".utf8)[...])
        var pieces: [String] = []
        while let piece = splitter.next() {
            pieces.append(String(decoding: piece.bytes, as: UTF8.self) + (piece.isLineEnd ? "" : "…"))
        }
        #expect(pieces == ["a\r", "abc", "abcd…", ""])
        splitter.append(Array("rest".utf8)[...])
        splitter.removeAll()
        splitter.append(Array("b\n".utf8)[...])
        let last = splitter.next()
        #expect(last?.bytes == [0x62] && last?.isLineEnd == true)
    }
}
