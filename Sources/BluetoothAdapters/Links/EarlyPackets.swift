// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Packets that arrived while a link was being encrypted, until it is known which of them came before the encryption.
///
/// A packet that came before is refused and counted, because anyone could have sent it (D-41). Some USB adapters
/// deliver an encrypted packet shortly before the event that reports the encryption; such packets are accepted only if
/// the user allows it. An Exchange MTU Request is kept in any case, because the device waits for its response before it
/// sends anything else, and anyone may ask for it.
struct EarlyPackets: Sendable {
    /// Maximum number of packets that are kept; a keyboard sends at most one in each interval of 7.5 ms.
    static let most = 64

    private var packets: [(time: Duration, bytes: [UInt8])] = []
    /// Exchange MTU Request of the device.
    private var exchange: [UInt8]?
    /// Number of packets that were refused.
    private(set) var refused: UInt64 = 0
    /// Counts of the values among the packets that arrived before the encryption.
    private(set) var values = EarlyValues()

    /// Keeps a packet that arrived at `time`, on any clock; the oldest is refused if there are too many.
    mutating func add(_ bytes: [UInt8], at time: Duration) {
        guard !Self.isExchange(bytes.span) else { return keep(exchange: bytes) }
        if packets.count == Self.most {
            let oldest = packets.removeFirst().bytes
            refuse(oldest.span)
        }
        packets.append((time, bytes))
    }

    /// Refuses a packet whose time of arrival is unknown, unless it is an Exchange MTU Request.
    mutating func addWithoutTime(_ bytes: Span<UInt8>) {
        guard !Self.isExchange(bytes) else { return keep(exchange: [UInt8](copying: bytes)) }
        refuse(bytes)
    }

    private mutating func keep(exchange new: [UInt8]) {
        if let exchange { refuse(exchange.span) }
        exchange = new
    }

    /// Core 6.0, Vol 3, Part F, 3.4.2.1.
    private static func isExchange(_ pdu: Span<UInt8>) -> Bool { pdu.count == 3 && pdu[0] == 0x02 }

    /// Counts a packet as refused; its time relative to the encryption is unknown.
    mutating func refuse(_ bytes: Span<UInt8>) {
        refused &+= 1
        if EarlyValues.isValue(bytes) { values.refused &+= 1 }
    }

    /// Refuses the kept packets, because the link has ended.
    mutating func refuseAll() {
        for packet in packets { refuse(packet.bytes.span) }
        packets = []
        if let exchange { refuse(exchange.span) }
        exchange = nil
    }

    /// Removes and returns the Exchange MTU Request, and then the packets that arrived after the encryption, or at most
    /// `early` before it; refuses the others.
    ///
    /// Without the time of the encryption, refuses all others.
    mutating func take(encryptedAt time: Duration?, early: Duration) -> [[UInt8]] {
        var accepted = exchange.map { [$0] } ?? []
        exchange = nil
        guard let time else {
            refuseAll()
            return accepted
        }
        let kept = packets
        packets = []
        for packet in kept {
            let isAccepted = early == .zero ? packet.time > time : packet.time >= time - early
            if packet.time <= time, EarlyValues.isValue(packet.bytes.span) {
                values.longest = max(values.longest ?? .zero, time - packet.time)
                if isAccepted { values.accepted &+= 1 }
            }
            if isAccepted { accepted.append(packet.bytes) } else { refuse(packet.bytes.span) }
        }
        return accepted
    }
}
