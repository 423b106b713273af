// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
import BluetoothAdapters
package import Configuration
import Control
import Devices
package import Texts

extension JSONObject {
    /// Describes a ranged beacon (SW-5, SW-6); `keyCode` and `metres` are present only if they are known.
    package init(_ beacon: RangedBeacon, in monitor: BeaconMonitor) {
        self.init()
        add("beacon", "\(beacon.identity)")
        add("format", beacon.format.rawValue)
        add("rssi", beacon.rssi)
        add("reports", beacon.reports)
        add("measuredPower", beacon.measuredPower)
        add("proximity", beacon.distance.proximity.rawValue)
        add("metres", beacon.distance.metres.map { JSONValue.real(($0 * 100).rounded() / 100) })
        add("segment", beacon.identity.segment)
        add("keyCode", monitor.catalogue.keyCode(of: beacon.identity))
        add("designated", monitor.designated[beacon.identity] != nil)
    }

    /// Describes a watched region and its last sighting; the time since then is in seconds, rounded down.
    package init(_ sighting: RegionWatch.Sighting, in monitor: BeaconMonitor, now: Duration) {
        self.init()
        add("region", "\(sighting.region)")
        add("name", monitor.catalogue.name(of: sighting.region))
        add("inside", sighting.isInside)
        guard let beacon = sighting.beacon else { return }
        add("secondsAgo", (now - sighting.last).components.seconds)
        add("beacon", "\(beacon)")
    }

    package init(_ event: BeaconMonitor.Event, in monitor: BeaconMonitor) {
        switch event {
        case .region(let notice):
            self.init(event: .region)
            add("change", notice.change.rawValue)
            add("region", "\(notice.region)")
            add("name", monitor.catalogue.name(of: notice.region))
            add("kinds", monitor.kinds(of: notice.region).words)
            add("beacon", "\(notice.beacon)")
            add("keyCode", monitor.catalogue.keyCode(of: notice.beacon))
        case .switched(let beacon, let isOn, let regions):
            self.init(event: .watching)
            add("on", isOn)
            add("regions", regions)
            add("switcher", "\(beacon)")
        case .ranged(let region, let beacons):
            self.init()
            add("event", "beacons")
            add("region", "\(region)")
            add("beacons", beacons.map { JSONObject($0, in: monitor) })
        }
    }

    /// Describes an action that is configured for entering and leaving a region (D-30).
    package init(_ action: BeaconAction) {
        self.init()
        add("name", action.name)
        add("region", "\(action.region)")
        add("do", action.deed.rawValue)
    }

    package init(_ counters: BeaconMonitor.Counters) {
        self.init()
        add("reports", counters.reports)
        add("heard", counters.beacons)
        add("badEvents", counters.badEvents)
        add("leftOut", counters.leftOut)
        add("displaced", counters.displaced)
        add("regionsLeftOut", counters.regionsLeftOut)
    }

    /// Describes a designated beacon (SW-9).
    package init(_ beacon: DesignatedBeacons.Beacon) {
        self.init()
        add("code", beacon.keyCode)
        add("beacon", "\(beacon.identity)")
        add("segment", beacon.identity.segment)
        add("switcher", beacon.isSwitcher)
    }

    /// Describes all known regions (SW-3, SW-20).
    ///
    /// The object also contains the result of the server's last update and the regions that this update removed.
    package init(regionsOf monitor: BeaconMonitor) {
        self.init()
        let managed = monitor.catalogue.managed
        add("regions", monitor.regions.map { JSONObject($0, in: monitor) })
        add("update", managed.result)
        add(
            "abandoned",
            managed.abandoned.map { entry in
                var object = JSONObject()
                object.add("region", "\(entry.region)")
                object.add("name", entry.name.isEmpty ? nil : entry.name)
                object.add(entry, .abandoned)
                return object
            }
        )
    }

    private mutating func add(_ entry: ManagedRegions.Entry, _ update: ManagedRegions.Update) {
        add("type", entry.type)
        add("beacons", entry.beacons)
        add("update", update.rawValue)
    }

    /// Describes a known region and its kinds (SW-3).
    package init(_ region: BeaconRegion, in monitor: BeaconMonitor) {
        self.init()
        add("region", "\(region)")
        add("name", monitor.catalogue.name(of: region))
        add("kinds", monitor.kinds(of: region).words)
        if let (entry, update) = monitor.catalogue.managed[region] { add(entry, update) }
        add("watched", monitor.isWatched(region))
        add("inside", monitor.isInside(region))
    }

    /// Describes the result of a designation (SW-8) as a number and a text.
    package init(_ answer: DesignatedBeacons.Answer, in monitor: BeaconMonitor) {
        self.init()
        add("answer", answer.rawValue)
        add("note", answer.message)
        add("remedy", answer.remedy)
        addForms([("note", answer.message), ("remedy", answer.remedy)])
        add("designated", monitor.designated.beacons.map { JSONObject($0) })
    }
}

extension DesignatedBeacons.Answer {
    package var message: Message {
        let text: BeaconText =
            switch self {
            case .all: .all
            case .limitReached: .limitReached
            case .noAdapter: .noAdapter
            case .noRegion: .noRegion
            case .noCodes: .noCodes
            case .unfitRegion: .unfitRegion
            case .unfitCode: .unfitCode
            case .tooMany: .tooMany
            case .notKept: .notKept
            case .noOptions: .noOptions
            }
        return text.message()
    }

    /// Advice to the user; nil if all beacons were designated.
    package var remedy: Message? {
        let text: BeaconRemedyText? =
            switch self {
            case .all: nil
            case .limitReached: .limitReached
            case .noAdapter: .noAdapter
            case .noRegion: .noRegion
            case .noCodes: .noCodes
            case .unfitRegion: .unfitRegion
            case .unfitCode: .unfitCode
            case .tooMany: .tooMany
            case .notKept: .notKept
            case .noOptions: .noOptions
            }
        return text?.message()
    }
}
