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
        /// The ring had no room for the chunk; or it came, to be passed on as it is, while another end waited for its reader.
        case ringFull
        /// The device refused the write, or took a part of it.
        case writeFailed
        /// The barcode had waited longer than the greatest age.
        case tooOld
        /// The user disconnected while they waited.
        case disconnected
        /// Another device was chosen while they waited.
        case switched
        /// The other end's readers did not take the whole of their line.
        case undelivered
    }

    /// Which rules refuse bytes.
    public enum Rejection: Int, CaseIterable, Sendable {
        /// The layout or the table has no keys for it; in scan mode, for some byte of its barcode.
        case untypable
        case tooShort
        case tooLong
        /// The barcode is the one typed just before, and came too soon after it.
        case duplicate
        /// The barcode has a beginning or an end only, because the link was lost or the ring was full.
        case cut
        /// They are part of no good frame, where the device sends frames.
        case frame
    }

    /// The account at one moment.
    ///
    /// `received` is the sum of `typed`, `discarded`, `rejected`, `gated`, `lost` and `waiting`.
    public struct Snapshot: Equatable, Sendable {
        /// Bytes that came in.
        public var received: UInt64 = 0
        /// Bytes whose keystrokes the device took, and line feeds that belong to a typed Enter; at another end than the
        /// keyboard, bytes of lines that a reader took whole.
        public var typed: UInt64 = 0
        /// Bytes that the table discards, terminators that a suffix replaces, what good frames are wrapped in, and what is
        /// withheld.
        public var discarded: UInt64 = 0
        /// The discarded bytes that the table types, but that an open device may not press (D-2).
        public var withheld: UInt64 = 0
        /// Bytes that rules refuse, by rule, in the order of `Rejection.allCases`.
        public var rejections: [UInt64] = Array(repeating: 0, count: Rejection.allCases.count)
        /// Bytes that came to a closed gate.
        public var gated: UInt64 = 0
        /// Bytes lost, by place, in the order of `Loss.allCases`.
        public var losses: [UInt64] = Array(repeating: 0, count: Loss.allCases.count)
        /// Bytes that have no outcome yet.
        public var waiting: UInt64 = 0

        /// An account of nothing.
        public init() {}

        /// Bytes that this rule refuses.
        public func rejected(_ rejection: Rejection) -> UInt64 { rejections[rejection.rawValue] }
        /// Bytes that any rule refuses.
        public var rejected: UInt64 { rejections.reduce(0, &+) }
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
    private let wrapping = Atomic<UInt64>(0)
    private let withheld = Atomic<UInt64>(0)
    private let badFrames = Atomic<UInt64>(0)
    private let delivered = Atomic<UInt64>(0)
    private let undelivered = Atomic<UInt64>(0)
    private let gated = Atomic<UInt64>(0)
    /// True from a chunk that found no room to the next that did.
    private let isMissingBytes = Atomic<Bool>(false)
    private let between = Padding()
    /// The consumer's counters, by fate.
    private let outcomes = InlineArray<13, Atomic<UInt64>> { _ in Atomic(0) }
    private let after = Padding()
    /// Whether what the typist has typed waits until `settle` tells what became of it.
    private let handsOver: Bool

    /// An account of nothing.
    ///
    /// With `handsOver`, what the typist has typed is on its way to another end, and waits until it is delivered or not.
    public init(handsOver: Bool = false) {
        self.handsOver = handsOver
    }

    /// The account now, from any thread.
    public func snapshot() -> Snapshot {
        var now = Snapshot()
        now.typed = (handsOver ? 0 : handedOver) &+ delivered.load(ordering: .acquiring)
        now.withheld = count(of: .withheld) &+ withheld.load(ordering: .acquiring)
        now.discarded = count(of: .discarded) &+ wrapping.load(ordering: .acquiring) &+ now.withheld
        now.rejections = Rejection.allCases.map { rejection in
            Fate(rejection).map(count) ?? badFrames.load(ordering: .acquiring)
        }
        now.gated = count(of: .gated) &+ gated.load(ordering: .acquiring)
        now.losses = Loss.allCases.map { loss in
            if let fate = Fate(loss) { return count(of: fate) }
            return loss == .undelivered
                ? undelivered.load(ordering: .acquiring) : ringFull.load(ordering: .acquiring)
        }
        now.received = received.load(ordering: .acquiring)
        now.waiting = now.received &- now.typed &- now.discarded &- now.rejected &- now.gated &- now.lost
        return now
    }

    /// Adds bytes that came in; only the producer calls it, before it pushes them.
    func addReceived(_ count: Int) { Self.add(count, to: received) }

    /// Takes note that bytes were lost behind those in the ring; only the producer calls it.
    func noteMissingBytes() { isMissingBytes.store(true, ordering: .releasing) }

    /// Adds bytes that found no room; only the producer calls it.
    func addRingFull(_ count: Int) {
        noteMissingBytes()
        Self.add(count, to: ringFull)
    }

    /// Adds bytes that frames are wrapped in, and bytes of no good frame; only the producer calls it.
    func addFrames(wrapping: Int, bad: Int) {
        addReceived(wrapping + bad)
        Self.add(wrapping, to: self.wrapping)
        Self.add(bad, to: badFrames)
    }

    /// Adds bytes that came in, and that an open device may not have typed; only the producer calls it.
    func addWithheld(_ count: Int) {
        addReceived(count)
        Self.add(count, to: withheld)
    }

    /// Adds bytes that came to a closed gate and never to the ring; only the producer calls it.
    func addGated(_ count: Int) {
        addReceived(count)
        Self.add(count, to: gated)
    }

    /// Adds what became of bytes that were handed to another end; only the producer calls it.
    func settle(delivered: Int, undelivered: Int) {
        Self.add(delivered, to: self.delivered)
        Self.add(undelivered, to: self.undelivered)
    }

    /// The bytes whose keystrokes the device took.
    var handedOver: UInt64 { count(of: .typed) }

    /// Takes note that the chunk after lost ones is in the ring; only the producer calls it.
    func missingBytesFollowed() { isMissingBytes.store(false, ordering: .releasing) }

    /// Whether bytes were lost after the last chunk that the ring took.
    var endsInMissingBytes: Bool { isMissingBytes.load(ordering: .acquiring) }

    /// Adds what became of bytes; only the consumer calls it.
    @inline(__always)
    func add(_ count: Int, to fate: Fate) {
        guard count != 0 else { return }
        Self.add(count, to: outcomes[fate.rawValue])
    }

    /// The outcome of a byte that the typist looked at.
    enum Fate: Int, Sendable {
        case typed, discarded, untypable, tooShort, tooLong, duplicate, cut, gated, writeFailed, tooOld, disconnected
        case switched, withheld

        /// Nil for the one rejection that the producer counts.
        init?(_ rejection: Rejection) {
            switch rejection {
            case .untypable: self = .untypable
            case .tooShort: self = .tooShort
            case .tooLong: self = .tooLong
            case .duplicate: self = .duplicate
            case .cut: self = .cut
            case .frame: return nil
            }
        }

        /// Nil for the losses that the producer counts.
        init?(_ loss: Loss) {
            switch loss {
            case .ringFull, .undelivered: return nil
            case .writeFailed: self = .writeFailed
            case .tooOld: self = .tooOld
            case .disconnected: self = .disconnected
            case .switched: self = .switched
            }
        }
    }

    private func count(of fate: Fate) -> UInt64 { outcomes[fate.rawValue].load(ordering: .acquiring) }

    /// A counter has one writer, so reading and storing apart is exact, and cheaper than an atomic addition.
    @inline(__always)
    private static func add(_ count: Int, to counter: borrowing Atomic<UInt64>) {
        counter.store(counter.load(ordering: .relaxed) &+ UInt64(bitPattern: Int64(count)), ordering: .releasing)
    }
}
