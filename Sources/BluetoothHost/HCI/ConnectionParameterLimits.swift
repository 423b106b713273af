// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Limits within which a peripheral's request for other connection parameters is granted.
///
/// The peripheral knows the needs of its battery, so its request is granted if typing is not affected. A central may
/// reject any request, and the current parameters then remain in force (Core 6.0, Vol 3, Part A, 4.20 and Vol 4, Part
/// E, 7.8.32).
enum ConnectionParameterLimits {
    /// Maximum interval, in units of 1.25 ms: 200 ms.
    ///
    /// A value waits for the next connection event, which delays the typing of a barcode by up to one interval (Core
    /// 6.0, Vol 6, Part B, 4.5.1); users do not notice a delay of 200 ms as a fault.
    static let longestInterval: UInt16 = 160
    /// Maximum time during which the peripheral need not listen, (latency + 1) × interval, in the same units: 2 s.
    ///
    /// A write to the peripheral waits at most that long, so a command of a chat script is answered in time.
    static let longestSilence: UInt32 = 1600
    /// Range of supervision time-outs, in units of 10 ms: 1 s to 10 s.
    ///
    /// A shorter time-out ends the link when a person walks between the devices; a longer one delays the detection of a
    /// disconnection, and meanwhile the device's advertisements are ignored (Core 6.0, Vol 6, Part B, 4.5.2).
    static let supervisionTimeouts: ClosedRange<UInt16> = 100...1000

    /// Returns the granted parameters, or nil if the request is rejected; only the maximum interval may be reduced.
    static func granted(_ wish: ConnectionParameters) -> ConnectionParameters? {
        guard wish.isValid, supervisionTimeouts.contains(wish.supervisionTimeout) else { return nil }
        let longest = min(UInt32(longestInterval), longestSilence / (UInt32(wish.latency) &+ 1))
        guard UInt32(wish.minimumInterval) <= longest else { return nil }
        var granted = wish
        granted.maximumInterval = min(wish.maximumInterval, UInt16(truncatingIfNeeded: longest))
        return granted
    }
}
