// SPDX-License-Identifier: GPL-2.0-or-later

/// Set of LE subevents that the controller sends (Core 6.0, Vol 4, Part E, 7.8.1).
public struct LEEventMask: OptionSet, Hashable, Sendable {
    /// Bits of LE_Event_Mask.
    public let rawValue: UInt64

    /// Creates a mask from its bits.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// LE Connection Complete.
    public static let connectionComplete = LEEventMask(rawValue: 1 &<< 0)
    /// LE Advertising Report.
    public static let advertisingReport = LEEventMask(rawValue: 1 &<< 1)
    /// LE Connection Update Complete.
    public static let connectionUpdateComplete = LEEventMask(rawValue: 1 &<< 2)
    /// LE Long Term Key Request.
    public static let longTermKeyRequest = LEEventMask(rawValue: 1 &<< 4)
    /// LE Remote Connection Parameter Request.
    public static let remoteConnectionParameterRequest = LEEventMask(rawValue: 1 &<< 5)
    /// LE Data Length Change.
    public static let dataLengthChange = LEEventMask(rawValue: 1 &<< 6)
    /// LE PHY Update Complete.
    public static let phyUpdateComplete = LEEventMask(rawValue: 1 &<< 11)
    /// LE Enhanced Connection Complete [v1].
    public static let enhancedConnectionComplete = LEEventMask(rawValue: 1 &<< 9)
    /// LE Extended Advertising Report.
    public static let extendedAdvertisingReport = LEEventMask(rawValue: 1 &<< 12)
    /// LE Scan Timeout.
    public static let scanTimeout = LEEventMask(rawValue: 1 &<< 16)
    /// LE Advertising Set Terminated.
    public static let advertisingSetTerminated = LEEventMask(rawValue: 1 &<< 17)
}
