// SPDX-License-Identifier: GPL-2.0-or-later

/// What a device wraps the bytes to type in: a start, a length, a check value, an end.
///
/// A frame is, in this order: `start`, `header` bytes of no meaning, the length if there is one, the payload, the check
/// value if it stands before the end, `end`, and the check value if it stands behind the end.
package struct Framing: Hashable, Sendable {
    /// Why a framing was refused.
    package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        /// One line for people.
        package let description: String
    }

    /// A number of bytes within the frame.
    package struct Length: Hashable, Sendable {
        /// How many bytes the number has: 1, or 2.
        package var size: Int
        /// True where the low byte of two comes first.
        package var isLittleEndian: Bool
        /// What is added to the payload's bytes to make the number: what else it counts.
        package var surplus: Int

        /// A number of one byte that counts the payload.
        package init(size: Int = 1, isLittleEndian: Bool = true, surplus: Int = 0) {
            self.size = size
            self.isLittleEndian = isLittleEndian
            self.surplus = surplus
        }
    }

    /// A check value over the frame's bytes.
    package struct Check: Hashable, Sendable {
        /// Which.
        package var checksum: Checksum
        /// The frame's first byte that it covers, counted from 0; the last is the one before it.
        package var from: Int
        /// True where it stands behind the end.
        package var isBehindEnd: Bool

        /// A check value over all of the frame before it.
        package init(_ checksum: Checksum, from: Int = 0, isBehindEnd: Bool = false) {
            self.checksum = checksum
            self.from = from
            self.isBehindEnd = isBehindEnd
        }
    }

    /// The most bytes of a payload; it bounds what a device can make the host keep and compute.
    package static let greatestPayload = 1024
    /// The most bytes of start, end and header each.
    package static let longestMark = 16
    /// The silence after which a frame is not continued.
    package static let longestPause = Duration.seconds(1)

    /// The bytes that a frame begins with; none where a length begins it.
    package let start: [UInt8]
    /// How many bytes follow them that mean nothing here.
    package let header: Int
    /// The length; nil where the payload reaches to the end's bytes.
    package let length: Length?
    /// The bytes that a frame ends with; none where its length says where it ends.
    package let end: [UInt8]
    /// The check value; nil for none.
    package let check: Check?
    /// True where the end's bytes are typed too.
    package let keepsEnd: Bool
    /// The most bytes of a payload.
    package let maximum: Int

    /// A framing, checked.
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
