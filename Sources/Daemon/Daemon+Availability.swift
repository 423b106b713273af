// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothLE
import Control
import Texts

// Whether beacons can be watched (SW-2): answered at once, and told when it changes.

extension Daemon {
    /// Takes what has become of the adapter.
    func take(_ event: AdapterCore.Event) {
        switch event {
        case .ready:
            beaconHindrance = nil
            advertiser.begin()
        case .failed(let error): beaconHindrance = BeaconAvailability(error)
        case .lost(let loss):
            beaconHindrance = BeaconAvailability(loss)
            advertiser.adapterLost()
        }
        noteAvailability()
    }

    /// Takes why the adapter may not be used.
    func take(refusal: CommandFailure) {
        beaconHindrance = BeaconAvailability(refused: refusal)
        noteAvailability()
    }

    /// Tells clients whether beacons can be watched, where that is another answer than the last.
    func noteAvailability() {
        let last = availability.state
        availability = currentAvailability
        if availability.state != last { publish(availabilityEvent) }
    }

    private var currentAvailability: BeaconAvailability {
        let monitor = beacons.monitor
        // Whoever has no use for beacons is not told of their radio.
        if monitor.watched.isEmpty, monitor.regions.isEmpty { return .unconfigured }
        return beaconHindrance ?? beacons.failure.flatMap { BeaconAvailability($0) } ?? .possible
    }

    /// What a client is told that follows the events.
    var availabilityEvent: JSONObject {
        var object = JSONObject()
        object.add("event", "beaconAvailability")
        object.add(membersOf: availability.members)
        object.addForms(availability.forms)
        return object
    }
}
