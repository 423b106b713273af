// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Texts

/// A link that is ready, at one moment.
package struct LinkFacts: Equatable, Sendable {
    /// For how long it has been ready.
    package var age: Duration
    /// The values of the profile's characteristic that it carried since then.
    package var notifications: UInt64
    /// The longest PDU of the Attribute Protocol, in bytes.
    package var mtu: UInt16
    /// Its security.
    package var security = GATTLinkSecurity()
    /// What is known of its radio.
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

    /// None yet.
    package init() {}
}
