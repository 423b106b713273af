// SPDX-License-Identifier: GPL-2.0-or-later

/// Counts of the values that arrived before the event that reports the encryption of their link (D-41).
///
/// Either the device sent them in clear, or the adapter delivered them before the event. Other packets, such as a
/// request of the device to exchange the MTU, are no values.
package struct EarlyValues: Equatable, Sendable {
    /// Number of values that were refused, including those on links that were never encrypted.
    package var refused: UInt64 = 0
    /// Number of values that were accepted, because the user allows it.
    package var accepted: UInt64 = 0
    /// Longest time between such a value and the encryption; nil if it is not known for any of them.
    package var longest: Duration?

    /// Creates counts that are all zero.
    package init() {}

    /// Returns true if the PDU is a notification or an indication.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.7.
    static func isValue(_ pdu: Span<UInt8>) -> Bool {
        guard pdu.count > 0 else { return false }
        return switch pdu[0] {
        case 0x1B, 0x1D, 0x23: true
        default: false
        }
    }

    package static func + (one: EarlyValues, other: EarlyValues) -> EarlyValues {
        var sum = one
        sum.refused &+= other.refused
        sum.accepted &+= other.accepted
        if let longest = other.longest { sum.longest = max(sum.longest ?? .zero, longest) }
        return sum
    }
}
