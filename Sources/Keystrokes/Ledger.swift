// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization

/// Counts of all received bytes by outcome, kept by the two threads of the data path and readable from any thread.
///
/// Each counter is written by one thread. The producer adds to `received` before it pushes, and the consumer counts a
/// byte only after it was pushed. `snapshot` loads the outcomes first and `received` last, so the outcomes never add up
/// to more than `received`. Bytes without an outcome are waiting.
public final class Ledger: Sendable {
    /// Reason why bytes were lost.
    public enum Loss: Int, CaseIterable, Sendable {
        /// The ring had no room for the chunk, or an output that receives the bytes unchanged had no room for them.
        case ringFull
        /// The keyboard device rejected the write, or accepted only a part of it.
        case writeFailed
        /// The barcode waited longer than the maximum age.
        case tooOld
        /// The user disconnected the device while the bytes waited.
        case disconnected
        /// Another device was selected while the bytes waited.
        case switched
        /// The clients of another output did not accept the whole line.
        case undelivered
    }

    /// Rule by which bytes are rejected.
    public enum Rejection: Int, CaseIterable, Sendable {
        /// The layout or the table cannot type the byte or, in scan mode, some byte of its barcode.
        case untypable
        case tooShort
        case tooLong
        /// The barcode repeats the previous one within the duplicate window.
        case duplicate
        /// The barcode is incomplete, because the link was lost or the ring was full.
        case cut
        /// The bytes are not part of a valid frame, although the device sends frames.
        case frame
    }

    /// Counts at one moment.
    ///
    /// `received` is the sum of `typed`, `discarded`, `rejected`, `gated`, `lost` and `waiting`.
    public struct Snapshot: Equatable, Sendable {
        /// Received bytes.
        public var received: UInt64 = 0
        /// Bytes whose keystrokes the keyboard device accepted, and line feeds that belong to a typed Enter.
        ///
        /// For an output other than the keyboard, these are the bytes of lines that a client accepted completely.
        public var typed: UInt64 = 0
        /// Bytes that the table discards, terminators replaced by a suffix, bytes around payloads, and withheld bytes.
        public var discarded: UInt64 = 0
        /// Discarded bytes that the table would type, but that are blocked for unpaired devices (D-2).
        public var withheld: UInt64 = 0
        /// Rejected bytes by rule, in the order of `Rejection.allCases`.
        public var rejections: [UInt64] = Array(repeating: 0, count: Rejection.allCases.count)
        /// Bytes refused by the closed gate.
        public var gated: UInt64 = 0
        /// Lost bytes by reason, in the order of `Loss.allCases`.
        public var losses: [UInt64] = Array(repeating: 0, count: Loss.allCases.count)
        /// Bytes without an outcome.
        public var waiting: UInt64 = 0

        /// Creates a snapshot with all counts zero.
        public init() {}

        /// Returns the number of bytes rejected by this rule.
        public func rejected(_ rejection: Rejection) -> UInt64 { rejections[rejection.rawValue] }
        /// Number of bytes rejected by any rule.
        public var rejected: UInt64 { rejections.reduce(0, &+) }
        /// Returns the number of bytes lost for this reason.
        public func lost(_ loss: Loss) -> UInt64 { losses[loss.rawValue] }
        /// Number of bytes lost for any reason.
        public var lost: UInt64 { losses.reduce(0, &+) }
    }

    /// Padding that keeps the counters of two threads on different cache lines.
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
    /// True if bytes were lost and no chunk has entered the ring since.
    private let isMissingBytes = Atomic<Bool>(false)
    private let between = Padding()
    /// Counters of the consumer, one for each fate.
    private let outcomes = InlineArray<13, Atomic<UInt64>> { _ in Atomic(0) }
    private let after = Padding()
    /// True if typed bytes count as waiting until `settle` reports their delivery.
    private let handsOver: Bool

    /// Creates a ledger with all counts zero.
    ///
    /// With `handsOver`, typed bytes are on their way to another output, and count as waiting until they are delivered
    /// or lost.
    public init(handsOver: Bool = false) {
        self.handsOver = handsOver
    }

    /// Returns the current counts; may be called from any thread.
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

    /// Adds received bytes; called only by the producer, before it pushes them.
    func addReceived(_ count: Int) { Self.add(count, to: received) }

    /// Records that bytes were lost after the last byte in the ring; called only by the producer.
    func noteMissingBytes() { isMissingBytes.store(true, ordering: .releasing) }

    /// Adds bytes for which the ring or another output had no room; called only by the producer.
    func addRingFull(_ count: Int) {
        noteMissingBytes()
        Self.add(count, to: ringFull)
    }

    /// Adds the bytes around the payloads of frames, and the bytes of invalid frames; called only by the producer.
    func addFrames(wrapping: Int, bad: Int) {
        addReceived(wrapping + bad)
        Self.add(wrapping, to: self.wrapping)
        Self.add(bad, to: badFrames)
    }

    /// Adds received bytes that are withheld because they are blocked for unpaired devices; called only by the
    /// producer.
    func addWithheld(_ count: Int) {
        addReceived(count)
        Self.add(count, to: withheld)
    }

    /// Adds bytes that arrived while the gate was closed and never entered the ring; called only by the producer.
    func addGated(_ count: Int) {
        addReceived(count)
        Self.add(count, to: gated)
    }

    /// Adds the outcome of bytes that were passed to another output; called only by the producer.
    func settle(delivered: Int, undelivered: Int) {
        Self.add(delivered, to: self.delivered)
        Self.add(undelivered, to: self.undelivered)
    }

    /// Number of bytes whose keystrokes the keyboard device accepted.
    var handedOver: UInt64 { count(of: .typed) }

    /// Records that the chunk after the lost bytes is in the ring; called only by the producer.
    func missingBytesFollowed() { isMissingBytes.store(false, ordering: .releasing) }

    /// True if bytes were lost after the last chunk that entered the ring.
    var endsInMissingBytes: Bool { isMissingBytes.load(ordering: .acquiring) }

    /// Adds bytes with this outcome; called only by the consumer.
    @inline(__always)
    func add(_ count: Int, to fate: Fate) {
        guard count != 0 else { return }
        Self.add(count, to: outcomes[fate.rawValue])
    }

    /// Outcome of a byte that the typist processed.
    enum Fate: Int, Sendable {
        case typed, discarded, untypable, tooShort, tooLong, duplicate, cut, gated, writeFailed, tooOld, disconnected
        case switched, withheld

        /// Creates the fate for a rejection; nil for the rejection that the producer counts.
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

        /// Creates the fate for a loss; nil for the losses that the producer counts.
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

    /// Adds to a counter with a load and a store.
    ///
    /// This is exact because each counter has a single writer, and cheaper than an atomic addition.
    @inline(__always)
    private static func add(_ count: Int, to counter: borrowing Atomic<UInt64>) {
        counter.store(counter.load(ordering: .relaxed) &+ UInt64(bitPattern: Int64(count)), ordering: .releasing)
    }
}
