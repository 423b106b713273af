// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// The counts of what was done so that the radio goes on, since the start.
package struct RadioCounts: Equatable, Sendable {
    /// The times that an adapter was opened.
    package var opened: UInt64 = 0
    /// Of these, the times that the one before came back under another name.
    package var moved: UInt64 = 0
    /// The times that an adapter was lost.
    package var lost: UInt64 = 0
    /// The times that a running scan was armed again, for any reason.
    package var armed: UInt64 = 0
    /// Of these, the times because nothing was heard.
    package var quiet: UInt64 = 0
    /// The times that another program, or the kernel, switched a running scan.
    package var disturbed: UInt64 = 0
    /// The times that the machine woke from sleep.
    package var resumed: UInt64 = 0
    /// The scans that failed.
    package var failedScans: UInt64 = 0
    /// The connection attempts that failed.
    package var failedAttempts: UInt64 = 0
    /// The connections that the kernel had not begun to make some seconds after it was asked.
    package var stalledConnections: UInt64 = 0
    /// The steps that the adapter told no end of, and that were given up.
    package var overdue: UInt64 = 0
    /// The attempts that were given up: their time was over, or nobody wanted them any more.
    package var cancelledAttempts: UInt64 = 0
    /// The times that the sockets of a scan failed, so that others were made.
    package var rebuiltSockets: UInt64 = 0
    /// The times that the adapter was restarted.
    package var restarts: UInt64 = 0

    /// What the controllers of this process took, those that are lost included.
    package var controllers = ControllerCounts()

    /// Counts of nothing.
    package init() {}

    /// An adapter's name and address.
    private struct Place: Equatable {
        var name: String
        var address: BluetoothAddress
    }

    /// The adapter that was opened last.
    private var last: Place?

    /// Notes that an adapter was opened.
    ///
    /// Without an address of its own nothing tells one from another.
    mutating func noteOpened(_ name: String, _ address: BluetoothAddress) {
        opened &+= 1
        if let last, last.address == address, last.name != name, address.rawValue != 0 { moved &+= 1 }
        last = Place(name: name, address: address)
    }

    /// Notes that an attempt to connect has failed.
    mutating func noteFailure(_ failure: LinkFailure) {
        failedAttempts &+= 1
        if case .timedOut = failure { cancelledAttempts &+= 1 }
    }
}
