// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import Control
package import Devices
package import Link
import LinuxIO
package import Texts

/// The state of a daemon at one moment, as it answers `status`.
package struct DaemonStatus: Sendable {
    package var state: Session.State
    package var reason: Reason?
    /// For how long it has been so.
    package var since: Duration
    /// Which device is meant; nil for none.
    package var choice: DeviceChoice?
    /// The security without which nothing of it is typed; nil without one.
    package var requiredSecurity: GATTLinkSecurity.Level?
    /// The device as it was heard; nil before it was.
    package var device: DeviceAddress?
    package var adapter: String?
    /// The keyboard's event node.
    package var keyboard: String?
    /// The profile, the layout, the table and the program's version, in words.
    package var labels: DaemonLabels
    package var isPaused: Bool
    /// Why nothing is typed; nil while what comes is typed.
    package var gate: Reason?
    package var counts: KeyboardService.Counts
    /// The link that is ready; nil without one.
    package var link: LinkFacts?
    /// The links since the start, and what ended them.
    package var links = LinkCounts()
    /// What was done so that the radio goes on, since the start.
    package var radio = RadioCounts()
    /// How long ago a value was received, and its length, never its contents (D-6); nil before the first.
    package var lastReceived: (ago: Duration, length: Int)?
    /// Programs that are in this one's way; nil where they cannot be seen.
    package var rivals: [String]?
    /// The reason why the choice could not be read or kept; nil where it could.
    package var choiceFault: Reason?
    /// What the keyboard may press beyond text, Tab, Enter and Backspace; nil for nothing.
    package var allows: Message?
    /// What is done about beacons; nil for nothing.
    package var beacons: JSONObject?

    package var object: JSONObject {
        var object = JSONObject()
        var forms: [(name: String, message: Message?)] = []
        func add(_ name: String, _ message: Message?) {
            object.add(name, message)
            forms.append((name, message))
        }
        object.add("state", state.rawValue)
        add("reason", reason?.cause)
        add("remedy", reason?.remedy)
        object.add("since", WallClock.universal(WallClock.seconds - Int(clamping: since.components.seconds)))
        object.add("seconds", since.components.seconds)
        object.add("device", choice.map { "\($0)" })
        object.add("address", device.map { "\($0.address)" })
        object.add("addressType", device.map { "\($0.type)" })
        object.add("selection", keptChoice)
        object.add("requiredSecurity", requiredSecurity?.word)
        object.add("adapter", adapter)
        object.add("keyboard", keyboard)
        object.add("profile", labels.profile)
        object.add("layout", labels.layout)
        object.add("table", labels.table)
        add("allows", allows)
        object.add("paused", isPaused)
        object.add("gate", gate == nil ? "open" : "closed")
        add("gateReason", gate?.cause)
        add("gateRemedy", gate?.remedy)
        object.add("counts", counts.object)
        object.add("link", link?.object)
        object.add("links", links.object)
        object.add("radio", JSONObject(radio))
        if let wire = counts.wire { object.add("readers", wire.objects) }
        if let lastReceived {
            var last = JSONObject()
            last.add("secondsAgo", lastReceived.ago.components.seconds)
            last.add("length", lastReceived.length)
            object.add("lastReceived", last)
        }
        object.add("beacons", beacons)
        if let rivals { object.add("rivals", rivals) }
        add("selectionFault", choiceFault?.cause)
        add("selectionRemedy", choiceFault?.remedy)
        object.addForms(forms)
        object.add("pid", ProcessFacts.number)
        object.add("program", labels.program)
        return object
    }

    private var keptChoice: JSONObject? {
        guard case .kept(let kept)? = choice else { return nil }
        return JSONObject(kept)
    }
}

/// The settings of a daemon that `status` shows, in words.
package struct DaemonLabels: Sendable {
    /// The profile, or several.
    package var profile: String
    package var layout: String
    package var table: String
    package var program: String

    package init(profile: String, layout: String, table: String, program: String) {
        self.profile = profile
        self.layout = layout
        self.table = table
        self.program = program
    }
}

extension JSONObject {
    /// What was done so that the radio goes on.
    init(_ radio: RadioCounts) {
        self.init()
        add("adapterOpened", radio.opened)
        add("adapterMoved", radio.moved)
        add("adapterLost", radio.lost)
        add("adapterRestarted", radio.restarts)
        add("scanArmed", radio.armed)
        add("scanQuiet", radio.quiet)
        add("scanDisturbed", radio.disturbed)
        add("scanFailed", radio.failedScans)
        add("socketsRebuilt", radio.rebuiltSockets)
        add("attemptsFailed", radio.failedAttempts)
        add("connectionsStalled", radio.stalledConnections)
        add("linksCrossed", radio.controllers.crossedLinks)
        add("stepsOverdue", radio.overdue)
        add("attemptsCancelled", radio.cancelledAttempts)
        add("resumed", radio.resumed)
        add("controllerProbes", radio.controllers.probes)
        add("resetsRepeated", radio.controllers.repeatedResets)
        add("connectionsRepeated", radio.controllers.repeatedConnections)
        add("bytesBeforeReset", radio.controllers.droppedBytes)
        add("parametersGranted", radio.controllers.grantedParameters)
        add("parametersRefused", radio.controllers.refusedParameters)
        add("framesBroken", radio.controllers.badFrames)
    }

    /// A choice, as programs are told of it.
    package init(_ choice: KeptChoice) {
        self.init()
        add("name", choice.name)
        add("address", "\(choice.device.address)")
        add("addressType", "\(choice.device.type)")
        add("security", choice.security.word)
    }
}
