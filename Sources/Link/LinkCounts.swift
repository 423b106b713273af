// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
package import BluetoothHost
import BluetoothPackets
package import HIDReports
import SystemPackage
package import Texts

/// Number of links that have become ready since the start, and counts of the reasons why links ended.
package struct LinkCounts: Equatable, Sendable {
    /// Reason why a link ended.
    package enum End: Int, CaseIterable, Sendable {
        case endedByDevice
        /// Nothing was received from the device until the supervision time-out passed.
        case outOfReach
        /// The device violated the Attribute Protocol, or did not respond in time.
        case protocolBroken
        /// The device sent more than can be typed.
        case flooded
        /// The link did not have the required security.
        case notSecured
        case withAdapter
        /// This side ended the link: the user, a new selection, or the end of the program.
        case endedHere
        case failed
    }

    package private(set) var ready: UInt64 = 0
    /// Number of ready links that ended for each reason, in the order of `End.allCases`.
    private var ends: [UInt64] = Array(repeating: 0, count: End.allCases.count)
    private var isStanding = false

    package init() {}

    package func ended(_ end: End) -> UInt64 { ends[end.rawValue] }

    /// Counts a link that has become ready.
    mutating func begin() {
        ready &+= 1
        isStanding = true
    }

    /// Counts the end of the current link if the link was ready.
    ///
    /// If several reasons are reported, only the first counts.
    mutating func end(_ end: End) {
        guard isStanding else { return }
        isStanding = false
        ends[end.rawValue] &+= 1
    }

    /// The counts as a JSON object, as shown in `status`.
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
    /// Number of values of the profile's characteristic that were received since the link became ready.
    package var notifications: UInt64
    /// Maximum length of an Attribute Protocol PDU, in bytes.
    package var mtu: UInt16
    package var security = GATTLinkSecurity()
    package var quality: LinkQuality

    /// The facts as a JSON object, as shown in `status`.
    ///
    /// Times are in whole microseconds, milliseconds or seconds, according to the member's name.
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
    /// Number of values of the profile's characteristic.
    package var notifications: UInt64 = 0
    /// Number of values from handles whose values were not expected.
    package var stray: UInt64 = 0
    /// Number of values that were longer than any link permits; their bytes were discarded.
    package var tooLong: UInt64 = 0
    /// Number of values that arrived while the link did not have the required security; they are not typed.
    package var refused: UInt64 = 0
    /// Counts of those values that arrived before the event that reports the encryption of their link.
    package var early = EarlyValues()
    /// Number of packets that the kernel dropped because they were not read in time.
    package var dropped: UInt64 = 0
    /// Counts of a keyboard's reports; each report is also a notification.
    package var reports = KeyAccount()
    /// Number of times that a keyboard's services differed from those kept from an earlier link.
    package var keyboardChanges: UInt64 = 0

    package init() {}
}
