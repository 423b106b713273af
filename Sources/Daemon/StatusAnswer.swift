// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets
package import Control
package import Devices
import Keystrokes
package import Texts

/// Daemon's answer to `status` (`DaemonStatus.object`), parsed by clients.
///
/// Control characters are removed, so that the texts are safe to print.
package struct StatusAnswer: Equatable, Sendable {
    package var state: SessionState
    package var reason: Reason?
    /// Time in the current state, in seconds.
    package var seconds: Int64
    /// Selected device as the user named it; nil if no device is selected.
    package var device: String?
    /// Selected device as saved or, if it is not saved, as heard.
    package var selection: SelectedDevice?
    /// Device that was heard or is connected; nil if none was heard.
    package var heard: DeviceAddress?
    /// Devices that are connected.
    package var connected: [DeviceAddress]
    package var adapter: String?
    package var keyboard: String?
    package var profile: String
    package var layout: String?
    package var table: String
    /// Permissions beyond text, such as further keys, as a message; nil if there are none.
    package var allows: Message?
    package var isPaused: Bool
    package var isTyping: Bool
    package var gate: Reason?
    package var counts: [Count]
    /// Counts of the values that arrived before the encryption.
    package var early = Early()
    /// True if the text goes to other programs instead of a keyboard.
    package var hasReaders: Bool
    /// Age in seconds and length in bytes of the last value, never its contents (D-6); nil before the first.
    package var lastReceived: LastReceived?
    /// Facts about the link; nil if no link is ready.
    package var link: Link?
    package var rivals: [String]
    package var choiceFault: Reason?
    package var process: Int32?

    package struct Count: Equatable, Sendable {
        package var name: String
        package var count: Int64
    }

    package struct Link: Equatable, Sendable {
        /// Signal strength of the device, in dBm.
        package var rssi: Int?
        /// Name of the security level, as in `LabelText`.
        package var security: String?
        package var mtu: Int?
    }

    package struct Early: Equatable, Sendable {
        /// Number of refused values.
        package var refused: UInt64 = 0
        /// Longest time before the encryption, in milliseconds; nil if it is not known.
        package var longest: Int64?

        package init() {}
    }

    package struct LastReceived: Equatable, Sendable {
        package var ago: Int64
        package var length: Int64
    }

    /// Parses an answer; returns nil if it contains a state that this program does not know.
    package init?(_ answer: JSONValue) {
        func text(_ name: String) -> String? { answer[name]?.string.map(LocalName.printable) }
        guard let state = text("state").flatMap(SessionState.init) else { return nil }
        self.state = state
        reason = answer.reason("reason", "remedy")
        seconds = answer["seconds"]?.integer ?? 0
        device = text("device")
        selection = answer["selection"].flatMap(SelectedDevice.init(answer:)) ?? SelectedDevice(answer: answer)
        heard = DeviceAddress(answer: answer)
        let devices = answer["devices"]?.array ?? [answer]
        connected = devices.filter { $0["state"]?.string == SessionState.connected.rawValue }
            .compactMap { DeviceAddress(answer: $0) }
        adapter = text("adapter")
        keyboard = text("keyboard")
        profile = text("profile") ?? ""
        layout = text("layout")
        table = text("table") ?? ""
        allows = answer.message("allows")
        isPaused = answer["paused"]?.bool ?? false
        isTyping = answer["gate"]?.string != "closed"
        gate = answer.reason("gateReason", "gateRemedy")
        hasReaders = answer["readers"] != nil
        rivals = (answer["rivals"]?.array ?? []).compactMap { $0.string.map(LocalName.printable) }
        choiceFault = answer.reason("selectionFault", "selectionRemedy")
        if let last = answer["lastReceived"], let ago = last["secondsAgo"]?.integer,
            let length = last["length"]?.integer
        {
            lastReceived = LastReceived(ago: ago, length: length)
        }
        if let facts = answer["link"] {
            link = Link(
                rssi: facts["rssi"]?.integer.flatMap { Int(exactly: $0) },
                security: facts["security"]?.string.map(LocalName.printable),
                mtu: facts["mtu"]?.integer.flatMap { Int(exactly: $0) }
            )
        }
        counts = []
        if case .object(let members)? = answer["counts"] {
            counts = members.compactMap { name, value in value.integer.map { Count(name: name, count: $0) } }
        }
        if let values = answer["earlyValues"] {
            early.refused = values["refusedEarly"]?.integer.flatMap { UInt64(exactly: $0) } ?? 0
            early.longest = values["longestMilliseconds"]?.integer
        }
        process = answer["pid"]?.integer.flatMap { Int32(exactly: $0) }
    }

    /// Returns the counter with this name; 0 if the answer lacks it.
    package func count(_ name: String) -> UInt64 {
        counts.first { $0.name == name }.flatMap { UInt64(exactly: $0.count) } ?? 0
    }
}

