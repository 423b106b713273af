// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Keystrokes

/// Thread that runs a closure.
private final class Worker: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// Runs `first` on a new thread and `second` on this thread, and waits for both.
    static func pair(_ first: @escaping @Sendable () -> Void, _ second: () -> Void) {
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(Worker(first)).toOpaque()
        let result = unsafe pthread_create(&thread, nil, { unsafe Worker.run($0) }, context)
        #expect(result == 0, "no thread")
        guard result == 0 else { return }
        second()
        pthread_join(thread, nil)
    }

    private static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Worker>.fromOpaque(context).takeRetainedValue().body()
        return nil
    }
}

@Suite("The ring between two threads")
struct RingThreads {
    /// Number of bytes to transfer; fewer if the code is not optimized.
    static let total = RunCount.isOptimized ? 12_000_000 : 1_000_000

    @Test("Millions of bytes in odd pieces, in order, none lost", arguments: [64, 4096])
    func bytes(capacity: Int) throws {
        let ring = try ByteRing(capacity: capacity, startingAt: UInt.max - 500_000)
        guard var consumer = ring.takeConsumer() else { throw NoHandle() }
        var faults = 0
        Worker.pair {
            guard var producer = ring.takeProducer() else { return }
            var random = SeededGenerator(seed: 1)
            var sent = 0
            while sent < Self.total {
                let count = min(Int.random(in: 1...37, using: &random), Self.total - sent)
                let piece = (sent..<sent + count).map { UInt8(truncatingIfNeeded: $0 % 251) }
                while !producer.push(piece) { sched_yield() }
                sent += count
            }
        } _: {
            var expected = 0
            var random = SeededGenerator(seed: 2)
            while expected < Self.total {
                let piece = consumer.pop(Int.random(in: 1...53, using: &random))
                if piece.isEmpty { sched_yield() }
                for byte in piece {
                    if byte != UInt8(truncatingIfNeeded: expected % 251) { faults += 1 }
                    expected += 1
                }
            }
        }
        #expect(faults == 0)
    }

    @Test("A consumer that sleeps between records is woken for every one")
    func sleeping() throws {
        let ring = try ByteRing(capacity: 256)
        guard var consumer = ring.takeConsumer() else { throw NoHandle() }
        let records = Self.total / 50
        var wakeUps = [Int32](repeating: 0, count: 2)
        try #require(unsafe pipe(&wakeUps) == 0)
        let (reading, writing) = (wakeUps[0], wakeUps[1])
        var seen: UInt64 = 0
        var sleeps = 0
        var faults = 0
        Worker.pair {
            guard var producer = ring.takeProducer() else { return }
            for number in 0..<UInt64(records) {
                while !producer.push(number, ~number, [1, 2, 3]) { sched_yield() }
                var token: UInt8 = 1
                if producer.mustWake() { _ = unsafe write(writing, &token, 1) }
            }
        } _: {
            while seen < records {
                if let words = consumer.words(at: consumer.position) {
                    if words.0 != seen || words.1 != ~seen { faults += 1 }
                    consumer.release(through: consumer.position &+ 16)
                    if consumer.pop(3) != [1, 2, 3] { faults += 1 }
                    seen += 1
                } else if consumer.mayFallAsleep(at: consumer.position) {
                    sleeps += 1
                    // A missing wake-up causes a time-out of two minutes, and then an error.
                    var wait = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
                    if unsafe poll(&wait, 1, 120_000) == 1 {
                        var token: UInt8 = 0
                        _ = unsafe read(reading, &token, 1)
                    } else {
                        faults += 1
                    }
                    consumer.stayAwake()
                }
            }
        }
        close(reading)
        close(writing)
        #expect(faults == 0)
        #expect(seen == records)
        #expect(sleeps > 0)
    }

    @Test("Feed and typist in two threads; an account taken at any moment balances")
    func dataPath() throws {
        let ring = try ByteRing(capacity: 4096, startingAt: UInt.max - 100_000)
        let ledger = Ledger()
        guard let consumer = ring.takeConsumer() else { throw NoHandle() }
        var typist = Typist(
            consumer,
            table: try CompiledTable(.linble),
            pacer: try Pacer(stall: 0, queue: .large),
            gate: Gate(),
            ledger: ledger
        )
        let total = UInt64(Self.total / 4)
        let faults = Atomic(0)
        Worker.pair {
            guard let producer = ring.takeProducer() else { return }
            var feed = Feed(producer, ledger: ledger)
            let barcode = Array("https://Example.com/AbC?q=1\r".utf8)
            var sent: UInt64 = 0
            while sent < total {
                _ = unsafe barcode.withUnsafeBytes { buffer in
                    let span = unsafe RawSpan(_unsafeBytes: buffer)
                    return feed.receive(span, epoch: 1, now: 1)
                }
                sent += UInt64(barcode.count)
                let account = ledger.snapshot()
                if account.received != sent || account.waiting > 4096 { faults.add(1, ordering: .relaxed) }
            }
        } _: {
            while true {
                switch typist.next(now: 2) {
                case .write: typist.commit(now: 2)
                case .wait: faults.add(1, ordering: .relaxed)
                case .sleep:
                    let account = ledger.snapshot()
                    if account.received >= total, account.waiting == 0 { return }
                    sched_yield()
                }
            }
        }
        let account = ledger.snapshot()
        #expect(faults.load(ordering: .relaxed) == 0)
        #expect(account.received >= total && account.typed + account.lost(.ringFull) == account.received)
        #expect(account.typed > 0)
    }
}
