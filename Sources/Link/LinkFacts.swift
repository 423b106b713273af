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
