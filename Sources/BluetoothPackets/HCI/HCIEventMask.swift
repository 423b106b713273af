// SPDX-License-Identifier: GPL-2.0-or-later

/// Set of events that the controller sends (Core 6.0, Vol 4, Part E, 7.3.1).
///
/// Command Complete, Command Status and Number Of Completed Packets cannot be masked.
public struct HCIEventMask: OptionSet, Hashable, Sendable {
    /// Bits of Event_Mask.
    public let rawValue: UInt64

    /// Creates a mask from its bits.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Disconnection Complete.
    public static let disconnectionComplete = HCIEventMask(rawValue: 1 &<< 4)
    /// Encryption Change [v1].
    public static let encryptionChange = HCIEventMask(rawValue: 1 &<< 7)
    /// Hardware Error.
    public static let hardwareError = HCIEventMask(rawValue: 1 &<< 15)
    /// Data Buffer Overflow.
    public static let dataBufferOverflow = HCIEventMask(rawValue: 1 &<< 25)
    /// Encryption Key Refresh Complete.
    public static let encryptionKeyRefreshComplete = HCIEventMask(rawValue: 1 &<< 47)
    /// LE Meta.
    public static let leMeta = HCIEventMask(rawValue: 1 &<< 61)
}
