// SPDX-License-Identifier: GPL-2.0-or-later

/// Outcome of a payload with a value.
package enum ValueOutcome: Int, CaseIterable, Sendable {
    case typed
    /// An advertisement that was already received.
    case repeated
    /// The value was typed before, and has not been unstable since.
    case unchanged
    case unstable
    /// The load was removed before the value was stable.
    case removed
    /// The value waits until a client requests it.
    case kept
    case overload
    case notMeasured
    case encrypted
    /// The payload does not have the expected format, or lacks the quantity.
    case unreadable

    init(_ fault: SensorFault) {
        switch fault {
        case .encrypted: self = .encrypted
        case .overload: self = .overload
        case .notMeasured: self = .notMeasured
        case .tooShort, .unknownVersion, .unknownObject, .empty: self = .unreadable
        }
    }
}

/// Counts of payloads with values by outcome; each payload has one outcome, and all counts wrap around at 2^64.
package struct ValueAccount: Equatable, Sendable {
    private var outcomes = [UInt64](repeating: 0, count: ValueOutcome.allCases.count)

    package init() {}

    package subscript(outcome: ValueOutcome) -> UInt64 { outcomes[outcome.rawValue] }

    /// Number of payloads.
    package var sum: UInt64 { outcomes.reduce(0, &+) }

    mutating func count(_ outcome: ValueOutcome) { outcomes[outcome.rawValue] &+= 1 }
}
