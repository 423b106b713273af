// SPDX-License-Identifier: GPL-2.0-or-later

package import Configuration

/// The lines that wait for one reader, bounded: each is given whole or not at all.
///
/// A line may come in parts. One whose beginning is in the queue finds room to its end, because a beginning is taken only
/// where the longest line has room; one whose beginning was refused or dropped is refused to its end. What the reader has
/// begun to take is never dropped while the reader stays.
package struct LineQueue {
    /// The counts of one reader, in received bytes.
    package struct Counts: Equatable, Sendable {
        /// Bytes of lines that it took.
        package var delivered: UInt64 = 0
        /// Bytes of lines that it did not get whole.
        package var missed: UInt64 = 0

        package init() {}
    }

    /// The bytes that wait at most.
    package static let capacity = 1 << 16
    /// The lines, and parts of lines, that wait at most where another is begun.
    package static let mostLines = 1 << 12
    /// The longest line that comes in parts.
    package static let longestLine = 4096

    /// What the reader took and missed.
    package private(set) var counts = Counts()
    package private(set) var waiting = 0

    private let capacity: Int
    private let dropsOldest: Bool
    private var lines: [OutputLine] = []
    /// Where the first line is that waits; those before it are gone.
    private var first = 0
    private var offset = 0
    /// Whether the line that comes last is in the queue from its beginning on, so far.
    private var isInLine = false

    /// A queue in which nothing waits.
    package init(_ policy: SlowReaderPolicy, capacity: Int = capacity) {
        self.capacity = capacity
        dropsOldest = policy == .dropOldest
    }

    /// Whether a line fits without another being dropped.
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

    /// Counts a line that comes while there is no reader.
    package mutating func refuse(_ line: OutputLine) {
        isInLine = false
        counts.missed &+= UInt64(line.cost)
    }

    /// The first of the bytes that wait, at most that many.
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

    /// Takes note that the reader took the first `count` bytes that wait.
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
        // Each line is moved once at most for every line that goes.
        if first > lines.count / 2 {
            lines.removeFirst(first)
            first = 0
        }
    }

    /// Lets go of all that waits: the reader has gone.
    package mutating func removeAll() {
        let rest = lines[first...]
        lines = []
        (first, offset, waiting, isInLine) = (0, 0, 0, false)
        for line in rest { miss(line) }
    }

    /// Drops the oldest line of which the reader has got nothing; false where there is none.
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
