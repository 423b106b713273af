// SPDX-License-Identifier: GPL-2.0-or-later

/// The frame in which a device sends the bytes to be typed.
///
/// A frame consists of, in this order: `start`, `header` bytes that are skipped, the length field if there is one,
/// the payload, the checksum if it stands before the end, `end`, and the checksum if it stands after the end.
package struct Framing: Hashable, Sendable {
    /// The reason for which a framing is not valid.
    package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        /// The reason in one English line.
        package let description: String
    }

    /// The length field of a frame.
    package struct Length: Hashable, Sendable {
        /// The size of the field: 1 or 2 bytes.
        package var size: Int
        /// True if the low byte of two comes first.
        package var isLittleEndian: Bool
        /// The number of bytes besides the payload that the field counts, 0 to 64.
        package var surplus: Int

        /// Makes a length field; without arguments it has one byte, which counts the payload only.
        package init(size: Int = 1, isLittleEndian: Bool = true, surplus: Int = 0) {
            self.size = size
            self.isLittleEndian = isLittleEndian
            self.surplus = surplus
        }
    }

    /// The checksum of a frame.
    package struct Check: Hashable, Sendable {
        /// The algorithm.
        package var checksum: Checksum
        /// The index of the first byte of the frame that is covered, counted from 0; the last one is the byte before
        /// the checksum.
        package var from: Int
        /// True if the checksum stands after the end bytes.
        package var isBehindEnd: Bool

        /// Makes a checksum; without arguments it covers all of the frame before it.
        package init(_ checksum: Checksum, from: Int = 0, isBehindEnd: Bool = false) {
            self.checksum = checksum
            self.from = from
            self.isBehindEnd = isBehindEnd
        }
    }

    /// The largest payload in bytes.
    ///
    /// It limits the memory and the time that a device can make the host spend.
    package static let greatestPayload = 1024
    /// The most bytes of `start`, of `end` and of `header`, each.
    package static let longestMark = 16
    /// The pause after which a frame is not continued.
    package static let longestPause = Duration.seconds(1)

    /// The bytes that begin a frame; empty if the length field begins it.
    package let start: [UInt8]
    /// The number of bytes after `start` that are skipped.
    package let header: Int
    /// The length field; nil if the payload ends at the `end` bytes.
    package let length: Length?
    /// The bytes that end a frame; empty if the length field alone tells its end.
    package let end: [UInt8]
    /// The checksum; nil for none.
    package let check: Check?
    /// True if the `end` bytes are typed too.
    package let keepsEnd: Bool
    /// The largest payload of this framing, in bytes.
    package let maximum: Int

    /// Makes a framing.
    ///
    /// Throws a `Fault` if its parts are out of range or do not fit together.
    package init(
        start: [UInt8] = [],
        header: Int = 0,
        length: Length? = nil,
        end: [UInt8] = [],
        check: Check? = nil,
        keepsEnd: Bool = false,
        maximum: Int = greatestPayload
    ) throws(Fault) {
        guard length != nil || !end.isEmpty else { throw Fault(description: "a frame needs a length or an end") }
        guard max(start.count, end.count) <= Self.longestMark, (0...Self.longestMark).contains(header) else {
            throw Fault(description: "start, end and header have at most \(Self.longestMark) bytes each")
        }
        guard (1...Self.greatestPayload).contains(maximum) else {
            throw Fault(description: "a payload has from 1 to at most \(Self.greatestPayload) bytes, not \(maximum)")
        }
        if let length {
            guard (1...2).contains(length.size) else { throw Fault(description: "a length has 1 or 2 bytes") }
            guard (0...64).contains(length.surplus) else {
                throw Fault(description: "a length counts from 0 to 64 bytes besides the payload")
            }
        } else if let check, !check.isBehindEnd {
            throw Fault(description: "a checksum before the end wants a length: its value may look like the end")
        }
        if let check {
            guard !check.isBehindEnd || !end.isEmpty else {
                throw Fault(description: "a checksum behind the end wants an end")
            }
            guard (0...start.count + header).contains(check.from) else {
                throw Fault(description: "a checksum covers the frame from its byte 0 to \(start.count + header) on")
            }
        }
        guard !keepsEnd || !end.isEmpty else { throw Fault(description: "there is no end to keep") }
        self.start = start
        self.header = header
        self.length = length
        self.end = end
        self.check = check
        self.keepsEnd = keepsEnd
        self.maximum = maximum
    }
}
