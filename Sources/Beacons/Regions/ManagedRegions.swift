// SPDX-License-Identifier: GPL-2.0-or-later

/// Regions of a server, as its last update left them (SW-20).
package struct ManagedRegions: Equatable, Sendable {
    package struct Entry: Equatable, Sendable {
        package let region: BeaconRegion
        /// Display name; empty if there is none.
        package let name: String
        /// Word of the server for the owner: `service`, `test`, `owned` or `third-party`.
        package let type: String
        /// Word of the server for the beacons: `static` or `dynamic`.
        package let beacons: String

        package init(_ region: BeaconRegion, name: String = "", type: String, beacons: String = "static") {
            (self.region, self.name, self.type, self.beacons) = (region, name, type, beacons)
        }
    }

    /// Change of a region by the last update.
    package enum Update: String, Hashable, Sendable, CaseIterable {
        case new
        case abandoned
        case unchanged
    }

    package private(set) var current: [Entry] = []
    /// Regions that the last update removed.
    package private(set) var abandoned: [Entry] = []
    /// Result of the last update, such as `has-new`; nil if there was none.
    package private(set) var result: String?
    private var places: [BeaconRegion: Int] = [:]
    private var new: Set<BeaconRegion> = []

    package init() {}

    /// Creates a list; `new` are those of `current` that the last update added.
    package init(_ current: [Entry], new: [BeaconRegion] = [], abandoned: [Entry] = [], result: String? = nil) {
        (self.current, self.abandoned, self.result) = (current, abandoned, result)
        self.new = Set(new)
        places = Dictionary(current.indices.map { (current[$0].region, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns a current region and its change; nil if the server does not manage it.
    package subscript(region: BeaconRegion) -> (entry: Entry, update: Update)? {
        places[region].map { (current[$0], new.contains(region) ? .new : .unchanged) }
    }
}
