// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import SystemPackage
package import Texts

/// The links that could be used since the start, and what ended them.
package struct LinkCounts: Equatable, Sendable {
    /// The reasons for which a link ends.
    package enum End: Int, CaseIterable, Sendable {
        case endedByDevice
        /// Nothing came from the device for the supervision time-out.
        case outOfReach
        /// The device broke the Attribute Protocol, or did not answer in time.
        case protocolBroken
        /// The device sent more than can be typed.
        case flooded
        /// The link was less secure than it has to be.
        case notSecured
        case withAdapter
        /// The user, another choice, or the program's end.
        case endedHere
        case failed
    }

    package private(set) var ready: UInt64 = 0
    /// The links that ended after that, by reason, in the order of `End.allCases`.
    private var ends: [UInt64] = Array(repeating: 0, count: End.allCases.count)
    private var isStanding = false

    package init() {}

    package func ended(_ end: End) -> UInt64 { ends[end.rawValue] }

    /// Counts a link that is ready.
    mutating func begin() {
        ready &+= 1
        isStanding = true
    }

    /// Counts the end of the link, where one stands: its first reason is the true one.
    mutating func end(_ end: End) {
        guard isStanding else { return }
        isStanding = false
        ends[end.rawValue] &+= 1
    }

    /// The counts as `status` has them.
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
    /// For how long it has been ready.
    package var age: Duration
    /// The values of the profile's characteristic that it carried since then.
    package var notifications: UInt64
    /// The longest PDU of the Attribute Protocol, in bytes.
    package var mtu: UInt16
    package var security = GATTLinkSecurity()
    package var quality: LinkQuality

    /// The facts as `status` has them: times in whole microseconds, milliseconds and seconds, as the names say.
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

/// The values that a device has sent on all its links so far.
package struct ValueCounts: Equatable, Sendable {
    /// Values of the profile's characteristic.
    package var notifications: UInt64 = 0
    /// Values that nobody asked for: those of other handles.
    package var stray: UInt64 = 0
    /// Values that were longer than any link carries; none of their bytes was taken.
    package var tooLong: UInt64 = 0
    /// Values that came while the link was less secure than it has to be: none of them is typed.
    package var refused: UInt64 = 0
    /// Packets that the kernel dropped because they were not read in time.
    package var dropped: UInt64 = 0

    package init() {}
}
