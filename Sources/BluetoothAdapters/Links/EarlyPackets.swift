// SPDX-License-Identifier: GPL-2.0-or-later

/// Packets that arrived while a link was being encrypted, until it is known which of them came before the encryption.
///
/// A packet that came before is refused and counted, because anyone could have sent it (D-41). Some USB adapters
/// deliver an encrypted packet shortly before the event that reports the encryption; such packets are accepted only if
/// the user allows it.
struct EarlyPackets: Sendable {
    /// Maximum number of packets that are kept; a keyboard sends at most one in each interval of 7.5 ms.
    static let most = 64

    private var packets: [(time: Duration, bytes: [UInt8])] = []
    /// Number of packets that were refused.
    private(set) var refused: UInt64 = 0

    /// Keeps a packet that arrived at `time`, on any clock; the oldest is refused if there are too many.
    mutating func add(_ bytes: [UInt8], at time: Duration) {
        if packets.count == Self.most {
            packets.removeFirst()
            refused &+= 1
        }
        packets.append((time, bytes))
    }

    /// Counts a packet whose time is unknown as refused.
    mutating func refuse() { refused &+= 1 }

    /// Refuses the kept packets, because the link has ended.
    mutating func refuseAll() {
        refused &+= UInt64(packets.count)
        packets = []
    }

    /// Removes and returns the packets that arrived after the encryption, or at most `early` before it; refuses the
    /// others.
    ///
    /// Without the time of the encryption, refuses all.
    mutating func take(encryptedAt time: Duration?, early: Duration) -> [[UInt8]] {
        defer { packets = [] }
        guard let time else {
            refuseAll()
            return []
        }
        let accepted = packets.filter { early == .zero ? $0.time > time : $0.time >= time - early }
        refused &+= UInt64(packets.count - accepted.count)
        return accepted.map(\.bytes)
    }
}
