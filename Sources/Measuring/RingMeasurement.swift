// SPDX-License-Identifier: GPL-2.0-or-later

import CReference
import Keystrokes
import LinuxIO
import Synchronization

/// Measures a ring buffer that transfers chunks from one thread to another.
public enum RingMeasurement {
    /// Capacity of every measured ring, in bytes.
    public static let capacity = 65536

    /// Error thrown if the received or produced bytes are wrong, or if the C code could not be set up.
    public struct WrongBytes: Error {
        /// Creates the error.
        public init() {}
    }

    /// Returns a contender that runs our ring; one unit of work is a chunk of `chunk` bytes.
    ///
    /// The received bytes are compared with `expected`, which must be as long as `pattern`, unless it is nil.
    public static func ours(_ pattern: Pattern, chunk: Int, expected: Pattern? = nil) -> Contender {
        Contender("ours") { count in
            let ring = try ByteRing(capacity: capacity)
            let faults = Faults()
            let time = try ThreadPair.run(
                {
                    guard var producer = ring.takeProducer() else { return }
                    produce(&producer, pattern, chunk, total: chunk * count)
                },
                {
                    guard var consumer = ring.takeConsumer() else { return }
                    faults.count = consume(&consumer, chunk, total: chunk * count, expected)
                }
            )
            guard faults.count == 0 else { throw WrongBytes() }
            return time
        }
    }

    /// Returns a contender that runs the C ring; one unit of work is a chunk of `chunk` bytes.
    ///
    /// The received bytes are compared with `expected` as by `ours`.
    public static func reference(_ pattern: Pattern, chunk: Int, expected: Pattern? = nil) -> Contender {
        Contender("C ring") { count in
            guard let ring = CRing(capacity: capacity) else { throw WrongBytes() }
            let faults = Faults()
            let time = try ThreadPair.run(
                { ring.produce(pattern, chunk, chunk * count) },
                { faults.count = ring.consume(expected ?? pattern, chunk, chunk * count, expected != nil) }
            )
            guard faults.count == 0 else { throw WrongBytes() }
            return time
        }
    }

    /// Pushes and pops `count` chunks through our ring in the calling thread; returns the number of received bytes.
    public static func turns(_ pattern: Pattern, chunk: Int, count: Int) throws -> Int {
        let ring = try ByteRing(capacity: capacity)
        guard var producer = ring.takeProducer(), var consumer = ring.takeConsumer() else { return 0 }
        let bytes = unsafe pattern.bytes.span.bytes
        var target = [UInt8](repeating: 0, count: 256)
        var span = target.mutableSpan
        var received = 0
        for turn in 0..<count {
            let offset = turn &* chunk & (pattern.period - 1)
            guard producer.push(bytes.extracting(offset..<(offset &+ chunk))) else { return received }
            var room = unsafe span.mutableBytes
            var wanted = room._mutatingExtracting(first: chunk)
            received &+= consumer.pop(into: &wanted)
        }
        return received
    }

    private static func produce(_ producer: inout ByteRing.Producer, _ pattern: Pattern, _ chunk: Int, total: Int) {
        let bytes = unsafe pattern.bytes.span.bytes
        let mask = pattern.period - 1
        var sent = 0
        while sent < total {
            let offset = sent & mask
            let source = bytes.extracting(offset..<(offset &+ chunk))
            while !producer.push(source) { cref_back_off() }
            sent &+= chunk
        }
    }

    private static func consume(
        _ consumer: inout ByteRing.Consumer,
        _ chunk: Int,
        total: Int,
        _ expected: Pattern?
    ) -> Int {
        var target = [UInt8](repeating: 0, count: 256)
        var faults = 0
        var received = 0
        var span = target.mutableSpan
        while received < total {
            var bytes = unsafe span.mutableBytes
            var wanted = bytes._mutatingExtracting(first: chunk)
            let count = consumer.pop(into: &wanted)
            guard count > 0 else {
                cref_back_off()
                continue
            }
            if let expected {
                let offset = received & (expected.period - 1)
                for index in 0..<count where span[index] != expected.bytes[offset + index] { faults += 1 }
            }
            received &+= count
        }
        return faults
    }
}

/// Counter that one thread writes and another thread reads after joining the first.
public final class Faults: @unchecked Sendable {
    // Unchecked is sound: the reading thread first joins the writing thread.
    /// Number of faults.
    public var count = 0

