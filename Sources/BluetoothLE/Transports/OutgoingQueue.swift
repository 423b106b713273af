// SPDX-License-Identifier: GPL-2.0-or-later

import SystemPackage

/// Packets that a descriptor did not take yet, bounded.
struct OutgoingQueue {
    private var packets: [[UInt8]] = []
    /// How much of the first was taken.
    private var offset = 0
    private var byteCount = 0

    /// More than any controller's buffers: who lets that much wait reads no more.
    static let capacity = 1 << 20

    /// True when nothing waits.
    var isEmpty: Bool { packets.isEmpty }

    /// Puts a packet at the end; false when too much waits.
    mutating func append(_ packet: [UInt8]) -> Bool {
        guard byteCount &+ packet.count <= Self.capacity else { return false }
        byteCount &+= packet.count
        packets.append(packet)
        return true
    }

    /// Hands packets to `write` until it takes no more; true when nothing waits.
    ///
    /// `write` returns how many bytes it took, nil when it would have to wait.
    mutating func drain(_ write: (Span<UInt8>) throws(Errno) -> Int?) throws(Errno) -> Bool {
        while let packet = packets.first {
            guard let count = try write(packet.span.extracting(droppingFirst: offset)) else { return false }
            remove(count)
        }
        return true
    }

    /// Notes that so many bytes of the first packet were taken.
    private mutating func remove(_ count: Int) {
        guard let first = packets.first else { return }
        offset &+= count
        guard offset >= first.count else { return }
        byteCount &-= first.count
        packets.removeFirst()
        offset = 0
    }

    /// Forgets everything.
    mutating func removeAll() { self = OutgoingQueue() }
}
