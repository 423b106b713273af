// SPDX-License-Identifier: GPL-2.0-or-later

package import SystemPackage

/// The failures of one call in a row, and how many of those that pass by themselves are borne.
///
/// A descriptor that can be read and gives an error each time would keep the loop busy for ever.
package struct RepeatedFaults: Sendable {
    /// The failures in a row after which the call is not made again.
    package static let limit = 16

    private var count = 0

    /// No failure yet.
    package init() {}

    /// Notes that the call has succeeded.
    package mutating func clear() { if count > 0 { count = 0 } }

    /// Notes that the call has failed with this error; returns true where it is to be made again later.
    package mutating func allow(_ error: Errno, of kind: CallKind) -> Bool {
        let recovery = error.recovery(of: kind)
        return (recovery == .later || recovery == .wait) && allow()
    }

    /// Notes that the call has failed, whatever the error; returns true where it is to be made again.
    package mutating func allow() -> Bool {
        count += 1
        return count < Self.limit
    }
}
