// SPDX-License-Identifier: GPL-2.0-or-later

package import Configuration

/// Bounded queue of lines for one output client; each line is delivered completely or not at all.
///
/// A line may arrive in parts. The beginning of a line is accepted only if there is room for the longest line, so there
/// is always room for the rest. If the beginning was refused or dropped, the rest is refused too. A line that the
/// client has begun to receive is never dropped while the client is connected.
package struct LineQueue {
    /// Byte counts for one client, in bytes received from the device.
    package struct Counts: Equatable, Sendable {
        /// Number of bytes in lines that the client has received completely.
        package var delivered: UInt64 = 0
        /// Number of bytes in lines that the client has not completely received.
        package var missed: UInt64 = 0

        package init() {}
    }

    /// Maximum number of queued bytes.
    package static let capacity = 1 << 16
    /// Maximum number of queued lines and parts of lines; when it is reached, no further line is accepted.
    package static let mostLines = 1 << 12
    /// Maximum length of a line that arrives in parts, in bytes.
    package static let longestLine = 4096

    /// Numbers of bytes that the client has received and missed.
    package private(set) var counts = Counts()
    package private(set) var waiting = 0

    private let capacity: Int
    private let dropsOldest: Bool
    private var lines: [OutputLine] = []
    /// Index of the first queued line; the client has received the lines before it.
    private var first = 0
    private var offset = 0
    /// True if all parts of the latest line that have arrived so far were queued.
    private var isInLine = false

    /// Creates an empty queue.
    package init(_ policy: SlowReaderPolicy, capacity: Int = capacity) {
        self.capacity = capacity
        dropsOldest = policy == .dropOldest
    }

    /// Returns true if the line can be queued without dropping another line.
    package func fits(_ line: OutputLine) -> Bool {
        guard line.begins else { return true }
        let length = line.ends ? line.bytes.count : max(line.bytes.count, Self.longestLine)
        return length <= capacity - waiting && lines.count - first < Self.mostLines
    }

    package mutating func append(_ line: OutputLine) {
        if line.begins {
            isInLine = fits(line)
            while !isInLine, dropsOldest, dropOldestLine() { isInLine = fits(line) }
        }
        if isInLine {
            line.hold()
            lines.append(line)
            waiting += line.bytes.count
        } else {
            counts.missed &+= UInt64(line.cost)
        }
    }

    /// Counts a line as missed because no client is connected.
    package mutating func refuse(_ line: OutputLine) {
        isInLine = false
        counts.missed &+= UInt64(line.cost)
    }

    /// Returns the first queued bytes, at most `most` of them.
    package func next(_ most: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var start = offset
        for line in lines[first...] {
            let rest = line.bytes[start...].prefix(most - bytes.count)
            bytes.append(contentsOf: rest)
            start = 0
            if bytes.count >= most { break }
        }
        return bytes
    }

    /// Removes the first `count` queued bytes, which the client has received.
    package mutating func took(_ count: Int) {
        var rest = min(max(0, count), waiting)
        waiting -= rest
        while first < lines.count {
            let line = lines[first]
            let left = line.bytes.count - offset
            guard rest >= left else { break }
            rest -= left
            offset = 0
            first += 1
            counts.delivered &+= UInt64(line.cost)
            line.letGo(isTaken: true)
        }
        offset += rest
        // Remove lines only if fewer lines have to be moved than are removed.
        if first > lines.count / 2 {
            lines.removeFirst(first)
            first = 0
        }
    }

    /// Removes and returns the queued lines; the caller must release each line with `letGo`.
    ///
    /// The client must not have begun to receive any of them.
    mutating func takeAll() -> [OutputLine] {
        defer { (lines, first, waiting, isInLine) = ([], 0, 0, false) }
        return Array(lines[first...])
    }

    /// Drops all queued lines and counts them as missed, because the client is disconnected.
    package mutating func removeAll() {
        let rest = lines[first...]
        lines = []
        (first, offset, waiting, isInLine) = (0, 0, 0, false)
        for line in rest { miss(line) }
    }

    /// Drops the oldest line that the client has not begun to receive; returns false if there is no such line.
    private mutating func dropOldestLine() -> Bool {
        var start = first + (offset > 0 ? 1 : 0)
        while start < lines.count, !lines[start].begins { start += 1 }
        guard start < lines.count else { return false }
        var end = start + 1
        while end < lines.count, !lines[end].begins { end += 1 }
        let dropped = lines[start..<end]
        lines.removeSubrange(start..<end)
        for line in dropped {
            waiting -= line.bytes.count
            miss(line)
        }
        return true
    }

    private mutating func miss(_ line: OutputLine) {
        counts.missed &+= UInt64(line.cost)
        line.letGo(isTaken: false)
    }
}
