// SPDX-License-Identifier: GPL-2.0-or-later

import CReference
public import Keystrokes
import LinuxIO
import Synchronization

/// Measures the path of notifications from the feed through the ring, table, encoder and an unthrottled pacer to a file
/// such as /dev/null.
public enum PathMeasurement {
    /// Returns a contender that runs our path in two threads; one unit of work is a notification of `chunk` bytes.
    ///
    /// The clock is read as often as in production: for each notification, and after each write.
    public static func ours(_ pattern: Pattern, _ table: CompiledTable, chunk: Int, to sink: Sink) -> Contender {
        Contender("ours") { count in
            let path = try Path(table)
            let time = try ThreadPair.run({ path.feed(pattern, chunk, count) }, { path.type(to: sink) })
            guard path.isBalanced(chunk * count) else { throw RingMeasurement.WrongBytes() }
            return time
        }
    }

    /// Returns a contender that runs the same path in C; one unit of work is a notification of `chunk` bytes.
    public static func reference(_ pattern: Pattern, chunk: Int, to sink: Sink) -> Contender {
        Contender("C twin") { count in
            let path = try CPath(sink)
            return try ThreadPair.run({ path.produce(pattern, chunk, chunk * count) }, { path.consume(chunk * count) })
        }
    }

    /// Returns a function that repeats a turn `count` times in one thread.
    ///
    /// Each turn feeds `burst` notifications, then types until the ring is empty.
    public static func turns(
        _ pattern: Pattern,
        _ table: CompiledTable,
        chunk: Int,
        burst: Int,
        to sink: Sink
    ) throws -> (Int) -> Void {
        let path = try Path(table)
        return { count in path.turns(pattern, chunk, burst, count, to: sink) }
    }

    /// Returns the same function as `turns`, but for the C path.
    public static func referenceTurns(
        _ pattern: Pattern,
        chunk: Int,
        burst: Int,
        to sink: Sink
    ) throws -> (Int) -> Void {
        let path = try CPath(sink)
        return { count in path.turns(pattern, chunk, burst, count) }
    }

    /// File to which the events are written.
    public final class Sink: Sendable {
        let descriptor: Descriptor

        /// Opens a file for writing, by default `/dev/null`.
        public init(_ path: String = "/dev/null") throws {
            descriptor = try .forWriting(path)
        }
    }

    /// Our path and its two ends: the feed and the typist.
    private final class Path: @unchecked Sendable {
        // Unchecked is sound: each end is removed from this object by the thread that uses it.
        private let ledger = Ledger()
        private var feed: Feed?
        private var typist: Typist?
        private let isFed = Atomic(false)

        init(_ table: CompiledTable) throws {
            let ring = try ByteRing(capacity: RingMeasurement.capacity)
            guard let producer = ring.takeProducer(), let consumer = ring.takeConsumer() else { return }
            feed = Feed(producer, ledger: ledger)
            typist = Typist(
                consumer,
                table: table,
                pacer: try Pacer(stall: 0, queue: .large),
                gate: Gate(),
                ledger: ledger
            )
        }

        func isBalanced(_ bytes: Int) -> Bool {
            let account = ledger.snapshot()
            return account.typed + account.discarded == UInt64(bytes) && account.waiting == 0
        }

        func feed(_ pattern: Pattern, _ chunk: Int, _ count: Int) {
            guard var feed = feed.take() else { return }
            let bytes = unsafe pattern.bytes.span.bytes
            var sent = 0
            for _ in 0..<count {
                let offset = sent & (pattern.period &- 1)
                let source = bytes.extracting(offset..<(offset &+ chunk))
                // In production, this notification would be lost; here, it is sent again.
                while feed.receive(source, epoch: 1, now: MonotonicClock.nanoseconds) == .lost { cref_back_off() }
                sent &+= chunk
            }
            isFed.store(true, ordering: .releasing)
        }

        func type(to sink: Sink) {
            guard var typist = typist.take() else { return }
            var now = MonotonicClock.nanoseconds
            while true {
                let isLast = isFed.load(ordering: .acquiring)
                switch typist.next(now: now) {
                case .write:
                    guard (try? sink.descriptor.write(typist.output)) != nil else { return }
                    now = MonotonicClock.nanoseconds
                    typist.commit(now: now)
                case .wait, .sleep:
                    if isLast { return }
                    cref_back_off()
                    now = MonotonicClock.nanoseconds
                }
            }
        }

        func turns(_ pattern: Pattern, _ chunk: Int, _ burst: Int, _ count: Int, to sink: Sink) {
            guard var feed = feed.take(), var typist = typist.take() else { return }
            let bytes = unsafe pattern.bytes.span.bytes
            var sent = 0
            for _ in 0..<count {
                for _ in 0..<burst {
                    let offset = sent & (pattern.period &- 1)
                    let source = bytes.extracting(offset..<(offset &+ chunk))
                    _ = feed.receive(source, epoch: 1, now: MonotonicClock.nanoseconds)
                    sent &+= chunk
                }
                var now = MonotonicClock.nanoseconds
                while case .write = typist.next(now: now) {
                    guard (try? sink.descriptor.write(typist.output)) != nil else { break }
                    now = MonotonicClock.nanoseconds
                    typist.commit(now: now)
                }
            }
            self.feed = .some(consume feed)
            self.typist = .some(consume typist)
        }
    }

    @safe
    private final class CPath: @unchecked Sendable {
        // Unchecked is sound: each end is used by one thread only, as the C code requires.
        private let path: OpaquePointer
        private let sink: Sink

        init(_ sink: Sink) throws {
            guard let path = unsafe cref_path_create(RingMeasurement.capacity, sink.descriptor.unownedNumber) else {
                throw RingMeasurement.WrongBytes()
            }
            unsafe self.path = unsafe path
            self.sink = sink
        }

        deinit {
            unsafe cref_path_destroy(path)
        }

        func produce(_ pattern: Pattern, _ chunk: Int, _ total: Int) {
            // Sound: this object owns the path.
            unsafe pattern.withC { unsafe cref_path_produce(path, $0, chunk, total) }
        }

        func consume(_ total: Int) {
            // Sound: as above.
            unsafe cref_path_consume(path, total)
        }

        func turns(_ pattern: Pattern, _ chunk: Int, _ burst: Int, _ count: Int) {
            // Sound: as above.
            unsafe pattern.withC { unsafe cref_path_turns(path, $0, chunk, burst, count) }
        }
    }
}