/// Daemon's answer to `beacons status`, parsed by clients.
///
/// Control characters are removed, so that the texts are safe to print.
package struct BeaconsAnswer: Sendable {
    package struct Region: Sendable {
        /// Name of the region, or its identifiers if it has no name.
        package var label: String
        package var isInside: Bool
        /// Time since a beacon of the region was last heard, in seconds; nil if none has been heard.
        package var ago: Int64?
    }

    package struct Designated: Sendable {
        package var code: String
        package var beacon: String
        package var isSwitcher: Bool
    }

    /// Reason why beacons cannot be watched; nil if they can.
    package var hindrance: Reason?
    /// Number of known regions, and number of watched regions.
    package var known: Int64
    package var watched: Int
    /// Regions that we are inside.
    package var inside: [String]
    /// Watched regions that the daemon reports, in the order of the answer.
    package var regions: [Region]
    package var actions: [String]
    package var designated: [Designated]
    /// State of advertising as a beacon, the advertised identity, and the reason if advertising failed.
    package var advertising: BeaconAdvertiser.State
    package var advertised: String
    package var advertisingFault: Reason?
    /// Counts of advertising reports, of reports from beacons, and of malformed events.
    package var reports: Int64
    package var heard: Int64
    package var badEvents: Int64

    /// Parses an answer; a missing member counts as empty or 0.
    package init(_ answer: JSONValue) {
        func text(_ value: JSONValue, _ name: String) -> String { LocalName.printable(value[name]?.string ?? "") }
        func list(_ name: String) -> [JSONValue] { answer[name]?.array ?? [] }
        func count(_ name: String) -> Int64 { answer["counts"]?[name]?.integer ?? 0 }
        hindrance = answer.reason("availabilityCause", "availabilityRemedy")
        known = answer["known"]?.integer ?? 0
        watched = list("watched").count
        inside = list("inside").map { LocalName.printable($0.string ?? "") }
        regions = list("sightings").map { region in
            let name = text(region, "name")
            return Region(
                label: name.isEmpty ? text(region, "region") : name,
                isInside: region["inside"]?.bool ?? false,
                ago: region["secondsAgo"]?.integer
            )
        }
        actions = list("actions").map { "\(text($0, "name")) (\(text($0, "do")))" }
        designated = Self.designated(answer)
        advertising = answer["advertising"]?.string.flatMap(BeaconAdvertiser.State.init) ?? .off
        advertised = text(answer, "advertised")
        advertisingFault = answer.reason("advertisingFault", "advertisingRemedy")
        reports = count("reports")
        heard = count("heard")
        badEvents = count("badEvents")
    }

    /// Returns the designated beacons listed in an answer.
    package static func designated(_ answer: JSONValue) -> [Designated] {
        (answer["designated"]?.array ?? []).map { beacon in
            Designated(
                code: LocalName.printable(beacon["code"]?.string ?? ""),
                beacon: LocalName.printable(beacon["beacon"]?.string ?? ""),
                isSwitcher: beacon["switcher"]?.bool ?? false
            )
        }
    }
}

extension ControlClient {
    /// Requests the daemon's status; returns nil if it contains a state that this program does not know.
    package mutating func status(patience: Duration = ControlClient.patience) throws(CommandFailure) -> StatusAnswer? {
        StatusAnswer(try ask(.status, patience: patience).value)
    }
}
