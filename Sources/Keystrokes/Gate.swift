// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization

/// Orders from other threads to the typist.
///
/// They stop or resume typing, drop waiting bytes, end a link, and set how late a line feed may follow its carriage
/// return.
///
/// All orders but the last are stored as limits, in time or in link numbers, up to which bytes are refused. They
/// therefore also apply to bytes that already wait. A gate that is closed and reopened between two calls of
/// `Typist.next` still refuses the bytes received in between.
public final class Gate: Sendable {
    /// Reason for dropping the bytes of earlier links.
    public enum Drop: UInt64, Sendable {
        case disconnected = 0
        /// Another device was selected.
        case switched = 1
    }

    private static let closed = Int64.max
    /// Time up to which received bytes are refused.
    private let refusedThrough: Atomic<Int64>
    /// Epoch up to which the bytes of links are dropped, in the upper half, and the reason in the lower half.
    private let droppedThrough = Atomic<UInt64>(0)
    /// Epoch up to which links have ended.
    private let endedThrough = Atomic<UInt32>(0)

    /// Maximum time between a carriage return and its line feed, in nanoseconds.
    private let lineFeedTime = Atomic<Int64>(LineEnd.usualTime)

    /// Creates a gate, open or closed.
    public init(isOpen: Bool = true) {
        refusedThrough = Atomic(isOpen ? Int64.min : Self.closed)
    }

    /// True while the gate is open, so that bytes are typed.
    public var isOpen: Bool { refusedThrough.load(ordering: .acquiring) != Self.closed }

    /// Closes the gate, so that waiting bytes and newly received bytes are refused.
    public func close() { refusedThrough.store(Self.closed, ordering: .releasing) }

    /// Opens the gate for bytes received after `now`; bytes received earlier are still refused.
    ///
    /// Has no effect on an open gate.
    public func open(now: Int64) {
        _ = refusedThrough.compareExchange(
            expected: Self.closed,
            desired: min(now, Self.closed &- 1),
            ordering: .acquiringAndReleasing
        )
    }

    /// Drops the waiting bytes of links through `epoch`, and counts them as lost for this reason.
    public func drop(through epoch: UInt32, _ cause: Drop) {
        droppedThrough.store(UInt64(epoch) &<< 32 | cause.rawValue, ordering: .releasing)
    }

    /// Ends the links through `epoch`; call this after their last bytes were received.
    ///
    /// Complete barcodes are still typed; an incomplete one is cut off (D-1). The caller must wake the typist.
    public func endLink(through epoch: UInt32) { endedThrough.store(epoch, ordering: .releasing) }

    /// Joins a line feed to the carriage return before it if it arrives within `time` nanoseconds, or 100 ms if that is
    /// longer (D-35).
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

    /// Snapshot of the gate's limits.
    struct State {
        var refusedThrough: Int64
        var droppedThrough: UInt32
        var cause: Drop
        var endedThrough: UInt32
        /// Maximum time between a carriage return and its line feed, in nanoseconds.
        var lineFeedTime: Int64

        /// Returns the state of a gate that refuses nothing.
        static func open(lineFeedTime: Int64) -> State {
            State(
                refusedThrough: Int64.min,
                droppedThrough: 0,
                cause: .disconnected,
                endedThrough: 0,
                lineFeedTime: lineFeedTime
            )
        }

        /// Returns the fate of bytes that the gate refuses; nil if it accepts them.
        ///
        /// `epoch` is the number of their link, and `received` is the time at which they were received.
        @inline(__always)
        func refusal(epoch: UInt32, received: Int64) -> Ledger.Fate? {
            if received <= refusedThrough { return .gated }
            if epoch <= droppedThrough { return cause == .disconnected ? .disconnected : .switched }
            return nil
        }
    }
}

/// Rules for the keys that an unpaired device may press in stream mode, because its link has no security (D-2).
///
/// Only the last byte of a notification may press Enter, and only once; a carriage return with its line feed counts as
/// one byte if the table joins them. No byte may press Escape or Ctrl. A byte that violates a rule is withheld: it
/// counts as discarded, and nothing is typed in its place.
public struct OpenDeviceRules: Sendable {
    /// Class of the keys that each byte presses.
    private let presses: [CompiledTable.Press]
    private let joinsLineEnds: Bool

    /// Creates the rules for the bytes of a table.
    public init(_ table: CompiledTable) {
        presses = (UInt8.min...UInt8.max).map { table.press(of: $0) }
        joinsLineEnds = table.joinsLineEnds
    }

    /// Returns the bytes of a notification that may be typed; nil if all of them may.
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

    /// Returns the index of the last byte, or of the carriage return before it if the two are a single Enter.
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
    /// Class of the keys that a byte presses, for the rules of unpaired devices.
    enum Press: UInt8, Sendable {
        /// Neither Enter nor Escape nor Ctrl.
        case harmless
        /// Enter once, as the last key of the byte.
        case enter
        /// Escape or Ctrl, or Enter more than once or followed by another key.
        case more
    }

    /// Returns the class of the keys that a byte presses, with CapsLock off or on, whichever is more dangerous.
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
