// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
package import BluetoothHost
package import BluetoothPackets
import Control
package import Devices
import HIDReports
package import Keystrokes
package import Link
import LinuxIO
package import SensorValues
package import Texts
package import Typing

/// State of a daemon at one moment, as returned by `status`.
package struct DaemonStatus: Sendable {
    package var state: Session.State
    package var reason: Reason?
    package var since: Duration
    /// Selector of the daemon's device; nil if no device is selected.
    package var choice: DeviceSelector?
    /// Security level required for typing the device's values; nil if no device is selected.
    package var requiredSecurity: GATTLinkSecurity.Level?
    /// Address at which the device was heard; nil if it has not been heard.
    package var device: DeviceAddress?
    package var adapter: String?
    /// Path of the keyboard's event node.
    package var keyboard: String?
    /// Profile, layout, table and program version, as text.
    package var labels: DaemonLabels
    package var isPaused: Bool
    /// Reason why the gate is closed; nil while it is open.
    package var gate: Reason?
    package var counts: KeyboardService.Counts
    /// Facts about the link; nil if no link is ready.
    package var link: LinkFacts?
    /// Counts of links since the start, and counts of the reasons why links ended.
    package var links = LinkCounts()
    /// Counts of radio faults and recoveries since the start.
    package var radio = RadioCounts()
    /// Age and length of the last received value, never its contents (D-6); nil before the first.
    package var lastReceived: (ago: Duration, length: Int)?
    /// Programs that conflict with this one; nil if the processes of other users are hidden.
    package var rivals: [String]?
    /// Reason why the selected device could not be read from its file or saved to it; nil if that succeeded.
    package var choiceFault: Reason?
    /// Permissions that the configuration grants beyond text, Tab, Enter and Backspace: further keys and beacon
    /// actions.
    ///
    /// It is nil if there are none.
    package var allows: Message?
    /// Summary of beacon activity; nil if beacons have not been used.
    package var beacons: JSONObject?
    /// States of the devices, with their names in the configuration; empty if there is one device without a name.
    package var devices: [(name: String, status: DaemonStatus)] = []

    package var object: JSONObject { object(of: nil) }

    /// State as a JSON object; with the `name` of a device, only the members that concern the device.
    private func object(of name: String?) -> JSONObject {
        let isWhole = name == nil
        var object = JSONObject()
        object.add("name", name)
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
        if isWhole { object.add("adapter", adapter) }
        object.add("keyboard", keyboard)
        object.add("profile", labels.profile)
        object.add("layout", labels.layout)
        object.add("table", labels.table)
        if isWhole {
            add("allows", allows)
            object.add("paused", isPaused)
            object.add("gate", gate == nil ? "open" : "closed")
            add("gateReason", gate?.cause)
            add("gateRemedy", gate?.remedy)
        }
        object.add("counts", counts.object)
        if let reports = counts.values.reportsObject { object.add("keyReports", reports) }
        if let values = counts.numbers?.object { object.add("values", values) }
        if let early = counts.values.early.object { object.add("earlyValues", early) }
        object.add("link", link?.object)
        object.add("links", links.object)
        if isWhole { object.add("radio", JSONObject(radio)) }
        if let wire = counts.wire { object.add("readers", wire.objects) }
        if !counts.outputs.isEmpty { object.add("outputs", counts.outputs.map(\.object)) }
        if let lastReceived {
            var last = JSONObject()
            last.add("secondsAgo", lastReceived.ago.components.seconds)
            last.add("length", lastReceived.length)
            object.add("lastReceived", last)
        }
        if isWhole {
            object.add("beacons", beacons)
            if let rivals { object.add("rivals", rivals) }
            if !devices.isEmpty { object.add("devices", devices.map { $0.status.object(of: $0.name) }) }
        }
        add("selectionFault", choiceFault?.cause)
        add("selectionRemedy", choiceFault?.remedy)
        object.addForms(forms)
        guard isWhole else { return object }
        object.add("pid", ProcessFacts.number)
        object.add("name", DaemonLabels.name)
        object.add("program", labels.program)
        return object
    }
}

