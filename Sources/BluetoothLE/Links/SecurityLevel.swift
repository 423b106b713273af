// SPDX-License-Identifier: GPL-2.0-or-later

/// What is known of the device at the other end of a link.
///
/// Core 6.0, Vol 3, Part C, 10.2.1: the levels of security mode 1, of which the second is `encrypted`, the third and fourth
/// are `authenticated`.
public enum SecurityLevel: String, Comparable, CaseIterable, Sendable {
    /// Nothing: anybody may be the device, and anybody in range reads and writes along.
    case none
    /// The link is encrypted by a key that the device has; whoever answered the pairing may have it.
    case encrypted
    /// The link is encrypted by a key of a pairing in which a person has compared or entered a number.
    case authenticated

    /// By how much is known.
    public static func < (one: SecurityLevel, other: SecurityLevel) -> Bool { one.rank < other.rank }

    /// Whether anybody may be the device.
    public var isOpen: Bool { self == .none }

    private var rank: Int {
        switch self {
        case .none: 0
        case .encrypted: 1
        case .authenticated: 2
        }
    }
}
