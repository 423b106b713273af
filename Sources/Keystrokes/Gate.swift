// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization

/// What other threads tell the typist: whether to type, and which waiting bytes to drop.
///
/// Both say it by a border that bytes fall before or behind, so that it holds for bytes already waiting, and a gate closed
/// and opened again between two looks of the typist still drops what it should.
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

    /// The borders as they stand.
    var state: State {
        let dropped = droppedThrough.load(ordering: .acquiring)
        return State(
            refusedThrough: refusedThrough.load(ordering: .acquiring),
            droppedThrough: UInt32(truncatingIfNeeded: dropped &>> 32),
            cause: Drop(rawValue: dropped & 0xFFFF_FFFF) ?? .disconnected
        )
    }

    /// The borders at one look.
    struct State {
        var refusedThrough: Int64
        var droppedThrough: UInt32
        var cause: Drop
    }
}
