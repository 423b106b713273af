// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Glibc
import Keystrokes
import Link
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts
import Typing

/// Client of an output socket, which reads at the test's request.
final class SocketReader {
    let stream: LocalStream
    private(set) var got: [UInt8] = []

    init(_ path: String) throws { stream = try LocalStream(connectingTo: path) }

    /// Reads up to 4 KiB once; returns false if nothing is available.
    @discardableResult
    func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        guard case .done(let count)? = try? stream.descriptor.read(into: &buffer), count > 0 else { return false }
        got += buffer.prefix(count)
        return true
    }

    func readAll() { while read() {} }

    var text: String { String(decoding: got, as: UTF8.self) }
}

/// Core of the daemon with a device, a keyboard whose text is shown on a screen, and other outputs.
@Suite("Several outputs at once", .virtualTime, .serialized, .timeLimit(.minutes(5)))
struct OutputsTests {
    private final class Bench {
        private static let peer = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
        let directory: TestDirectory
        let daemon: Daemon
        let texts: [TextOutput]
        private(set) var typed = ""
        private(set) var channel: FieldChannel?
        private let loop: EventLoop
        private let radio = QuietRadio()
        private let screen: TextKeyboard
        private(set) var sent = 0

        /// Creates a bench with a configuration in which `DIR` is replaced with the bench's directory.
        init(_ text: String, stall: Int64 = 0) throws {
            Process.ignoreBrokenPipes()
            let loop = try EventLoop()
            self.loop = loop
            directory = try TestDirectory()
            let configuration = try Configuration(text: text.replacing("DIR", with: directory.path))
            var settings = try configuration.settings(device: .kept(SelectedDevice(Self.peer, name: nil)))
            settings.typing.pacer = Pacer(try Pace(stall: stall * 1_000_000, queue: .small))
            texts = try configuration.outputs.compactMap { try TextOutput($0, layout: .us, on: loop) }
            screen = try TextKeyboard(layout: .us)
            let options = Daemon.Options(
                paths: DaemonPaths(
                    configuration: FilePath(directory("config")),
                    state: FilePath(directory("state")),
                    runtime: FilePath(directory("run"))
                ),
                followsChoice: false,
                terminal: nil,
                allowsKeys: false,
                labels: DaemonLabels(profile: "linble", layout: "us", table: "linble", program: "test")
            )
            daemon = try Daemon(
                settings,
                options,
                through: AdapterCore(loop, using: radio),
                screen: screen,
                texts: texts
            )
            radio.onConnect = { [unowned self] address, completion in
                let channel = FieldChannel(address, .init(.linble), on: loop) { _ in nil }
                self.channel = channel
                _ = loop.schedule(at: .zero) { completion(.success(channel)) }
            }
            daemon.start { _ in }
            advertise()
            #expect(try run { daemon.service.device.state == .connected })
        }

        private func advertise() {
            radio.advertise(Self.peer.address, [0x02, 0x01, 0x06])
            _ = loop.schedule(at: MonotonicClock.now + .milliseconds(100)) { [weak self] in self?.advertise() }
        }

        func run(until isDone: () -> Bool) throws -> Bool {
            try loop.run {
                typed += screen.screen.takeText()
                return isDone()
            }
        }

        /// Accounts of the keyboard and the other outputs, in order.
        var accounts: [Ledger.Snapshot] { daemon.service.outputs.map(\.keyboard.bytes) }

        func tell(_ text: String) {
            sent += text.utf8.count
            channel?.tell(text)
        }

        /// Sends barcodes of 16 bytes, no faster than the keyboard types them; runs the loop after each 4 KiB.
        func tell(barcodes count: Int, meanwhile: (Int) -> Void = { _ in }) throws {
            for number in 0..<count {
                tell(OutputsTests.barcode(number))
                guard number % 256 == 255 else { continue }
                meanwhile(number)
                try turn()
                #expect(try run { accounts[0].waiting == 0 })
            }
        }

        /// Runs the event loop for a moment.
        func turn() throws {
            _ = loop.schedule(at: MonotonicClock.now + .milliseconds(1)) { [loop] in loop.stop() }
            try loop.run()
        }

        /// Ends like the program: first the daemon, then the other outputs.
        func end() throws {
            var isOver = false
            daemon.stop { isOver = true }
            #expect(try run { isOver })
            for text in texts { text.close() }
        }
    }

