// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux

/// Facts that the kernel reports with a packet.
package struct PacketFacts: Equatable, Sendable {
    /// Time on the wall clock at which the kernel received the packet from the controller; nil if it is not reported.
    package var time: Duration?
    /// Number of packets that were dropped since the socket was created and before this packet; 0 if not reported.
    package var dropped: UInt32 = 0

    package init(time: Duration? = nil, dropped: UInt32 = 0) {
        (self.time, self.dropped) = (time, dropped)
    }
}

/// Buffer for the control messages of one packet, and their parser.
///
/// The corresponding C structures are `struct cmsghdr`, each followed by its data: three of `struct timespec` for
/// SO_TIMESTAMPING, `struct timeval` for HCI_CMSG_TSTAMP, a 32-bit number for SO_RXQ_OVFL. Zeros end the list.
struct ControlMessages {
    /// Size of the room, in bytes.
    static let size = MemoryLayout<InlineArray<16, UInt>>.size

    var words = InlineArray<16, UInt>(repeating: 0)

    private static let word = MemoryLayout<UInt>.size
    /// Size of `struct cmsghdr`: the length is a word, level and type have 32 bits.
    private static let header = word + 8

    var facts: PacketFacts {
        var facts = PacketFacts()
        var start = 0
        while start + Self.header <= Self.size {
            let length = Int(truncatingIfNeeded: number(at: start, Self.word))
            guard length >= Self.header, length <= Self.size - start else { break }
            let level = Int32(truncatingIfNeeded: number(at: start + Self.word, 4))
            let type = Int32(truncatingIfNeeded: number(at: start + Self.word + 4, 4))
            let (data, room) = (start + Self.header, length - Self.header)
            switch (level, type) {
            case (SOL_SOCKET, SO_RXQ_OVFL) where room >= 4:
                facts.dropped = UInt32(truncatingIfNeeded: number(at: data, 4))
            case (SOL_SOCKET, SO_TIMESTAMPING):
                // Three times, of which the first is that of the kernel.
                guard room >= 3 * 2 * Self.word else { break }
                let nanoseconds = Int64(truncatingIfNeeded: number(at: data + Self.word, Self.word))
                facts.time = time(at: data, Self.word, microseconds: nanoseconds / 1000)
            case (SOL_HCI, HCI_CMSG_TSTAMP):
                let half = room >= 16 ? 8 : 4
                guard room >= 2 * half else { break }
                let microseconds = Int64(truncatingIfNeeded: number(at: data + half, half))
                facts.time = time(at: data, half, microseconds: microseconds)
            default: break
            }
            start += (length + Self.word - 1) / Self.word * Self.word
        }
        return facts
    }

    /// Returns a time from its seconds at `offset` and its microseconds.
    private func time(at offset: Int, _ size: Int, microseconds: Int64) -> Duration {
        .seconds(Int64(truncatingIfNeeded: number(at: offset, size))) + .microseconds(microseconds)
    }

    /// Reads a number of at most 8 bytes in the machine's byte order, at a multiple of 4 within the room.
    private func number(at offset: Int, _ size: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<size {
            let place = offset + index
            let byte = words[place / Self.word] >> UInt(8 * (place % Self.word)) & 0xFF
            value |= UInt64(byte) << UInt64(8 * index)
        }
        return value
    }
}
