// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import Control
package import Devices
package import Keystrokes
package import Link
import LinuxIO
package import Texts
package import Typing

/// The state of a daemon at one moment, as it answers `status`.
package struct DaemonStatus: Sendable {
    package var state: Session.State
    package var reason: Reason?
    package var since: Duration
    /// Which device is meant; nil for none.
    package var choice: DeviceSelector?
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
        object.add(device)
        object.add("selection", choice?.kept.map { JSONObject($0) })
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
}

/// The settings of a daemon that `status` shows, in words.
package struct DaemonLabels: Sendable {
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
}

extension KeyboardService {
    package struct Counts: Sendable {
        package var values = ValueCounts()
        /// Keyboards that were made after the first, each because the one before it was gone.
        package var keyboardRemakes: UInt64 = 0
        package var bytes = Ledger.Snapshot()
        /// The counts of the self-check; nil without one.
        package var check: SelfCheck.Counts?
        /// What each reader of the other end than the keyboard took and missed; nil where the keyboard types.
        package var wire: OutputCounts?

        /// Nothing has come yet.
        package init() {}
    }
}

extension KeyboardService.Counts {
    /// The counts as a JSON object: of every byte's outcome, and all others.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("notifications", values.notifications)
        for (name, count) in [
            ("received", bytes.received), ("typed", bytes.typed), ("discarded", bytes.discarded),
            ("rejected", bytes.rejected), ("gated", bytes.gated), ("lost", bytes.lost), ("waiting", bytes.waiting),
        ] { object.add(name, count) }
        for (name, count) in causes { object.add(name, count) }
        object.add("dropped", values.dropped)
        object.add("stray", values.stray)
        object.add("oversized", values.tooLong)
        object.add("refused", values.refused)
        object.add("keyboardRemakes", keyboardRemakes)
        object.add("missed", wire?.missed)
        object.add("verified", check?.verified)
        object.add("differing", check?.differing)
        object.add("readerDropped", check?.dropped)
        return object
    }

    /// The bytes withheld, rejected and lost, by cause.
    package var causes: [(name: String, count: UInt64)] {
        [("withheld", bytes.withheld)]
            + Ledger.Rejection.allCases.map { ("\($0)", bytes.rejected($0)) }
            + Ledger.Loss.allCases.map { ("\($0)", bytes.lost($0)) }
    }
}

/// The programs that also manage adapters, looked for at most once in a while: the list of processes is long, and whoever
/// may ask for the status could keep the loop reading it.
struct ConflictingProcesses {
    /// How long an answer holds.
    static let life = Duration.seconds(5)

    private let folder: String
    private var answer: (time: Duration, names: [String]?)?

    /// Reads the processes in `folder`.
    init(proc folder: String = "/proc") {
        self.folder = folder
    }

    /// Their names with their process numbers; nil where other users' processes are hidden, as from the service
    /// (ProtectProc=).
    mutating func names(now: Duration) -> [String]? {
        if let answer, now - answer.time < Self.life { return answer.names }
        // The first process is root's, and always there.
        guard FileSystem.exists("\(folder)/1") else {
            answer = (now, nil)
            return nil
        }
        let names = FileSystem.names(in: folder).compactMap { name -> String? in
            guard let number = Int32(name), FileSystem.line(of: "\(folder)/\(name)/comm") == "bluetoothd" else {
                return nil
            }
            return "bluetoothd (process \(number))"
        }
        answer = (now, names)
        return names
    }
}
