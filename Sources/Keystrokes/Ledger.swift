// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization

/// The account of every received byte, kept by the two threads of the data path and readable from any.
///
/// Each counter has one writer. The producer adds to `received` before it pushes, and the consumer counts a byte only
/// after it was pushed; a reader takes the outcomes first and `received` last, so no outcome is ever ahead of it, and what
/// has no outcome yet is waiting.
public final class Ledger: Sendable {
    /// Where bytes can be lost.
    public enum Loss: Int, CaseIterable, Sendable {
        /// The ring had no room for the chunk.
        case ringFull
        /// The device refused the write, or took a part of it.
        case writeFailed
        /// The scan had waited longer than the greatest age.
        case tooOld
        /// The user disconnected while they waited.
        case disconnected
        /// Another device was chosen while they waited.
        case switched
    }

    /// The account at one moment.
    ///
    /// `received` is the sum of all the others.
    public struct Snapshot: Equatable, Sendable {
        /// Bytes that came in.
        public var received: UInt64 = 0
        /// Bytes whose keystrokes the device took, and line feeds that belong to a typed Enter.
        public var typed: UInt64 = 0
        /// Bytes that the table discards.
        public var discarded: UInt64 = 0
        /// Bytes that a rule refuses.
        public var rejected: UInt64 = 0
        /// Bytes that came to a closed gate.
        public var gated: UInt64 = 0
        /// Bytes lost, by place, in the order of `Loss.allCases`.
        public var losses: [UInt64] = Array(repeating: 0, count: Loss.allCases.count)
        /// Bytes that have no outcome yet.
        public var waiting: UInt64 = 0

        /// Bytes lost in that place.
        public func lost(_ loss: Loss) -> UInt64 { losses[loss.rawValue] }
        /// Bytes lost anywhere.
        public var lost: UInt64 { losses.reduce(0, &+) }
    }

    /// Keeps the counters of two threads on different cache lines.
    private struct Padding: Sendable {
        let space = InlineArray<16, UInt64>(repeating: 0)
    }

    private let before = Padding()
    private let received = Atomic<UInt64>(0)
    private let ringFull = Atomic<UInt64>(0)
    private let between = Padding()
    private let outcomes = Counters()
    private let after = Padding()

    /// An account of nothing.
    public init() {}

    /// The account now, from any thread.
    public func snapshot() -> Snapshot {
        var now = Snapshot()
        now.typed = outcomes.value(of: .typed)
        now.discarded = outcomes.value(of: .discarded)
        now.rejected = outcomes.value(of: .rejected)
        now.gated = outcomes.value(of: .gated)
        now.losses = [
            ringFull.load(ordering: .acquiring), outcomes.value(of: .writeFailed), outcomes.value(of: .tooOld),
            outcomes.value(of: .disconnected), outcomes.value(of: .switched),
        ]
        now.received = received.load(ordering: .acquiring)
        now.waiting = now.received &- now.typed &- now.discarded &- now.rejected &- now.gated &- now.lost
        return now
    }

    /// Adds bytes that came in; only the producer calls it, before it pushes them.
    func addReceived(_ count: Int) { Self.add(count, to: received) }

    /// Adds bytes that found no room; only the producer calls it.
    func addRingFull(_ count: Int) { Self.add(count, to: ringFull) }

    /// Adds what became of bytes; only the consumer calls it.
    func add(_ counts: Outcomes) {
        for fate in Fate.allCases where counts[fate] != 0 { outcomes.add(counts[fate], to: fate) }
    }

    /// What becomes of a byte that the typist looked at.
    enum Fate: Int, CaseIterable, Sendable {
        case typed, discarded, rejected, gated, writeFailed, tooOld, disconnected, switched
    }

    /// What became of some bytes: how many met each fate.
    struct Outcomes {
        private var counts = InlineArray<8, Int>(repeating: 0)

        subscript(fate: Fate) -> Int {
            get { counts[fate.rawValue] }
            set { counts[fate.rawValue] = newValue }
        }
    }

    /// A counter has one writer, so reading and storing apart is exact, and cheaper than an atomic addition.
    private static func add(_ count: Int, to counter: borrowing Atomic<UInt64>) {
        counter.store(counter.load(ordering: .relaxed) &+ UInt64(bitPattern: Int64(count)), ordering: .releasing)
    }

    /// The consumer's counters.
    private struct Counters: ~Copyable, Sendable {
        private let typed = Atomic<UInt64>(0)
        private let discarded = Atomic<UInt64>(0)
        private let rejected = Atomic<UInt64>(0)
        private let gated = Atomic<UInt64>(0)
        private let writeFailed = Atomic<UInt64>(0)
        private let tooOld = Atomic<UInt64>(0)
        private let disconnected = Atomic<UInt64>(0)
        private let switched = Atomic<UInt64>(0)

        func value(of fate: Fate) -> UInt64 {
            use(fate) { $0.load(ordering: .acquiring) }
        }

        func add(_ count: Int, to fate: Fate) {
            use(fate) { Ledger.add(count, to: $0) }
        }

        private func use<Result>(_ fate: Fate, _ body: (borrowing Atomic<UInt64>) -> Result) -> Result {
            switch fate {
            case .typed: body(typed)
            case .discarded: body(discarded)
            case .rejected: body(rejected)
            case .gated: body(gated)
            case .writeFailed: body(writeFailed)
            case .tooOld: body(tooOld)
            case .disconnected: body(disconnected)
            case .switched: body(switched)
            }
        }
    }
}
