// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Control
import Daemon
import Devices
import Texts

/// The daemon's answer to `beacons status`, with nothing in it that acts on a terminal.
struct TUIBeacons {
    /// A region that is watched.
    struct Region {
        /// Its name, or else itself.
        var label: String
        var isInside: Bool
        /// How long ago a beacon of it was heard, in seconds; nil for never.
        var ago: Int64?
    }

    /// A designated beacon.
    struct Designated {
        var code: String
        var beacon: String
        var isSwitcher: Bool
    }

    /// Why no beacons can be watched; nil where they can.
    var hindrance: Reason?
    /// How many regions are known, watched and inside.
    var known: Int64
    var watched: Int
    var inside: Int
    /// Those of the watched regions that the daemon tells, in its order.
    var regions: [Region]
    /// The names of the actions, each with what it does.
    var actions: [String]
    var designated: [Designated]
    /// What the daemon does to be a beacon, which, and why it is none.
    var advertising: BeaconAdvertiser.State
    var advertised: String
    var advertisingFault: Reason?
    /// How many reports came, how many of them were a beacon's, and the events that no controller should send.
    var reports: Int64
    var heard: Int64
    var badEvents: Int64

    /// Reads an answer; what is missing in it is none, or 0.
    init(_ answer: JSONValue) {
        func reason(_ cause: String, _ remedy: String) -> Reason? {
            answer.message(cause).map { Reason($0, remedy: answer.message(remedy)) }
        }
        func text(_ value: JSONValue, _ name: String) -> String { LocalName.printable(value[name]?.string ?? "") }
        func list(_ name: String) -> [JSONValue] { answer[name]?.array ?? [] }
        func count(_ name: String) -> Int64 { answer["counts"]?[name]?.integer ?? 0 }
        hindrance = reason("availabilityCause", "availabilityRemedy")
        known = answer["known"]?.integer ?? 0
        watched = list("watched").count
        inside = list("inside").count
        regions = list("sightings").map { region in
            let name = text(region, "name")
            return Region(
                label: name.isEmpty ? text(region, "region") : name,
                isInside: region["inside"]?.bool ?? false,
                ago: region["secondsAgo"]?.integer
            )
        }
        actions = list("actions").map { "\(text($0, "name")) (\(text($0, "do")))" }
        designated = list("designated").map { beacon in
            Designated(
                code: text(beacon, "code"),
                beacon: text(beacon, "beacon"),
                isSwitcher: beacon["switcher"]?.bool ?? false
            )
        }
        advertising = answer["advertising"]?.string.flatMap(BeaconAdvertiser.State.init) ?? .off
        advertised = text(answer, "advertised")
        advertisingFault = reason("advertisingFault", "advertisingRemedy")
        reports = count("reports")
        heard = count("heard")
        badEvents = count("badEvents")
    }
}