    /// Creates a counter that starts at zero.
    public init() {}
}

/// Owner of a C ring.
@safe
private final class CRing: @unchecked Sendable {
    // Unchecked is sound: each end is used by one thread only, as the C ring requires.
    private let ring: OpaquePointer

    init?(capacity: Int) {
        guard let ring = unsafe cref_ring_create(capacity) else { return nil }
        unsafe self.ring = unsafe ring
    }

    deinit {
        // Sound: threads that use the ring hold a reference to this object.
        unsafe cref_ring_destroy(ring)
    }

    func produce(_ pattern: Pattern, _ chunk: Int, _ total: Int) {
        // Sound: this object owns the ring.
        unsafe pattern.withC { unsafe cref_ring_produce(ring, $0, chunk, total) }
    }

    func consume(_ pattern: Pattern, _ chunk: Int, _ total: Int, _ checks: Bool) -> Int {
        // Sound: as above.
        unsafe pattern.withC { unsafe cref_ring_consume(ring, $0, chunk, total, checks) }
    }
}

extension Pattern {
    func withC<Result>(_ body: (cref_pattern) -> Result) -> Result {
        // Sound: the pointer is used within the closure only.
        unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe body(cref_pattern(bytes: buffer.baseAddress, period: period))
        }
    }
}

/// Pair of threads on two processors that start at the same time.
public enum ThreadPair {
    /// Running time and preemptions of a pair of threads.
    public struct Time: Sendable {
        /// Duration of the second thread's work, in nanoseconds.
        public var nanoseconds: Int64 = 0
        /// Number of preemptions of both threads during their work.
        public var preemptions = 0

        /// Creates a time from its fields.
        public init(nanoseconds: Int64 = 0, preemptions: Int = 0) {
            self.nanoseconds = nanoseconds
            self.preemptions = preemptions
        }
    }

    /// Runs each closure to completion in its own thread, and measures the time of the second one.
    ///
    /// If `isPinned` is true, each thread is bound to its own processor.
    public static func run(
        isPinned: Bool = true,
        _ first: @escaping @Sendable () -> Void,
        _ second: @escaping @Sendable () -> Void
    ) throws -> Time {
        let shared = Shared()
        let body = { @Sendable (processor: Int32, work: @escaping @Sendable () -> Void, isTimed: Bool) in
            if isPinned { _ = cref_pin_thread(processor) }
            shared.meet()
            let before = cref_preemptions()
            let start = MonotonicClock.nanoseconds
            work()
            if isTimed { shared.elapsed.store(MonotonicClock.nanoseconds - start, ordering: .relaxed) }
            shared.preemptions.add(cref_preemptions() - before, ordering: .relaxed)
        }
        let left = try SystemThread(name: "first") { body(0, first, false) }
        let right = try SystemThread(name: "second") { body(1, second, true) }
        left.join()
        right.join()
        return Time(
            nanoseconds: shared.elapsed.load(ordering: .relaxed),
            preemptions: shared.preemptions.load(ordering: .relaxed)
        )
    }

    private final class Shared: Sendable {
        let ready = Atomic(0)
        let preemptions = Atomic(0)
        let elapsed = Atomic<Int64>(0)

        func meet() {
            ready.add(1, ordering: .acquiringAndReleasing)
            while ready.load(ordering: .acquiring) < 2 { cref_pause() }
        }
    }

    /// Returns the time to transfer a cache line between two processors, in nanoseconds, which is a lower bound for any
    /// communication between two threads.
    public static func bounce() throws -> Double {
        let line = Line()
        let turns: UInt64 = 20_000
        let time = try run({ line.bounce(turns, isFirst: true) }, { line.bounce(turns, isFirst: false) })
        return Double(time.nanoseconds) / Double(2 * turns)
    }

    /// Word that shares its cache lines with no other data.
    @safe
    private final class Line: @unchecked Sendable {
        // Unchecked is sound: the word is accessed only by atomic operations, in `cref_bounce`.
        private let block = UnsafeMutableRawPointer.allocate(byteCount: 256, alignment: 128)

        init() {
            unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: 256)
        }

        deinit {
            unsafe block.deallocate()
        }

        func bounce(_ turns: UInt64, isFirst: Bool) {
            // Sound: the block is aligned, initialised with zeros, and not freed during the call.
            unsafe cref_bounce(block.assumingMemoryBound(to: UInt64.self), turns, isFirst)
        }
    }
}
