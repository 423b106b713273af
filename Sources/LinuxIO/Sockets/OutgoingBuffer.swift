// SPDX-License-Identifier: GPL-2.0-or-later

package import SystemPackage

/// Bytes of a stream that a descriptor did not take yet, bounded: what does not fit is refused as a whole.
package struct OutgoingBuffer: Sendable {
    /// The most bytes that wait.
    package let capacity: Int
    private var bytes: [UInt8] = []
    /// How many of them were taken: removed when all are, or when they are the greater part.
    private var taken = 0

    /// A buffer in which nothing waits.
    package init(capacity: Int) {
        self.capacity = max(0, capacity)
    }

    /// How many bytes wait.
    package var count: Int { bytes.count - taken }

    /// True when nothing waits.
    package var isEmpty: Bool { count == 0 }

    /// Puts bytes at the end; false when too much waits, and none of them is kept.
    package mutating func append(_ more: [UInt8]) -> Bool {
        guard more.count <= capacity - count else { return false }
        bytes += more
        return true
    }

    /// Puts text at the end, as UTF-8; false when too much waits, and none of it is kept.
    package mutating func append(_ text: String) -> Bool { append(Array(text.utf8)) }

    /// Hands what waits to `write` until it takes no more; true when nothing waits.
    ///
    /// `write` returns how many bytes it took of those it was given, from the first on.
    package mutating func drain(
        _ write: (borrowing RawSpan) throws(Errno) -> NonBlocking<Int>
    ) throws(Errno) -> Bool {
        while !isEmpty {
            // Sound: the bytes are not changed before the call has returned.
            guard case .done(let count) = try write(unsafe bytes.span.bytes.extracting(droppingFirst: taken)) else {
                return false
            }
            remove(count)
        }
        return true
    }

    /// Forgets what waits.
    package mutating func removeAll() {
        bytes = []
        taken = 0
    }

    private mutating func remove(_ count: Int) {
        taken += min(max(0, count), self.count)
        // Each byte is moved once at most for every byte that goes.
        guard taken > bytes.count / 2 else { return }
        bytes.removeFirst(taken)
        taken = 0
    }
}
