// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Daemon
import Glibc
import Keystrokes
import Link
import LinuxIO
import TestSupport
import Testing
import Texts
import Typing

/// Path from the ring to the readers, without a radio: the received data and the account.
@Suite("The account at other ends", .virtualTime, .serialized)
struct WireAccountTests {
    /// Returns a barcode that contains the number: 16 bytes including its end.
    static func barcode(_ number: Int) -> [UInt8] {
        let digits = String(number)
        return Array((String(repeating: "0", count: 15 - digits.count) + digits).utf8) + [0x0D]
    }

    /// Keyboard, its typing thread, and an output with its listener.
    private final class Stage {
        let loop: EventLoop
        let end: OutputListener
        let wire: TextOutput
        let keyboard: VirtualKeyboard
        var sent = 0
        var number = 0
        var lineLength = 16
        /// Number of times that bytes fit into the ring after bytes that did not; the rest of their line is rejected.
        private(set) var gaps = 0
        private var isBehindLostBytes = false

        init(_ destination: OutputDestination, _ policy: SlowReaderPolicy, isRaw: Bool = false, output: Int32 = 1)
            throws
        {
            Process.ignoreBrokenPipes()
            loop = try EventLoop()
            end = try #require(try OutputListener(destination, policy, output: output, on: loop))
            wire = try TextOutput(to: end, name: "\(destination)", isRaw: isRaw, layout: .us, on: loop)
            var configuration = Configuration()
            configuration.destinations = [destination]
            let settings = try configuration.settings(device: nil)
            keyboard = try VirtualKeyboard(settings.typing, on: loop, screen: wire.screen) { _ in }
            wire.join(keyboard)
        }

        func run(until isDone: () -> Bool) throws { try #require(try loop.run(until: isDone), "\(keyboard.bytes)") }

        func receive(_ bytes: [UInt8]) {
            sent += bytes.count
            let lost = keyboard.bytes.lost(.ringFull)
            keyboard.receive(bytes.span, epoch: 1, isFromOpenDevice: true)
            let isLost = keyboard.bytes.lost(.ringFull) > lost
            if isBehindLostBytes, !isLost { gaps += 1 }
            isBehindLostBytes = isLost
        }

        /// Receives barcodes; if `isPatient` is true, waits for the typist after each 4 KiB, as a radio would.
        func receive(barcodes count: Int, isPatient: Bool = true, meanwhile: () -> Void = {}) throws {
            let last = number + count
            while number < last {
                for _ in 0..<min(256, last - number) {
                    receive(WireAccountTests.barcode(number))
                    number += 1
                }
                meanwhile()
                // Runs the event loop for a millisecond.
                _ = loop.schedule(at: MonotonicClock.now + .milliseconds(1)) { [loop] in loop.stop() }
                try loop.run()
                if isPatient { try run { !self.isBehind } }
            }
        }

        /// True if more bytes are waiting than in the readers' queues, including partly delivered lines.
        var isBehind: Bool {
            let readers = end.counts.readers
            let waiting = readers.reduce(0) { $0 + $1.waiting } + readers.count * (lineLength - 1)
            return keyboard.bytes.waiting > UInt64(waiting)
        }

        /// Waits until the first barcode is typed, which takes as long as an application needs to open a new keyboard.
        func settle() throws {
            receive(WireAccountTests.barcode(0))
            number = 1
            try run { self.keyboard.bytes.waiting == 0 }
        }

        /// Ends like the daemon, and returns the account.
        func stop() throws -> Ledger.Snapshot {
            var isOver = false
            keyboard.drop(through: .max, .disconnected)
            keyboard.stop { isOver = true }
            try run { isOver }
            wire.close()
            return keyboard.bytes
        }
    }

    /// Reader of a descriptor, which reads at the test's request.
    private final class Reader {
        let descriptor: Int32
        var got: [UInt8] = []
        var isOver = false

        init(_ descriptor: Int32) {
            self.descriptor = descriptor
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        }

        convenience init(socket path: String) throws {
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let bytes = Array(path.utf8)
            withUnsafeMutableBytes(of: &address.sun_path) { target in
                for (index, byte) in bytes.enumerated() { target[index] = byte }
            }
            let status = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(status == 0)
            self.init(descriptor)
        }

        /// Reads up to `most` bytes; returns their number.
        @discardableResult
        func read(_ most: Int) -> Int {
            var buffer = [UInt8](repeating: 0, count: most)
            let count = Glibc.read(descriptor, &buffer, most)
            if count > 0 { got += buffer.prefix(count) } else if count == 0 { isOver = true }
            return max(0, count)
        }

