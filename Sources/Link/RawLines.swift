// SPDX-License-Identifier: GPL-2.0-or-later

import Typing

/// Where lines begin and end in bytes that go to another end as they are.
///
/// A line ends with a carriage return or a line feed, before a silence, or where it would be too long; its parts are passed
/// on as they come.
package struct RawLines {
    package struct Part: Equatable, Sendable {
        /// Its bytes, at least one.
        package var bytes: [UInt8]
        package var begins: Bool
        /// Whether it is a line's end.
        package var ends: Bool
    }

    /// Whether the line in hand is refused to its end.
    package var isRefusing = false
    /// The bytes of the line in hand; nil where none is begun.
    private var length: Int?
    private var lastTime = Duration.zero

    /// Nothing came yet.
    package init() {}

    /// The parts of the bytes that came at that time: up to and with the last line end among them, and behind it.
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
