// SPDX-License-Identifier: GPL-2.0-or-later

/// Splitter of a byte stream into lines.
///
/// A line that reaches `longestLine` bytes is returned in pieces, so that no more than `longestLine` bytes are
/// buffered.
package struct LineSplitter: Sendable {
    /// Line, or part of a long line.
    package struct Piece: Equatable, Sendable {
        /// Bytes of the piece, without the line end.
        package var bytes: [UInt8]
        /// True if the line ends after this piece.
        package var isLineEnd: Bool
    }

    /// Accepted line ends.
    package enum Ends: Sendable {
        case lineFeed
        /// CR LF, LF and CR each end a line.
        case any
    }

    /// Maximum length of a piece, in bytes.
    package let longestLine: Int
    private let ends: Ends
    private var bytes: [UInt8] = []
    /// Offset of the next line in the buffer.
    private var start = 0
    /// Offset up to which the buffer has been searched for a line end.
    private var scanned = 0
    /// True after a CR, so that an LF that follows is skipped.
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

    /// Returns the next line, or the next part of a long line; nil if more input is needed.
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

    /// Returns the last piece if the input ends without a line end; nil if no bytes remain.
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