    private static func barcode(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 15 - digits.count) + digits + "\r"
    }

    private static func isClosed(_ account: Ledger.Snapshot, _ sent: Int) -> Bool {
        account.received == UInt64(sent) && account.waiting == 0
            && account.received == account.typed + account.discarded + account.rejected + account.gated + account.lost
    }

    @Test("X-18: the keyboard types every byte while other outputs block, end or are slow")
    func apart() throws {
        let bench = try Bench(
            """
            to = ["unix:DIR/gone", "keyboard"]
            [outputs.blocked]
            to = "unix:DIR/blocked"
            slow-reader = "wait"
            gated = false
            [outputs.slow]
            to = "unix:DIR/slow"
            slow-reader = "drop-oldest"
            """
        )
        #expect(bench.texts.map(\.name) == ["gone", "blocked", "slow"].map { "unix:" + bench.directory($0) })
        var gone: SocketReader? = try SocketReader(bench.directory("gone"))
        let blocked = try SocketReader(bench.directory("blocked"))
        let slow = try SocketReader(bench.directory("slow"))
        #expect(try bench.run { bench.texts.allSatisfy { $0.listener?.counts.readers.count == 1 } })
        let count = 60_000
        try bench.tell(barcodes: count) { number in
            if number < count / 2 { gone?.readAll() } else { gone = nil }
            if number % 1024 == 1023 { slow.read() }
        }
        // The blocked output lost more than the limit for a flooding link, but the link remains connected.
        #expect(bench.accounts[2].lost(.ringFull) > FloodLimit.bytes)
        #expect(bench.daemon.service.device.state == .connected)
        #expect(bench.daemon.service.device.linkCounts.ready == 1)
        let outputs = try JSONValue(Array(bench.daemon.status.object.text.utf8))["outputs"]
        guard case .array(let shown)? = outputs else { throw Errno.invalidArgument }
        #expect(shown.map { $0["to"]?.string } == ["keyboard"] + bench.texts.map(\.name))
        #expect(shown.map { $0["slowReader"]?.string } == [nil, "drop-newest", "wait", "drop-oldest"])
        #expect(shown[2]["counts"]?["ringFull"]?.integer == Int64(bench.accounts[2].lost(.ringFull)))
        try bench.end()
        let accounts = bench.accounts
        for account in accounts { #expect(Self.isClosed(account, bench.sent), "\(account)") }
        #expect(accounts[0].typed == UInt64(bench.sent) && accounts[0].lost == 0)
        #expect(bench.typed == (0..<count).map { Self.barcode($0).replacing("\r", with: "\n") }.joined())
        // The disconnected client received everything before its end; later data are undelivered.
        #expect(accounts[1].typed == 117 * 4096 && accounts[1].lost == accounts[1].lost(.undelivered))
        // The blocked client received, in order, what its queues hold.
        blocked.readAll()
        #expect(blocked.text == String(bench.typed.prefix(blocked.got.count)))
        #expect(accounts[2].typed == UInt64(blocked.got.count))
        // The slow client received complete barcodes, including the newest ones.
        slow.readAll()
        #expect(accounts[3].typed == UInt64(slow.got.count) && accounts[3].lost == accounts[3].lost(.undelivered))
        let numbers = slow.text.split(separator: "\n").compactMap { Int($0) }
        #expect(numbers == numbers.sorted() && numbers.count * 16 == slow.got.count && numbers.count < count)
    }

    /// Returns how many bytes a reader of the second of two sockets misses while a client of the first does not read.
    private static func missing(_ text: String, _ sockets: [String]) throws -> Int {
        let bench = try Bench(text)
        let blocked = try SocketReader(bench.directory(sockets[0]))
        let quick = try SocketReader(bench.directory(sockets[1]))
        #expect(
            try bench.run {
                bench.texts.reduce(0) { $0 + ($1.listener?.counts.readers.count ?? 0) } == sockets.count
            }
        )
        try bench.tell(barcodes: 30_000) { _ in quick.readAll() }
        try bench.end()
        quick.readAll()
        _ = blocked
        return bench.sent - quick.got.count
    }

    @Test("X-18: outputs do not wait for each other; the test detects a queue shared by two readers")
    func shared() throws {
        let apart = """
            to = ["keyboard", "unix:DIR/a", "unix:DIR/b"]
            slow-reader = "wait"
            """
        #expect(try Self.missing(apart, ["a", "b"]) == 0)
        let shared = """
            to = ["keyboard", "unix:DIR/a"]
            slow-reader = "wait"
            """
        #expect(try Self.missing(shared, ["a", "a"]) > 100_000)
    }

    @Test("X-18: with gated = false an output also receives the gated bytes, as text and raw")
    func gate() throws {
        let bench = try Bench(
            """
            to = ["keyboard", "unix:DIR/gated"]
            [outputs.free]
            to = "unix:DIR/free"
            gated = false
            [outputs.raw]
            to = "unix:DIR/raw"
            gated = false
            raw = true
            """
        )
        let clients = try ["gated", "free", "raw"].map { try SocketReader(bench.directory($0)) }
        #expect(try bench.run { bench.texts.allSatisfy { $0.listener?.counts.readers.count == 1 } })
        bench.tell("A\r")
        #expect(try bench.run { bench.accounts.allSatisfy { $0.typed == 2 } }, "\(bench.accounts)")
        bench.daemon.handle(.pause) { _ in }
        bench.tell("B\r")
        #expect(
            try bench.run { bench.accounts.allSatisfy { $0.received == 4 && $0.waiting == 0 } },
            "\(bench.accounts)"
        )
        bench.daemon.handle(.resume) { _ in }
        try bench.turn()
        bench.tell("C\r")
        #expect(
            try bench.run { bench.accounts.allSatisfy { $0.received == 6 && $0.waiting == 0 } },
            "\(bench.accounts)"
        )
        for client in clients { client.readAll() }
        #expect(bench.typed == "A\nC\n")
        #expect(clients.map(\.text) == ["A\nC\n", "A\nB\nC\n", "A\rB\rC\r"])
        #expect(bench.accounts.map(\.gated) == [2, 2, 0, 0] && bench.accounts.map(\.typed) == [4, 4, 6, 6])
        // Data written by a client of any output are sent to the device.
        for client in clients {
            let before = bench.channel?.sent.count ?? 0
            _ = try client.stream.descriptor.write([0x51].span.bytes)
            #expect(try bench.run { bench.channel?.sent.count ?? 0 > before })
        }
        try bench.end()
        for account in bench.accounts { #expect(Self.isClosed(account, bench.sent), "\(account)") }
    }

    @Test("X-18: a disconnect drops the bytes queued for the keyboard, but none of an ungated output")
    func drop() throws {
        let bench = try Bench("gated = false\nto = [\"unix:DIR/free\", \"keyboard\"]\n", stall: 200)
        let client = try SocketReader(bench.directory("free"))
        #expect(try bench.run { bench.texts[0].listener?.counts.readers.count == 1 })
        for number in 0..<40 { bench.tell(Self.barcode(number)) }
        bench.daemon.service.device.disconnect()
        #expect(try bench.run { bench.accounts.allSatisfy { $0.waiting == 0 } }, "\(bench.accounts)")
        client.readAll()
        #expect(bench.accounts[0].lost(.disconnected) > 0)
        #expect(bench.accounts[1].typed == UInt64(bench.sent) && client.got.count == bench.sent)
        let lines = AccountText.lines(bench.daemon.service.counts, .english)
        #expect(lines.last?.hasPrefix("to unix:\(bench.directory("free")): received 640 bytes, typed 640,") == true)
        let answer = try JSONValue(Array(bench.daemon.status.object.text.utf8))
        let status = StatusText.lines(answer, in: .english).filter { $0.contains("only while the gate is open") }
        #expect(status.count == 2 && status[0].hasPrefix("  outputs ") && status[0].contains("to keyboard, "))
        #expect(
            status[1].contains(
                "to unix:\(bench.directory("free")), only while the gate is open no, slow clients drop-newest"
            )
        )
        #expect(status[1].hasSuffix("counts received 640, typed 640, clients delivered 640"), "\(status)")
        #expect(AccountText.lines(bench.daemon.service.counts, .japanese).last?.contains("受信 640バイト") == true)
        try bench.end()
        for account in bench.accounts { #expect(Self.isClosed(account, bench.sent), "\(account)") }
    }
}
