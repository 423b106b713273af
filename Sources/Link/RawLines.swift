// SPDX-License-Identifier: GPL-2.0-or-later

import Typing

/// Splits the raw bytes of an output into lines and parts of lines.
///
/// A line ends with a carriage return or a line feed, when no bytes arrive for a while, or at the maximum length. The
/// parts of a line are passed on as they arrive.
package struct RawLines {
    package struct Part: Equatable, Sendable {
        /// Bytes of the part; at least one.
        package var bytes: [UInt8]
        package var begins: Bool
        /// True if the last byte is a carriage return or a line feed.
        package var ends: Bool
    }

    /// True from the refusal of a part until the end of its line.
    package var isRefusing = false
    /// Length of the current line; nil if no line has begun.
    private var length: Int?
    private var lastTime = Duration.zero

    package init() {}

    /// Splits the bytes received at `now` into at most two parts: one up to the last line end, and one after it.
    package mutating func parts(_ bytes: Span<UInt8>, now: Duration) -> [Part] {
        if now - lastTime > LineBuffer.silence { length = nil }
        lastTime = now
        var end = bytes.count
        while end > 0, bytes[end - 1] != 0x0D, bytes[end - 1] != 0x0A { end -= 1 }
        var parts: [Part] = []
        if end > 0 { parts.append(part(bytes.extracting(..<end), ends: true)) }
        if end < bytes.count { parts.append(part(bytes.extracting(end...), ends: false)) }
        return parts
    }

    private mutating func part(_ bytes: Span<UInt8>, ends: Bool) -> Part {
        let sum = (length ?? 0) + bytes.count
        let begins = length == nil || sum > LineQueue.longestLine
        length = ends ? nil : begins ? bytes.count : sum
        var copy: [UInt8] = []
        for index in bytes.indices { copy.append(bytes[index]) }
        return Part(bytes: copy, begins: begins, ends: ends)
    }
}
