// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothHost

// Creates regions, beacons and frames from texts that the tests know to be valid.

extension BeaconRegion {
    static func of(_ text: String) -> BeaconRegion {
        guard let region = BeaconRegion(text) else { preconditionFailure("\(text) is no region") }
        return region
    }
}

extension BeaconIdentity {
    static func of(_ text: String) -> BeaconIdentity {
        guard let identity = BeaconIdentity(text) else { preconditionFailure("\(text) is no beacon") }
        return identity
    }

    /// Returns the beacon's frame as an iBeacon.
    func frame(power: Int8? = -59) -> BeaconFrame {
        guard let frame = BeaconFrame(.iBeacon, self, measuredPower: power) else {
            preconditionFailure("\(self) is no iBeacon")
        }
        return frame
    }

    /// AD structures of the beacon's advertisement as an iBeacon.
    var advertisement: [UInt8] {
        guard let layout = try? AdvertisementLayout(frame().content(), canBeAsked: false) else { return [] }
        return layout.data
    }
}
