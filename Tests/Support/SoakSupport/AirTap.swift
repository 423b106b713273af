// SPDX-License-Identifier: GPL-2.0-or-later

/// Monitors the packets from a controller to its host, independently of the product: notification values and
/// disconnections.
struct AirTap {
    /// Content of a packet.
    enum News: Equatable {
        case value([UInt8])
        case linkEnded
    }

    /// Incomplete L2CAP frame.
    private var frame: [UInt8] = []

    /// Handles an HCI packet from the controller, including its indicator.
    ///
    /// Core 6.0, Vol 4, Part E, 5.4.2; Vol 3, Part A, 3.1; Vol 3, Part F, 3.4.7.1.
    mutating func take(_ packet: [UInt8]) -> News? {
        switch packet.first {
        // Disconnection Complete.
        case 0x04 where packet.dropFirst().first == 0x05:
            frame = []
            return .linkEnded
        case 0x02 where packet.count >= 5:
            // The packet boundary flag 0b01 marks a continuation.
            if packet[2] >> 4 & 0b11 == 0b01 { frame += packet[5...] } else { frame = Array(packet[5...]) }
            guard frame.count >= 4, frame.count >= 4 + Int(frame[0]) + Int(frame[1]) << 8 else { return nil }
            defer { frame = [] }
            // Channel of ATT, with a Handle Value Notification.
            guard frame[2] == 0x04, frame[3] == 0, frame.count >= 7, frame[4] == 0x1B else { return nil }
            return .value(Array(frame[7...]))
        default: return nil
        }
    }

    /// Discards the incomplete frame, because the controller was unplugged.
    mutating func reset() { frame = [] }
}
