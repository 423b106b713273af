// SPDX-License-Identifier: GPL-2.0-or-later

import SystemPackage

/// A bounded queue of packets that a descriptor had no room for.
struct OutgoingQueue {
    private var packets: [[UInt8]] = []
    /// The number of bytes of the first packet that are written.
    private var offset = 0
    private var byteCount = 0

    /// The most bytes that may wait.
    ///
    /// It exceeds the buffers of any controller: one that lets so much wait has stopped reading.
    static let capacity = 1 << 20

    /// True when nothing waits.
    var isEmpty: Bool { packets.isEmpty }

    /// Appends a packet.
    ///
    /// Returns false when the queue has no room for it.
    mutating func append(_ packet: [UInt8]) -> Bool {
        guard byteCount &+ packet.count <= Self.capacity else { return false }
        byteCount &+= packet.count
        packets.append(packet)
        return true
    }

    /// Passes packets to `write` until it takes no more.
    ///
    /// Returns true when nothing waits.
    ///
    /// `write` returns the number of bytes it took, nil if it would block.
    mutating func drain(_ write: (Span<UInt8>) throws(Errno) -> Int?) throws(Errno) -> Bool {
        while let packet = packets.first {
            guard let count = try write(packet.span.extracting(droppingFirst: offset)) else { return false }
            remove(count)
        }
        return true
    }

    /// Removes so many bytes of the first packet.
    private mutating func remove(_ count: Int) {
        guard let first = packets.first else { return }
        offset &+= count
        guard offset >= first.count else { return }
        byteCount &-= first.count
        packets.removeFirst()
        offset = 0
    }

    /// Removes all packets.
    mutating func removeAll() { self = OutgoingQueue() }
}