/// Daemon settings that `status` shows, as text.
package struct DaemonLabels: Sendable {
    package var profile: String
    package var layout: String
    package var table: String
    package var program: String

    /// Identifier of this program, without its version (SW-22).
    static let name = "blewedge"

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
        /// Counts of the numbers of a scale or sensor; nil if the device sends text.
        package var numbers: ValueAccount?
        /// Number of keyboards that were created to replace a removed one.
        package var keyboardRemakes: UInt64 = 0
        package var bytes = Ledger.Snapshot()
        /// Number of turns on a shared keyboard that were cut because another device waited (D-42).
        package var turnsCut: UInt64 = 0
        /// Counts of the self-check; nil if it is off.
        package var check: SelfCheck.Counts?
        /// Counts of the bytes delivered to and missed by each client of the first output; nil if that output is the
        /// keyboard.
        package var wire: OutputCounts?
        /// Counts of each output, including the first; empty if there is only one.
        package var outputs: [OutputAccount] = []

        /// Creates counts that are all zero.
        package init() {}
    }
}

extension KeyboardService.Counts {
    /// Counts as a JSON object: first the outcomes of all bytes, then the other counts.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("notifications", values.notifications)
        object.add(membersOf: bytes.object)
        object.add("dropped", values.dropped)
        object.add("stray", values.stray)
        object.add("oversized", values.tooLong)
        object.add("refused", values.refused)
        object.add("keyboardRemakes", keyboardRemakes)
        if turnsCut > 0 { object.add("turnsCut", turnsCut) }
        object.add("missed", wire?.missed)
        object.add("verified", check?.verified)
        object.add("differing", check?.differing)
        object.add("readerDropped", check?.dropped)
        return object
    }
}

extension ValueCounts {
    /// Counts of a keyboard's reports by outcome; nil if there were none.
    fileprivate var reportsObject: JSONObject? {
        guard reports.reports > 0 else { return nil }
        var object = JSONObject()
        object.add("received", reports.reports)
        for outcome in ReportOutcome.allCases { object.add("\(outcome)", reports[outcome]) }
        object.add("shorter", reports.shorter)
        object.add("longer", reports.longer)
        object.add("servicesChanged", keyboardChanges)
        return object
    }
}

extension ValueAccount {
    /// Counts of values by outcome as a JSON object.
    fileprivate var object: JSONObject {
        var object = JSONObject()
        object.add("received", sum)
        for outcome in ValueOutcome.allCases { object.add("\(outcome)", self[outcome]) }
        return object
    }
}

extension EarlyValues {
    /// Attoseconds of one millisecond, and of the longest time that is less than one.
    private static let unit = Duration.milliseconds(1).attoseconds
    private static let rest = unit - 1

    /// Counts as a JSON object, with the time rounded up to whole milliseconds; nil if all are zero.
    fileprivate var object: JSONObject? {
        guard refused > 0 || accepted > 0 else { return nil }
        var object = JSONObject()
        object.add("refusedEarly", refused)
        object.add("acceptedEarly", accepted)
        object.add("longestMilliseconds", longest.map { Int64(clamping: ($0.attoseconds + Self.rest) / Self.unit) })
        return object
    }
}

extension Ledger.Snapshot {
    /// Outcomes of all bytes, and the reasons why some were not typed, as a JSON object.
    var object: JSONObject {
        var object = JSONObject()
        for (name, count) in [
            ("received", received), ("typed", typed), ("discarded", discarded), ("rejected", rejected),
            ("gated", gated), ("lost", lost), ("waiting", waiting),
        ] { object.add(name, count) }
        for (name, count) in causes { object.add(name, count) }
        return object
    }

    /// Numbers of withheld, rejected and lost bytes, by reason.
    var causes: [(name: String, count: UInt64)] {
        [("withheld", withheld)]
            + Ledger.Rejection.allCases.map { ("\($0)", rejected($0)) }
            + Ledger.Loss.allCases.map { ("\($0)", lost($0)) }
    }
}

/// Finder of programs that also manage adapters; it caches its result.
///
/// Reading the list of processes takes long: without the cache, clients could block the loop with frequent status
/// requests.
struct ConflictingProcesses {
    /// Maximum age of a cached result.
    static let life = Duration.seconds(5)

    private let folder: String
    private var answer: (time: Duration, names: [String]?)?

    /// Creates a finder that reads the processes in `folder`.
    init(proc folder: String = "/proc") {
        self.folder = folder
    }

    /// Returns the names with their process numbers; nil if the processes of other users are hidden, as in the systemd
    /// service (ProtectProc=).
    mutating func names(now: Duration) -> [String]? {
        if let answer, now - answer.time < Self.life { return answer.names }
        // Process 1 belongs to root and always exists, so it is missing only if other users' processes are hidden.
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
