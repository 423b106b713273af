// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Limits within which a peripheral's request to change the connection parameters is granted.
///
/// The peripheral knows the needs of its battery, so its request is granted unless it would noticeably delay typing. A
/// central may reject any request; the current parameters then remain in force (Core 6.0, Vol 3, Part A, 4.20 and Vol
/// 4, Part E, 7.8.32).
enum ConnectionParameterLimits {
    /// Maximum interval: 200 ms, in units of 1.25 ms.
    ///
    /// A value waits for the next connection event, so the typing of a barcode is delayed by up to one interval (Core
    /// 6.0, Vol 6, Part B, 4.5.1). Users do not perceive a delay of 200 ms as a fault.
    static let longestInterval: UInt16 = 160
    /// Maximum time for which the peripheral may stop listening: 2 s, in units of 1.25 ms.
    ///
    /// This time is (latency + 1) × interval. A write to the peripheral is delayed by up to this time, so the commands
    /// of a chat script are still answered in time.
    static let longestSilence: UInt32 = 1600
    /// Permitted supervision time-outs: 1 s to 10 s, in units of 10 ms.
    ///
    /// A shorter time-out would end the link when a person walks between the devices. A longer time-out would delay the
    /// detection of a disconnection, and until then the device's advertisements are ignored (Core 6.0, Vol 6, Part B,
    /// 4.5.2).
    static let supervisionTimeouts: ClosedRange<UInt16> = 100...1000

    /// Returns the parameters to grant, with the maximum interval reduced if necessary; nil if the request is rejected.
    static func granted(_ wish: ConnectionParameters) -> ConnectionParameters? {
        guard wish.isValid, supervisionTimeouts.contains(wish.supervisionTimeout) else { return nil }
        let longest = min(UInt32(longestInterval), longestSilence / (UInt32(wish.latency) &+ 1))
        guard UInt32(wish.minimumInterval) <= longest else { return nil }
        var granted = wish
        granted.maximumInterval = min(wish.maximumInterval, UInt16(truncatingIfNeeded: longest))
        return granted
    }
}
