// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Glibc

/// How far away a beacon seems to be (D-28).
package struct BeaconDistance: Equatable, Sendable {
    /// The words for a distance.
    package enum Proximity: String, Hashable, Sendable {
        /// Less than half a metre.
        case immediate
        /// Less than three metres.
        case near
        /// Three metres and more.
        case far
        /// Without a measured power, or with fewer than three reports.
        case unknown
    }

    /// The reports that a distance wants.
    package static let leastReports = 3
    private static let immediateEnd = 0.5
    private static let nearEnd = 3.0

    /// The word.
    package let proximity: Proximity
    /// Metres: an estimate, wrong by a factor of two and more where somebody stands between; nil where it is unknown.
    package let metres: Double?

    /// The distance by the log-distance path loss: 10^((measured − heard) / (10 · exponent)) metres.
    ///
    /// `rssi` and `measuredPower` in dBm; an exponent of 2 is free space, 1.5 a corridor, 3 and more a room with people in it.
    package init(rssi: Double?, measuredPower: Int8?, reports: Int, exponent: Double) {
        guard let rssi, let measuredPower, reports >= Self.leastReports, exponent > 0 else {
            proximity = .unknown
            metres = nil
            return
        }
        let metres = pow(10, (Double(measuredPower) - rssi) / (10 * exponent))
        self.metres = metres
        proximity = metres < Self.immediateEnd ? .immediate : metres < Self.nearEnd ? .near : .far
    }
}