        func readAll() { while read(65536) > 0 {} }

        func close() { _ = Glibc.close(descriptor) }

        /// Numbers of the received barcodes; nil if one is incomplete or out of order.
        var numbers: [Int]? {
            guard got.count % 16 == 0 else { return nil }
            var numbers: [Int] = []
            for start in stride(from: 0, to: got.count, by: 16) {
                let line = got[start..<start + 16]
                guard line.last == 0x0A || line.last == 0x0D,
                    let number = Int(String(decoding: line.dropLast(), as: UTF8.self)), number > numbers.last ?? -1
                else { return nil }
                numbers.append(number)
            }
            return numbers
        }
    }

    private static func expectClosed(_ account: Ledger.Snapshot, _ sent: Int) {
        #expect(account.received == UInt64(sent))
        #expect(account.received == account.typed + account.lost + account.rejected + account.gated + account.discarded)
        #expect(account.waiting == 0)
    }

    private static func pipe() throws -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [0, 0]
        try #require(Glibc.pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    @Test("A socket without a client delivers nothing, and says so", arguments: [false, true])
    func nobody(isRaw: Bool) throws {
        let directory = try TestDirectory()
        let stage = try Stage(.socket(directory("wire")), .dropNewest, isRaw: isRaw)
        try stage.settle()
        try stage.receive(barcodes: 19)
        try stage.run { stage.keyboard.bytes.waiting == 0 }
        #expect(stage.keyboard.bytes.typed == 0)
        #expect(stage.keyboard.bytes.lost(.undelivered) == 320)
        Self.expectClosed(try stage.stop(), 320)
    }

    @Test(
        "1,200,000 bytes for a client that does not read, counted as it gets them",
        arguments: [false, true]
    )
    func slowClient(isRaw: Bool) throws {
        let directory = try TestDirectory()
        let stage = try Stage(.socket(directory("wire")), .dropNewest, isRaw: isRaw)
        let reader = try Reader(socket: directory("wire"))
        try stage.run { stage.end.counts.readers.count == 1 }
        try stage.settle()
        try stage.receive(barcodes: 75_000)
        try stage.run { !stage.isBehind }
        #expect(stage.end.counts.readers[0].waiting > 1 << 15 && stage.end.counts.readers[0].waiting <= 1 << 16)
        try stage.run {
            reader.readAll()
            return stage.keyboard.bytes.waiting == 0
        }
        reader.readAll()
        let numbers = try #require(reader.numbers, "torn or joined")
        #expect(reader.got.count < stage.sent, "nothing was lost: this proves nothing")
        // The oldest barcodes are kept, without gaps.
        #expect(numbers == Array(0..<numbers.count))
        let account = try stage.stop()
        #expect(account.typed == UInt64(reader.got.count))
        #expect(account.lost == account.lost(.undelivered))
        #expect(stage.end.counts.missed == account.lost)
        Self.expectClosed(account, stage.sent)
        reader.close()
    }

    @Test("2,000,000 bytes to standard output with a slow reader", arguments: SlowReaderPolicy.allCases)
    func slowOutput(policy: SlowReaderPolicy) throws {
        let (input, output) = try Self.pipe()
        let reader = Reader(input)
        let stage = try Stage(.standardOutput, policy, output: output)
        close(output)
        try stage.settle()
        var generator = SeededGenerator(seed: 9)
        try stage.receive(barcodes: 125_000, isPatient: policy != .wait) {
            reader.read(Int.random(in: 1...6000, using: &generator))
            #expect(stage.end.counts.readers[0].waiting <= 1 << 16)
        }
        // The output ends while many bytes are queued and the reader does not read.
        let account = try stage.stop()
        reader.readAll()
        // The last line may be incomplete.
        let torn = reader.got.count % 16
        reader.got.removeLast(torn)
        let numbers = try #require(reader.numbers, "torn or joined")
        #expect(account.typed == UInt64(reader.got.count))
        Self.expectClosed(account, stage.sent)
        #expect(reader.got.count < stage.sent, "nothing was lost: this proves nothing")
        switch policy {
        case .wait:
            // Includes barcodes that did not fit into the ring, those after them, and those queued at the end.
            let behind = UInt64(16 * stage.gaps)
            #expect(account.lost(.ringFull) > 0)
            #expect(account.lost(.undelivered) + account.lost(.disconnected) < 1 << 18 + behind)
        case .dropNewest:
            #expect(account.lost == account.lost(.undelivered) && numbers.prefix(4096) == Array(0..<4096)[...])
        case .dropOldest:
            #expect(account.lost == account.lost(.undelivered))
        }
        #expect(account.lost(.undelivered) >= stage.end.counts.missed)
        reader.close()
    }

