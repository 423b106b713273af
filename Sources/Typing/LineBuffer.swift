// SPDX-License-Identifier: GPL-2.0-or-later

import Synchronization

/// The line that is being typed for another end than the keyboard, and those that are whole and wait to be taken there.
///
/// A line is what is typed up to and with an Enter, in scan mode a whole barcode, or what is typed before a silence
/// (`endLine`); one of 4,096 bytes ends there, and one of 2,048 or more ends with a Tab too. Each knows how many received
/// bytes it stands for. The thread that types adds, another one takes.
package final class LineBuffer: Sendable {
    package struct Line: Equatable, Sendable {
        /// What the reader is to get.
        package var bytes: [UInt8]
        /// The number of received bytes that it stands for.
        package var cost: Int
    }

    package struct Taken: Equatable, Sendable {
        package var lines: [Line] = []
        /// Received bytes that belong to the last line that was taken before: line feeds that came after it.
        package var late = 0
        /// Received bytes of lines that have a beginning or an end only, because bytes were lost before they were typed.
        package var cut = 0
        /// Whether a line was begun and is not whole.
        package var isLineOpen = false
        /// Whether the typist waits for this.
        package var wasFull = false
    }

    /// The events of one write to the keyboard, beside the events themselves.
    package struct Write {
        /// Received bytes that became typed since the last write and before this one.
        package var before: Int
        /// Received bytes that it types.
        package var cost: Int
        package var followsMissingBytes: Bool
        /// Whether it ends with an Enter or a Tab, or with a barcode of scan mode.
        package var endsBarcode: Bool
        /// Whether it ends with a barcode of scan mode.
        package var endsWhole: Bool

        package init(before: Int, cost: Int, followsMissingBytes: Bool, endsBarcode: Bool, endsWhole: Bool) {
            self.before = before
            self.cost = cost
            self.followsMissingBytes = followsMissingBytes
            self.endsBarcode = endsBarcode
            self.endsWhole = endsWhole
        }
    }

    /// The bytes after which a line ends wherever it is.
    package static let longest = 4096
    /// The bytes from which on it ends with a Tab too.
    static let long = 2048
    /// The bytes of whole lines from which on no other is begun.
    package static let mostWaiting = 1 << 14
    /// The silence after which a line ends.
    package static let silence = Duration.milliseconds(100)

    private struct State {
        /// The text of the write that is not yet settled.
        var text: [UInt8] = []
        var line: [UInt8] = []
        var cost = 0
        /// Whether it is refused up to its end, and whether the one before was.
        var isCut = false
        var wasCut = false
        /// Whole lines and their bytes, and the rest of what is to be taken.
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

        /// Counts a line feed that came after its line's end.
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

    /// Whether another write may be typed: where a line is begun, it may be finished.
    var isReady: Bool { state.withLock { $0.isOpen || $0.waiting < Self.mostWaiting || $0.isFinishing } }

    /// From now on nothing waits for whole lines to be taken: what is typed now is the last.
    func finish() { state.withLock { $0.isFinishing = true } }

    func type(_ text: String) { state.withLock { $0.text.append(contentsOf: text.utf8) } }

    /// Takes note of what the last write typed.
    func settle(_ write: Write) {
        state.withLock { state in
            if write.before > 0 { state.add(late: write.before) }
            if write.followsMissingBytes {
                // The lost bytes may have had the line's end, so what comes up to the next end is refused too.
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

    /// Takes note of received bytes that became typed without a write: line feeds after their line's end.
    func add(late count: Int) { state.withLock { $0.add(late: count) } }

    /// Ends the line in hand where it is.
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
