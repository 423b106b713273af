// SPDX-License-Identifier: GPL-2.0-or-later

/// The regions that a server manages, as of the last update (SW-20).
package struct ManagedRegions: Equatable, Sendable {
    package struct Entry: Equatable, Sendable {
        package let region: BeaconRegion
        /// Display name; empty if there is none.
        package let name: String
        /// The server's word for the owner: `service`, `test`, `owned` or `third-party`.
        package let type: String
        /// The server's word for the kind of beacons: `static` or `dynamic`.
        package let beacons: String

        package init(_ region: BeaconRegion, name: String = "", type: String, beacons: String = "static") {
            (self.region, self.name, self.type, self.beacons) = (region, name, type, beacons)
        }
    }

    /// The effect that the last update had on a region.
    package enum Update: String, Hashable, Sendable, CaseIterable {
        case new
        case abandoned
        case unchanged
    }

    package private(set) var current: [Entry] = []
    /// Regions that the last update removed.
    package private(set) var abandoned: [Entry] = []
    /// Result of the last update, such as `has-new`; nil if there was no update.
    package private(set) var result: String?
    private var places: [BeaconRegion: Int] = [:]
    private var new: Set<BeaconRegion> = []

    package init() {}

    /// Creates a list; `new` contains those regions in `current` that the last update added.
    package init(_ current: [Entry], new: [BeaconRegion] = [], abandoned: [Entry] = [], result: String? = nil) {
        (self.current, self.abandoned, self.result) = (current, abandoned, result)
        self.new = Set(new)
        places = Dictionary(current.indices.map { (current[$0].region, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns a current region and the effect of the last update on it; nil if the server does not manage the region.
    package subscript(region: BeaconRegion) -> (entry: Entry, update: Update)? {
        places[region].map { (current[$0], new.contains(region) ? .new : .unchanged) }
    }
}
