// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
package import BluetoothHost
import BluetoothPackets
import SystemPackage
package import Texts

/// Counts of the links that became ready since the start, and of the reasons for their ends.
package struct LinkCounts: Equatable, Sendable {
    /// Reason for the end of a link.
    package enum End: Int, CaseIterable, Sendable {
        case endedByDevice
        /// The device sent nothing for the supervision time-out.
        case outOfReach
        /// The device violated the Attribute Protocol, or did not respond in time.
        case protocolBroken
        /// The device sent more than can be typed.
        case flooded
        /// The link did not have the required security.
        case notSecured
        case withAdapter
        /// The user, another selection, or the end of the program.
        case endedHere
        case failed
    }

    package private(set) var ready: UInt64 = 0
    /// Numbers of ready links that ended, by reason, in the order of `End.allCases`.
    private var ends: [UInt64] = Array(repeating: 0, count: End.allCases.count)
    private var isStanding = false

    package init() {}

    package func ended(_ end: End) -> UInt64 { ends[end.rawValue] }

    /// Counts a link that became ready.
    mutating func begin() {
        ready &+= 1
        isStanding = true
    }

    /// Counts the end of the current link, if it was ready; only the first reason for the end counts.
    mutating func end(_ end: End) {
        guard isStanding else { return }
        isStanding = false
        ends[end.rawValue] &+= 1
    }

    /// Counts in the form of `status`.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("ready", ready)
        for end in End.allCases { object.add("\(end)", ended(end)) }
        return object
    }
}

extension LinkCounts.End {
    init(_ failure: LinkFailure) {
        switch failure {
        case .system(.connectionReset), .closedByPeer: self = .endedByDevice
        case .system(.timedOut), .timedOut, .notEstablished: self = .outOfReach
        case .bearer: self = .protocolBroken
        case .notSecured: self = .notSecured
        case .adapterLost: self = .withAdapter
        case .system, .refused: self = .failed
        }
    }
}

package struct LinkFacts: Equatable, Sendable {
    /// Time since the link became ready.
    package var age: Duration
    /// Values of the profile's characteristic that were received since then.
    package var notifications: UInt64
    /// The longest PDU of the Attribute Protocol, in bytes.
    package var mtu: UInt16
    package var security = GATTLinkSecurity()
    package var quality: LinkQuality

    /// Facts in the form of `status`: times in whole microseconds, milliseconds and seconds, as the names say.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("rssi", quality.rssi)
        object.add("seconds", age.components.seconds)
        object.add("notifications", notifications)
        object.add("mtu", mtu)
        object.add("security", "\(security.level)")
        if security.level > .none { object.add("keySize", security.keySize) }
        object.add("phy", quality.phy?.rawValue)
        object.add("packetBytes", quality.dataLength)
        if let timing = quality.timing {
            object.add("intervalMicroseconds", Int(timing.interval) * 1250)
            object.add("latency", timing.latency)
            object.add("timeoutMilliseconds", Int(timing.supervisionTimeout) * 10)
        }
        return object
    }
}

/// Counts of the values that a device has sent on all its links so far.
package struct ValueCounts: Equatable, Sendable {
    /// Values of the profile's characteristic.
    package var notifications: UInt64 = 0
    /// Values of handles that were not expected.
    package var stray: UInt64 = 0
    /// Values that were longer than any link carries; none of their bytes was accepted.
    package var tooLong: UInt64 = 0
    /// Values that arrived while the link did not have the required security; none of them is typed.
    package var refused: UInt64 = 0
    /// Packets that the kernel dropped because they were not read in time.
    package var dropped: UInt64 = 0

    package init() {}
}
