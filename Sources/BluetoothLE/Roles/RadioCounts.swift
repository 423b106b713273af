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

/// The counts of what was done so that a controller goes on.
///
/// All but the last stay 0 on an adapter of the kernel, which does such things by itself.
package struct ControllerCounts: Equatable, Sendable {
    /// The times that a silent controller in use was asked whether it is there.
    package var probes: UInt64 = 0
    /// The times that Reset was sent again because the one before was not answered.
    package var repeatedResets: UInt64 = 0
    /// The connections that could not be established (0x3E), and were tried again.
    package var repeatedConnections: UInt64 = 0
    /// The bytes on a line that came before the answer to Reset, and were dropped.
    package var droppedBytes: UInt64 = 0
    /// The peers' wishes for other connection parameters that were granted, as a whole or in part.
    package var grantedParameters: UInt64 = 0
    /// The peers' wishes for other connection parameters that were refused.
    package var refusedParameters: UInt64 = 0
    /// The L2CAP frames that were broken, or too long to be a value.
    package var badFrames: UInt64 = 0
    /// The links that were ended because they had come up as their attempt was given up and the kernel knew nothing of
    /// them.
    package var crossedLinks: UInt64 = 0

    /// Counts of nothing.
    package init() {}

    /// Adds the counts of another controller.
    mutating func add(_ other: ControllerCounts) {
        probes &+= other.probes
        repeatedResets &+= other.repeatedResets
        repeatedConnections &+= other.repeatedConnections
        droppedBytes &+= other.droppedBytes
        grantedParameters &+= other.grantedParameters
        refusedParameters &+= other.refusedParameters
        badFrames &+= other.badFrames
        crossedLinks &+= other.crossedLinks
    }
}
