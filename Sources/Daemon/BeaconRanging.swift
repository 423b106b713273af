// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
package import Control
import LinuxIO
import Texts

/// Ranging for clients (SW-5).
///
/// A region is ranged while at least one client waits for the list of its beacons.
final class BeaconRanging {
    private let service: BeaconService
    private let loop: EventLoop
    /// Number of clients that wait for the list of each region.
    private var waiting: [BeaconRegion: Int] = [:]

    /// Creates the ranging service, initially without regions.
    init(_ service: BeaconService, on loop: EventLoop) {
        self.service = service
        self.loop = loop
    }

    /// Ranges the regions of a place for a given time, and replies with the beacons heard in each region.
    func range(
        _ place: BeaconRequest.Place,
        for time: Duration,
        withoutDesignated: Bool,
        _ reply: @escaping (Result<JSONObject, CommandFailure>) -> Void
    ) {
        let regions = service.monitor.regions(of: place)
        guard !regions.isEmpty else {
            return reply(.failure(CommandFailure(.unavailable, BeaconFaultText.nothingToWatch, place.word)))
        }
        var begun: [BeaconRegion] = []
        let isRanged = service.change { monitor in
            regions.allSatisfy { region in
                guard monitor.range(region, now: MonotonicClock.now) else { return false }
                begun.append(region)
                waiting[region, default: 0] += 1
                return true
            }
        }
        guard isRanged else {
            service.change { monitor in for region in begun { unrange(region, &monitor) } }
            let most = "\(BeaconMonitor.mostRanged)"
            return reply(.failure(CommandFailure(.unavailable, BeaconFaultText.tooManyRanged, most)))
        }
        _ = loop.schedule(at: MonotonicClock.now + time) { [weak self] in
            guard let self else { return }
            reply(.success(endRanging(begun, withoutDesignated: withoutDesignated)))
        }
    }

    private func endRanging(_ regions: [BeaconRegion], withoutDesignated: Bool) -> JSONObject {
        service.change { monitor in
            var objects: [JSONObject] = []
            for region in regions {
                let list = monitor.list(region, now: MonotonicClock.now)
                var object = JSONObject()
                object.add("region", "\(region)")
                object.add(
                    "beacons",
                    list.filter { !withoutDesignated || monitor.designated[$0.identity] == nil }
                        .map { JSONObject($0, in: monitor) }
                )
                objects.append(object)
                unrange(region, &monitor)
            }
            var answer = JSONObject()
            answer.add("ranged", objects)
            answer.add("counts", JSONObject(monitor.counters))
            return answer
        }
    }

    /// Stops ranging a region if no other client waits for its list.
    private func unrange(_ region: BeaconRegion, _ monitor: inout BeaconMonitor) {
        let others = (waiting[region] ?? 1) - 1
        waiting[region] = others > 0 ? others : nil
        if others <= 0 { _ = monitor.unrange(region) }
    }
}

extension BeaconMonitor {
    /// Returns the regions that an argument of `range` selects.
    package func regions(of place: BeaconRequest.Place) -> [BeaconRegion] {
        switch place {
        case .statics: catalogue.file.staticRegions.map(\.region)
        case .dynamics: catalogue.file.dynamicRegions.map(\.region)
        case .region(let region): [region]
        }
    }
}