    @Test("The newest barcode reaches a reader that was slow where the oldest are dropped")
    func newestLast() throws {
        let directory = try TestDirectory()
        let stage = try Stage(.socket(directory("wire")), .dropOldest)
        let reader = try Reader(socket: directory("wire"))
        try stage.run { stage.end.counts.readers.count == 1 }
        try stage.settle()
        try stage.receive(barcodes: 50_000)
        try stage.run { !stage.isBehind }
        try stage.run {
            reader.readAll()
            return stage.keyboard.bytes.waiting == 0
        }
        reader.readAll()
        let numbers = try #require(reader.numbers, "torn or joined")
        #expect(numbers.last == 50_000 && numbers.count < 50_001)
        #expect(numbers.suffix(4000) == Array(46_001...50_000)[...])
        Self.expectClosed(try stage.stop(), stage.sent)
        reader.close()
    }

    @Test("A slow client beside a quick one misses by itself, and what the quick one got is delivered")
    func twoClients() throws {
        let directory = try TestDirectory()
        let stage = try Stage(.socket(directory("wire")), .dropNewest)
        let slow = try Reader(socket: directory("wire"))
        try stage.run { stage.end.counts.readers.count == 1 }
        let quick = try Reader(socket: directory("wire"))
        try stage.run { stage.end.counts.readers.count == 2 }
        try stage.settle()
        try stage.receive(barcodes: 50_000) { quick.readAll() }
        try stage.run {
            quick.readAll()
            return quick.got.count == stage.sent
        }
        #expect(quick.numbers == Array(0...50_000))
        try stage.run {
            slow.readAll()
            return stage.keyboard.bytes.waiting == 0
        }
        slow.readAll()
        #expect(slow.numbers != nil, "torn or joined")
        let counts = stage.end.counts.readers.map(\.counts)
        #expect(counts[0].delivered == UInt64(slow.got.count))
        #expect(counts[0].missed == UInt64(stage.sent - slow.got.count) && counts[0].missed > 0)
        #expect(counts[1].delivered == UInt64(stage.sent) && counts[1].missed == 0)
        let account = try stage.stop()
        #expect(account.typed == UInt64(stage.sent) && account.lost == 0)
        #expect(stage.end.counts.missed == counts[0].missed)
        Self.expectClosed(account, stage.sent)
        slow.close()
        quick.close()
    }

    @Test("A line is not delivered to a client that disconnects in the middle of it")
    func goes() throws {
        let directory = try TestDirectory()
        let stage = try Stage(.socket(directory("wire")), .dropNewest)
        let reader = try Reader(socket: directory("wire"))
        try stage.run { stage.end.counts.readers.count == 1 }
        try stage.settle()
        // The socket accepts only a part of the last line, because the size of its queue is not a multiple of this
        // length.
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 3000) + [0x0D]
        stage.lineLength = long.count
        for _ in 0..<150 {
            stage.receive(long)
            try stage.run { !stage.isBehind }
        }
        try stage.run { stage.keyboard.bytes.lost(.undelivered) > 0 }
        reader.close()
        try stage.run { stage.end.counts.readers.isEmpty && stage.keyboard.bytes.waiting == 0 }
        let before = stage.keyboard.bytes
        #expect((before.typed - 16) % 3001 == 0, "a part of a line is counted")
        let next = try Reader(socket: directory("wire"))
        try stage.run { stage.end.counts.readers.count == 1 }
        try stage.receive(barcodes: 3)
        try stage.run {
            next.readAll()
            return stage.keyboard.bytes.waiting == 0
        }
        next.readAll()
        #expect(next.numbers == [1, 2, 3])
        let account = try stage.stop()
        #expect(account.typed == before.typed + 48)
        Self.expectClosed(account, stage.sent)
        next.close()
    }

