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

/// What a device presses in stream mode that anybody may be: its link has no security (D-2).
///
/// Of each notification, a byte presses Enter only as the last one, and then once; a carriage return with its line feed is
/// one where the table says so. No byte presses Escape or Ctrl. What presses more is withheld: it counts as discarded, and
/// nothing is typed in its place.
public struct OpenDeviceRules: Sendable {
    /// The bytes that are never typed, and those that are typed at a notification's end only.
    private let presses: [CompiledTable.Press]
    private let joinsLineEnds: Bool

    /// The rules for what that table types.
    public init(_ table: CompiledTable) {
        presses = (UInt8.min...UInt8.max).map { table.press(of: $0) }
        joinsLineEnds = table.joinsLineEnds
    }

    /// The bytes of a notification that are typed; nil where all of them are.
    func typed(of bytes: RawSpan) -> [UInt8]? {
        let end = lineEnd(of: bytes)
        guard let first = bytes.byteOffsets.first(where: { isWithheld(Self.byte($0, bytes), isLast: $0 >= end) }) else {
            return nil
        }
        var typed: [UInt8] = []
        typed.reserveCapacity(bytes.byteCount)
        for index in bytes.byteOffsets {
            let byte = Self.byte(index, bytes)
            if index < first || !isWithheld(byte, isLast: index >= end) { typed.append(byte) }
        }
        return typed
    }

    /// Where the last byte stands, or the carriage return of the last line feed, which is one Enter with it.
    private func lineEnd(of bytes: RawSpan) -> Int {
        let last = bytes.byteCount - 1
        guard joinsLineEnds, last > 0, Self.byte(last, bytes) == ByteTable.lineFeed else { return last }
        return Self.byte(last - 1, bytes) == ByteTable.carriageReturn ? last - 1 : last
    }

    private static func byte(_ index: Int, _ bytes: RawSpan) -> UInt8 {
        // Sound: every bit pattern is a byte, and the index is checked by the span.
        unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }

    private func isWithheld(_ byte: UInt8, isLast: Bool) -> Bool {
        switch presses[Int(byte)] {
        case .harmless: false
        case .enter: !isLast
        case .more: true
        }
    }
}

extension CompiledTable {
    /// What a byte presses, as far as it matters from a device that anybody may be.
    enum Press: UInt8, Sendable {
        /// Neither Enter nor Escape nor Ctrl.
        case harmless
        /// Enter once, as its last key.
        case enter
        /// Escape or Ctrl, or Enter otherwise.
        case more
    }

    /// What a byte presses, with CapsLock off or on.
    func press(of byte: UInt8) -> Press {
        let cases = [false, true].map { press(strokes(of: byte, capsLock: $0)) }
        return cases.contains(.more) ? .more : cases.contains(.enter) ? .enter : .harmless
    }

    private func press(_ strokes: [KeyboardLayout.Stroke]) -> Press {
        if strokes.contains(where: { $0.modifiers.contains(.control) || Self.never.contains($0.key) }) { return .more }
        let enters = strokes.filter { Self.enters.contains($0.key) }.count
        guard enters > 0 else { return .harmless }
        return enters == 1 && strokes.last.map { Self.enters.contains($0.key) } == true ? .enter : .more
    }

    private static let never = Set(["escape", "leftctrl", "rightctrl"].compactMap(KeyCode.init(name:)))
    private static let enters = Set(["enter", "kpenter"].compactMap(KeyCode.init(name:)))
}
