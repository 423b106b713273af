// SPDX-License-Identifier: GPL-2.0-or-later

package import Configuration

/// Bounded queue of lines for one output client, each of which is delivered whole or not at all.
///
/// A line may arrive in parts. If its beginning is in the queue, the rest always has room, because a beginning is
/// accepted only if the longest line has room; if its beginning was refused or dropped, the rest is refused. A line
/// that the client has begun to receive is never dropped while the client is connected.
package struct LineQueue {
    /// Counts for one client, in received bytes.
    package struct Counts: Equatable, Sendable {
        /// Bytes of lines that the client has taken.
        package var delivered: UInt64 = 0
        /// Bytes of lines that the client has not received whole.
        package var missed: UInt64 = 0

        package init() {}
    }

    /// Maximum number of waiting bytes.
    package static let capacity = 1 << 16
    /// Number of waiting lines and parts of lines at which no other line is accepted.
    package static let mostLines = 1 << 12
    /// Longest line that arrives in parts, in bytes.
    package static let longestLine = 4096

    /// Received bytes that the reader took and missed.
    package private(set) var counts = Counts()
    package private(set) var waiting = 0

    private let capacity: Int
    private let dropsOldest: Bool
    private var lines: [OutputLine] = []
    /// Index of the first waiting line; the reader has taken those before it.
    private var first = 0
    private var offset = 0
    /// True if all parts so far of the latest line were queued.
    private var isInLine = false

    /// Creates an empty queue.
    package init(_ policy: SlowReaderPolicy, capacity: Int = capacity) {
        self.capacity = capacity
        dropsOldest = policy == .dropOldest
    }

    /// Returns true if the line can be queued without dropping another.
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

    /// Returns the first waiting bytes, at most `most` of them.
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

    /// Removes the first `count` waiting bytes, which the client has taken.
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
        // Amortized, at most one line is moved for each line that is removed.
        if first > lines.count / 2 {
            lines.removeFirst(first)
            first = 0
        }
    }

    /// Removes and returns the waiting lines, of which none was begun, with the queue's hold on them.
    mutating func takeAll() -> [OutputLine] {
        defer { (lines, first, waiting, isInLine) = ([], 0, 0, false) }
        return Array(lines[first...])
    }

    /// Drops all waiting lines, and counts them as missed, because the client is disconnected.
    package mutating func removeAll() {
        let rest = lines[first...]
        lines = []
        (first, offset, waiting, isInLine) = (0, 0, 0, false)
        for line in rest { miss(line) }
    }

    /// Drops the oldest line of which the client has received nothing; returns false if there is none.
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
