// SPDX-License-Identifier: GPL-2.0-or-later

/// Lines out of bytes as they come.
///
/// A line comes in pieces as soon as it has `longestLine` bytes, so that no more than that is kept of it.
package struct LineSplitter: Sendable {
    /// A line, or a part of a long one.
    package struct Piece: Equatable, Sendable {
        /// Its bytes, without the line's end.
        package var bytes: [UInt8]
        /// True when the line ends here.
        package var isLineEnd: Bool
    }

    /// The bytes that end a line.
    package enum Ends: Sendable {
        case lineFeed
        /// CR LF, LF and CR, each one line.
        case any
    }

    /// The longest piece, in bytes.
    package let longestLine: Int
    private let ends: Ends
    private var bytes: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    /// How far it is known that there is no end of a line.
    private var scanned = 0
    /// True behind a CR, whose LF may come later.
    private var skipsLineFeed = false

    package init(longestLine: Int = 4096, ends: Ends = .any) {
        self.longestLine = max(1, longestLine)
        self.ends = ends
    }

    package mutating func append(_ more: ArraySlice<UInt8>) {
        if start > 0 {
            bytes.removeFirst(start)
            scanned -= start
            start = 0
        }
        bytes += more
    }

    /// The next line, or the next part of a long one; nil when more has to be read.
    package mutating func next() -> Piece? {
        if skipsLineFeed, start < bytes.count {
            skipsLineFeed = false
            if bytes[start] == UInt8(ascii: "\n") {
                start += 1
                scanned = start
            }
        }
        while scanned < bytes.count {
            let byte = bytes[scanned]
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") && ends == .any {
                skipsLineFeed = byte == UInt8(ascii: "\r")
                return take(upTo: scanned, next: scanned + 1, isLineEnd: true)
            }
            scanned += 1
            if scanned - start == longestLine { return take(upTo: scanned, next: scanned, isLineEnd: false) }
        }
        return nil
    }

    /// The last piece, where the input ends without an end of a line; nil where no bytes are left.
    package mutating func finish() -> Piece? {
        guard start < bytes.count else { return nil }
        return take(upTo: bytes.count, next: bytes.count, isLineEnd: true)
    }

    package mutating func removeAll() { self = LineSplitter(longestLine: longestLine, ends: ends) }

    private mutating func take(upTo end: Int, next: Int, isLineEnd: Bool) -> Piece {
        let piece = Piece(bytes: Array(bytes[start..<end]), isLineEnd: isLineEnd)
        start = next
        scanned = next
        return piece
    }
}
