// SPDX-License-Identifier: GPL-2.0-or-later

/// What a controller can do, or is set to.
///
/// BlueZ, doc/mgmt-protocol.rst (Read Controller Information).
public struct ManagementSettings: OptionSet, Hashable, Sendable {
    /// One bit a setting.
    public let rawValue: UInt32

    /// Settings from their bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Switched on.
    public static let powered = ManagementSettings(rawValue: 1 << 0)
    /// Takes BR/EDR connections.
    public static let connectable = ManagementSettings(rawValue: 1 << 1)
    /// Takes them quickly.
    public static let fastConnectable = ManagementSettings(rawValue: 1 << 2)
    /// Shows itself.
    public static let discoverable = ManagementSettings(rawValue: 1 << 3)
    /// Keeps keys of pairings.
    public static let bondable = ManagementSettings(rawValue: 1 << 4)
    /// Security of the link level.
    public static let linkLevelSecurity = ManagementSettings(rawValue: 1 << 5)
    /// Secure Simple Pairing.
    public static let secureSimplePairing = ManagementSettings(rawValue: 1 << 6)
    /// Bluetooth classic.
    public static let classic = ManagementSettings(rawValue: 1 << 7)
    /// High speed.
    public static let highSpeed = ManagementSettings(rawValue: 1 << 8)
    /// Low Energy.
    public static let lowEnergy = ManagementSettings(rawValue: 1 << 9)
    /// Advertises.
    public static let advertising = ManagementSettings(rawValue: 1 << 10)
    /// Secure Connections.
    public static let secureConnections = ManagementSettings(rawValue: 1 << 11)
    /// Debug keys.
    public static let debugKeys = ManagementSettings(rawValue: 1 << 12)
    /// Private addresses.
    public static let privacy = ManagementSettings(rawValue: 1 << 13)
    /// Must be configured first.
    public static let configuration = ManagementSettings(rawValue: 1 << 14)
    /// Has a static random address.
    public static let staticAddress = ManagementSettings(rawValue: 1 << 15)
    /// PHYs can be chosen.
    public static let phyConfiguration = ManagementSettings(rawValue: 1 << 16)
    /// Wideband speech.
    public static let widebandSpeech = ManagementSettings(rawValue: 1 << 17)
}
