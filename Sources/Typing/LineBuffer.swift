// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization

/// Buffer for the line that is being typed for an output, and for complete lines that wait to be taken.
///
/// A line ends with an Enter, with a whole barcode in scan mode, or with a silence (`endLine`). It also ends at 4,096
/// bytes, and at the first Tab after 2,048 bytes. Each line records the number of received bytes that it accounts for.
/// The typing thread adds lines; another thread takes them.
package final class LineBuffer: Sendable {
    package struct Line: Equatable, Sendable {
        /// Bytes for the output.
        package var bytes: [UInt8]
        /// Number of received bytes that the line accounts for.
        package var cost: Int
    }

    package struct Taken: Equatable, Sendable {
        package var lines: [Line] = []
        /// Number of received line feeds that belong to the last line that was taken earlier.
        package var late = 0
        /// Number of received bytes in incomplete lines; the beginning or end of such a line was lost before it was
        /// typed.
        package var cut = 0
        /// True if a line has been begun and is incomplete.
        package var isLineOpen = false
        /// True if the buffer was full, so that the typist may be waiting for room.
        package var wasFull = false
    }

    /// Properties of one write to the keyboard, besides its events.
    package struct Write {
        /// Number of received bytes that were counted as typed after the last write and before this one.
        package var before: Int
        /// Number of received bytes that the write accounts for.
        package var cost: Int
        package var followsMissingBytes: Bool
        /// True if the write ends with an Enter or a Tab, or with a barcode in scan mode.
        package var endsBarcode: Bool
        /// True if the write ends with a barcode in scan mode.
        package var endsWhole: Bool

        package init(before: Int, cost: Int, followsMissingBytes: Bool, endsBarcode: Bool, endsWhole: Bool) {
            self.before = before
            self.cost = cost
            self.followsMissingBytes = followsMissingBytes
            self.endsBarcode = endsBarcode
            self.endsWhole = endsWhole
        }
    }

    /// Maximum length of a line, in bytes.
    package static let longest = 4096
    /// Length of a line, in bytes, from which a Tab ends the line, too.
    static let long = 2048
    /// Total size of the complete lines, in bytes, at which the buffer accepts no new line.
    package static let mostWaiting = 1 << 14
    /// Silence after which a line ends.
    package static let silence = Duration.milliseconds(100)

    private struct State {
        /// Text of the write in progress.
        var text: [UInt8] = []
        var line: [UInt8] = []
        var cost = 0
        /// True while the current line is rejected up to its end; `wasCut` is true if the previous line was rejected.
        var isCut = false
        var wasCut = false
        /// Complete lines, with the other results of the next `take`; `waiting` counts the bytes of the lines.
        var taken = Taken()
        var waiting = 0
        var isFinishing = false

        var isOpen: Bool { !line.isEmpty || cost > 0 || isCut }

        mutating func endLine() {
            if isCut {
                isCut = false
                wasCut = true
            } else {
                wasCut = false
                waiting += line.count
                taken.lines.append(Line(bytes: line, cost: cost))
            }
            line = []
            cost = 0
        }

        /// Counts line feeds that arrive after the end of their line.
        mutating func add(late count: Int) {
            if wasCut {
                taken.cut += count
            } else if let last = taken.lines.indices.last {
                taken.lines[last].cost += count
            } else {
                taken.late += count
            }
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// True if another write may be typed; a line that has been begun may always be finished.
    var isReady: Bool { state.withLock { $0.isOpen || $0.waiting < Self.mostWaiting || $0.isFinishing } }

    /// Lets the typist type all remaining bytes without waiting for room in the buffer.
    ///
    /// Call it at the end, when no more bytes will be received.
    func finish() { state.withLock { $0.isFinishing = true } }

    func type(_ text: String) { state.withLock { $0.text.append(contentsOf: text.utf8) } }

    /// Adds the text of the last write to the line, and ends the line if it is complete.
    func settle(_ write: Write) {
        state.withLock { state in
            if write.before > 0 { state.add(late: write.before) }
            if write.followsMissingBytes {
                // The lost bytes may have contained the end of the line, so everything up to the next end is rejected
                // too.
                state.taken.cut += state.cost
                state.line = []
                state.cost = 0
                state.isCut = true
            }
            if state.isCut {
                state.taken.cut += write.cost
            } else {
                state.line.append(contentsOf: state.text)
                state.cost += write.cost
            }
            let isEnter = state.text.last == UInt8(ascii: "\n")
            let isLong = state.line.count >= Self.longest || write.endsBarcode && state.line.count >= Self.long
            state.text = []
            if isEnter || write.endsWhole || isLong { state.endLine() }
        }
    }

    /// Counts received bytes that were typed without a write: line feeds after the end of their line.
    func add(late count: Int) { state.withLock { $0.add(late: count) } }

    /// Ends the current line at its present length.
    package func endLine() { state.withLock { if $0.isOpen { $0.endLine() } } }

    package func take() -> Taken {
        state.withLock { state in
            var taken = state.taken
            taken.isLineOpen = state.isOpen
            taken.wasFull = state.waiting >= Self.mostWaiting
            state.taken = Taken()
            state.waiting = 0
            return taken
        }
    }
}
