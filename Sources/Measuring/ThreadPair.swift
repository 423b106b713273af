// SPDX-License-Identifier: GPL-2.0-or-later

import CReference
import LinuxIO
import Synchronization

/// Two threads on two processors that begin at the same moment.
public enum ThreadPair {
    /// The running time of a pair, and its disturbances.
    public struct Time: Sendable {
        /// From the beginning to the end of the second thread, in nanoseconds.
        public var nanoseconds: Int64 = 0
        /// The number of times that one of the threads was preempted.
        public var preemptions = 0

        /// A time from its fields.
        public init(nanoseconds: Int64 = 0, preemptions: Int = 0) {
            self.nanoseconds = nanoseconds
            self.preemptions = preemptions
        }
    }

    /// Runs both to their ends; the second is timed.
    ///
    /// `isPinned` binds each to a processor of its own.
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

    /// The state that the two threads share.
    private final class Shared: Sendable {
        let ready = Atomic(0)
        let preemptions = Atomic(0)
        let elapsed = Atomic<Int64>(0)

        func meet() {
            ready.add(1, ordering: .acquiringAndReleasing)
            while ready.load(ordering: .acquiring) < 2 { cref_pause() }
        }
    }

    /// The time that a cache line takes from one processor to the other, in nanoseconds: the least cost of two threads.
    public static func bounce() throws -> Double {
        let line = Line()
        let turns: UInt64 = 20_000
        let time = try run({ line.bounce(turns, isFirst: true) }, { line.bounce(turns, isFirst: false) })
        return Double(time.nanoseconds) / Double(2 * turns)
    }

    /// A word by itself on its cache lines.
    @safe
    private final class Line: @unchecked Sendable {
        // Unchecked is sound: the word is reached by atomic operations only, in `cref_bounce`.
        private let block = UnsafeMutableRawPointer.allocate(byteCount: 256, alignment: 128)

        init() {
            unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: 256)
        }

        deinit {
            unsafe block.deallocate()
        }

        func bounce(_ turns: UInt64, isFirst: Bool) {
            // Sound: the block is aligned, zeroed and alive for the call.
            unsafe cref_bounce(block.assumingMemoryBound(to: UInt64.self), turns, isFirst)
        }
    }
}