    @Test("An end that waits takes what has room, and an orderly end waits for nobody")
    func waits() throws {
        let directory = try TestDirectory()
        let stage = try Stage(.socket(directory("wire")), .wait)
        // Without a client, data wait for the first one.
        try stage.receive(barcodes: 1000, isPatient: false)
        let reader = try Reader(socket: directory("wire"))
        try stage.run {
            reader.readAll()
            return stage.keyboard.bytes.waiting == 0
        }
        reader.readAll()
        #expect(reader.numbers == Array(0..<1000))
        #expect(stage.keyboard.bytes.lost == 0)
        // The client stops reading: the ring fills up, and bytes that do not fit are counted as lost there.
        try stage.receive(barcodes: 50_000, isPatient: false)
        let full = stage.keyboard.bytes
        #expect(full.lost(.ringFull) > 0)
        // Queued bytes: the ring, the lines of the typist, and the reader's queue.
        #expect(full.waiting < 1 << 16 + 1 << 14 + 1 << 16 + 1 << 13)
        try stage.run {
            reader.readAll()
            return stage.keyboard.bytes.waiting == 0
        }
        reader.readAll()
        #expect(reader.numbers != nil, "torn or joined")
        #expect(stage.keyboard.bytes.typed == UInt64(reader.got.count))
        // A late typist makes room again, so only a part of the barcode after lost ones may have been received.
        #expect(stage.keyboard.bytes.lost(.undelivered) == UInt64(16 * stage.gaps))
        try stage.receive(barcodes: 50_000, isPatient: false)
        let account = try stage.stop()
        reader.readAll()
        reader.got.removeLast(reader.got.count % 16)
        #expect(account.typed == UInt64(reader.got.count))
        #expect(account.lost(.disconnected) > 0 && account.lost(.undelivered) > 0)
        Self.expectClosed(account, stage.sent)
        reader.close()
    }

    @Test("Standard output whose reader has gone waits for nobody", arguments: SlowReaderPolicy.allCases)
    func closedOutput(policy: SlowReaderPolicy) throws {
        let (input, output) = try Self.pipe()
        let reader = Reader(input)
        let stage = try Stage(.standardOutput, policy, output: output)
        close(output)
        try stage.settle()
        reader.readAll()
        #expect(reader.numbers == [0])
        reader.close()
        try stage.receive(barcodes: 100)
        try stage.run { stage.keyboard.bytes.waiting == 0 }
        let account = try stage.stop()
        #expect(account.typed == 16 && account.lost(.undelivered) == 1600)
        Self.expectClosed(account, stage.sent)
    }

    @Test(
        "A terminal that nobody reads takes what has room, and the rest is counted",
        arguments: [false, true]
    )
    func unreadTerminal(isRaw: Bool) throws {
        let directory = try TestDirectory()
        let stage = try Stage(.terminal(directory("line")), .dropNewest, isRaw: isRaw)
        try stage.settle()
        let line = open(directory("line"), O_RDWR | O_NOCTTY)
        try #require(line >= 0)
        try stage.receive(barcodes: 20_000)
        try stage.run { !stage.isBehind }
        let reader = Reader(line)
        try stage.run {
            reader.readAll()
            return stage.keyboard.bytes.waiting == 0
        }
        try stage.run {
            reader.readAll()
            return UInt64(reader.got.count) >= stage.keyboard.bytes.typed
        }
        #expect(reader.numbers != nil, "torn or joined")
        let account = try stage.stop()
        #expect(account.typed == UInt64(reader.got.count) && account.lost(.undelivered) > 0)
        Self.expectClosed(account, stage.sent)
        reader.close()
    }

    @Test("Text without a line end is delivered after a silence; raw data at once")
    func silence() throws {
        for isRaw in [false, true] {
            let directory = try TestDirectory()
            let stage = try Stage(.socket(directory("wire")), .dropNewest, isRaw: isRaw)
            let reader = try Reader(socket: directory("wire"))
            try stage.run { stage.end.counts.readers.count == 1 }
            stage.receive(Array("no end".utf8))
            try stage.run {
                reader.readAll()
                return reader.got.count == 6
            }
            #expect(reader.got == Array("no end".utf8))
            #expect(stage.keyboard.bytes.typed == 6)
            Self.expectClosed(try stage.stop(), 6)
            reader.close()
        }
    }

    @Test("Line boundaries in raw output")
    func rawLines() {
        var raw = RawLines()
        func parts(_ text: String, _ milliseconds: Int) -> [String] {
            raw.parts(Array(text.utf8).span, now: .milliseconds(milliseconds)).map {
                ($0.begins ? "^" : "") + String(decoding: $0.bytes, as: UTF8.self).replacing("\r", with: "|")
                    + ($0.ends ? "$" : "")
            }
        }
        #expect(parts("ab", 1000) == ["^ab"])
        #expect(parts("c\rd\re", 1050) == ["c|d|$", "^e"])
        #expect(parts("f", 1150) == ["f"])
        #expect(parts("g\n", 1251) == ["^g\n$"])
        #expect(parts("", 1251).isEmpty)
        #expect(parts(String(repeating: "x", count: 4096), 1252).map(\.count) == [4097])
        #expect(parts("y", 1253) == ["^y"])
    }
}
