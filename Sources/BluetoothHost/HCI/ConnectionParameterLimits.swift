// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The limits within which a peripheral's wish for other connection parameters is granted.
///
/// A peripheral knows best what its battery allows, so its wish is granted where typing does not suffer. A central may
/// refuse any wish, and the parameters in force stay then (Core 6.0, Vol 3, Part A, 4.20 and Vol 4, Part E, 7.8.32).
enum ConnectionParameterLimits {
    /// The longest interval, in units of 1.25 ms: 200 ms.
    ///
    /// A value waits for the next connection event, so a barcode is typed that much later (Core 6.0, Vol 6, Part B, 4.5.1);
    /// nobody takes a fifth of a second for a fault.
    static let longestInterval: UInt16 = 160
    /// The longest time for which the peripheral need not listen, (latency + 1) × interval, in the same units: 2 s.
    ///
    /// A write to the peripheral waits at most that long, so a command of a handshake has its answer in time.
    static let longestSilence: UInt32 = 1600
    /// The supervision time-outs, in units of 10 ms: 1 s to 10 s.
    ///
    /// A shorter one ends links that somebody has walked through; a longer one leaves a device that is gone unnoticed, and
    /// its next advertisement unheard (Core 6.0, Vol 6, Part B, 4.5.2).
    static let supervisionTimeouts: ClosedRange<UInt16> = 100...1000

    /// The part of a wish that is granted, nil for none: the longest interval may become shorter, all else stays.
    static func granted(_ wish: ConnectionParameters) -> ConnectionParameters? {
        guard wish.isValid, supervisionTimeouts.contains(wish.supervisionTimeout) else { return nil }
        let longest = min(UInt32(longestInterval), longestSilence / (UInt32(wish.latency) &+ 1))
        guard UInt32(wish.minimumInterval) <= longest else { return nil }
        var granted = wish
        granted.maximumInterval = min(wish.maximumInterval, UInt16(truncatingIfNeeded: longest))
        return granted
    }
}
