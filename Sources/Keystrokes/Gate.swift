// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization

/// Orders of other threads to the typist: to type or not, to drop bytes that wait, to expect no more of a link, and how
/// late the link's line feeds may be.
///
/// Each but the last is a border in time or in the numbers of links, before which bytes are refused. So it holds for bytes that
/// already wait, and a gate that was closed and opened again between two calls of `Typist.next` still refuses the bytes
/// that came meanwhile.
public final class Gate: Sendable {
    /// Why bytes of earlier links are dropped.
    public enum Drop: UInt64, Sendable {
        /// The user disconnected.
        case disconnected = 0
        /// Another device was chosen.
        case switched = 1
    }

    private static let closed = Int64.max
    /// Bytes received until this time are refused.
    private let refusedThrough: Atomic<Int64>
    /// Bytes of links until this epoch are dropped: the epoch in the upper half, the cause in the lower.
    private let droppedThrough = Atomic<UInt64>(0)
    /// Links until this epoch have ended.
    private let endedThrough = Atomic<UInt32>(0)

    /// The longest time between a carriage return and its line feed.
    private let lineFeedTime = Atomic<Int64>(LineEnd.usualTime)

    /// A gate, open or closed.
    public init(isOpen: Bool = true) {
        refusedThrough = Atomic(isOpen ? Int64.min : Self.closed)
    }

    /// True when bytes are typed.
    public var isOpen: Bool { refusedThrough.load(ordering: .acquiring) != Self.closed }

    /// Bytes that wait and bytes that come are refused from now on.
    public func close() { refusedThrough.store(Self.closed, ordering: .releasing) }

    /// Bytes received after `now` are typed again; those received until then stay refused.
    ///
    /// Nothing for an open gate.
    public func open(now: Int64) {
        _ = refusedThrough.compareExchange(
            expected: Self.closed,
            desired: min(now, Self.closed &- 1),
            ordering: .acquiringAndReleasing
        )
    }

    /// Bytes of links through `epoch` that still wait are lost for that cause.
    public func drop(through epoch: UInt32, _ cause: Drop) {
        droppedThrough.store(UInt64(epoch) &<< 32 | cause.rawValue, ordering: .releasing)
    }

    /// Nothing more comes from links through `epoch`; to be called after their last bytes were received.
    ///
    /// Whole barcodes are still typed; one that waits for its end is cut (D-1). The typist must be woken.
    public func endLink(through epoch: UInt32) { endedThrough.store(epoch, ordering: .releasing) }

    /// Joins a line feed to the carriage return before it where it comes within this time, in nanoseconds, or within 100 ms
    /// (D-35).
    public func joinLineFeeds(within time: Int64) {
        lineFeedTime.store(max(time, LineEnd.usualTime), ordering: .relaxed)
    }

    /// The borders as they stand.
    var state: State {
        let dropped = droppedThrough.load(ordering: .acquiring)
        return State(
            refusedThrough: refusedThrough.load(ordering: .acquiring),
            droppedThrough: UInt32(truncatingIfNeeded: dropped &>> 32),
            cause: Drop(rawValue: dropped & 0xFFFF_FFFF) ?? .disconnected,
            endedThrough: endedThrough.load(ordering: .acquiring),
            lineFeedTime: lineFeedTime.load(ordering: .relaxed)
        )
    }

    /// The borders at one look.
    struct State {
        var refusedThrough: Int64
        var droppedThrough: UInt32
        var cause: Drop
        var endedThrough: UInt32
        /// The longest time between a carriage return and its line feed, in nanoseconds.
        var lineFeedTime: Int64

        /// Everything is typed.
        static func open(lineFeedTime: Int64) -> State {
            State(
                refusedThrough: Int64.min,
                droppedThrough: 0,
                cause: .disconnected,
                endedThrough: 0,
                lineFeedTime: lineFeedTime
            )
        }

        /// Why bytes of this link and this time are not typed, whatever they are; nil when they are.
        @inline(__always)
        func refusal(epoch: UInt32, received: Int64) -> Ledger.Fate? {
            if received <= refusedThrough { return .gated }
            if epoch <= droppedThrough { return cause == .disconnected ? .disconnected : .switched }
            return nil
        }
    }
}
