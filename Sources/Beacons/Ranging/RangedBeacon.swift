// SPDX-License-Identifier: GPL-2.0-or-later

/// A beacon in the list of a region that is ranged (SW-5).
package struct RangedBeacon: Equatable, Sendable {
    /// What it says it is.
    package let identity: BeaconIdentity
    /// The frame that was heard last.
    package let format: BeaconFrame.Format
    /// The strength in dBm: the median of the reports of the last 5 s, nine at most; nil where the controller told none.
    package let rssi: Int8?
    /// The strength at one metre in dBm, as the beacon says; nil where it tells none that can be.
    package let measuredPower: Int8?
    /// The number of reports that the strength is of.
    package let reports: Int
    /// How far away it seems.
    package let distance: BeaconDistance

    /// Nearest first; those of unknown distance behind them, the strongest first; then by identity.
    static func isNearer(_ one: RangedBeacon, _ other: RangedBeacon) -> Bool {
        switch (one.distance.metres, other.distance.metres) {
        case (let left?, let right?) where left != right: return left < right
        case (_?, nil): return true
        case (nil, _?): return false
        default: break
        }
        let (left, right) = (one.rssi.map(Int.init) ?? .min, other.rssi.map(Int.init) ?? .min)
        return left == right ? one.identity.description < other.identity.description : left > right
    }
}
