// SPDX-License-Identifier: GPL-2.0-or-later

/// What becomes of lines for which the queue before a reader of another end has no room.
package enum SlowReaderPolicy: String, CaseIterable, Sendable {
    /// Nothing more is taken from the ring until every reader has room, and there is one.
    case wait
    /// The oldest lines of which the reader has got nothing make room.
    case dropOldest = "drop-oldest"
    /// The line that comes is dropped, to its end.
    case dropNewest = "drop-newest"
}
