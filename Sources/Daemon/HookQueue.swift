// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets

/// Notice of one or more events of the same kind, for which the user's command is run (CB-30).
package struct HookNotice: Equatable, Sendable {
    package enum Occasion: String, Sendable, CaseIterable {
        /// The device is connected, and its values can arrive.
        case connect
        case disconnect
        case received
        case beaconEntered = "beacon-entered"
        case beaconLeft = "beacon-left"
    }

    /// Region, and its most recently heard beacon.
    package struct Beacon: Equatable, Sendable {
        package var region: String
        package var identity: String
        /// Key code of the beacon; nil if it has none.
        package var keyCode: String?

        package init(region: String, identity: String, keyCode: String?) {
            self.region = region
            self.identity = identity
            self.keyCode = keyCode
        }
    }

    package var occasion: Occasion
    /// Number of events of this kind since the last notice.
    package var count: Int
    /// Number of bytes to write to the command's standard input.
    package var length: Int
    package var device: DeviceAddress?
    /// Name of the device in the configuration; nil if there is only one device, without a table.
    package var name: String?
    /// Cause of the event; nil if unknown.
    package var reason: String?
    package var beacon: Beacon?

    package init(
        _ occasion: Occasion,
        count: Int = 1,
        length: Int = 0,
        device: DeviceAddress? = nil,
        name: String? = nil,
        reason: String? = nil
    ) {
        self.occasion = occasion
        self.count = count
        self.length = length
        self.device = device
        self.name = name
        self.reason = reason
    }

    /// Environment variables of the command, which contain lengths and names, never received data.
    package var environment: [(name: String, value: String)] {
        var variables = [("EVENT", occasion.rawValue), ("COUNT", "\(count)"), ("LENGTH", "\(length)")]
        if let device { variables += [("ADDRESS", "\(device.address)"), ("ADDRESS_TYPE", "\(device.type)")] }
        if let name { variables.append(("DEVICE", name)) }
        if let reason { variables.append(("REASON", reason)) }
        if let beacon {
            variables += [("REGION", beacon.region), ("BEACON", beacon.identity)]
            if let code = beacon.keyCode { variables.append(("KEY_CODE", code)) }
        }
        return variables.map { (name: "BLEWEDGE_" + $0.0, value: $0.1) }
    }
}

/// Queue of notices for which the user's command is run, one at a time.
///
/// It is a pure state machine. At most one notice of each kind waits; later notices are merged into it. Notices are
/// removed in the order in which their kinds were last added, so that the last link notice always contains the current
/// state of the link.
package struct HookQueue: Sendable {
    /// Time limit of a command.
    package static let timeLimit = Duration.seconds(30)

    private let limit: Duration
    private var waiting: [HookNotice] = []
    /// Deadline of the running command; nil while no command runs.
    package private(set) var deadline: Duration?

    /// Creates an empty queue.
    package init(limit: Duration = timeLimit) {
        self.limit = limit
    }

    /// True if no command is running and no notice is waiting.
    package var isIdle: Bool { deadline == nil && waiting.isEmpty }

    /// Appends a notice, merged with the waiting notice of the same kind, if any.
    package mutating func add(_ notice: HookNotice) {
        var notice = notice
        if let position = waiting.firstIndex(where: { $0.occasion == notice.occasion }) {
            let earlier = waiting.remove(at: position)
            notice.count = Self.sum(notice.count, earlier.count)
            notice.length = Self.sum(notice.length, earlier.length)
        }
        waiting.append(notice)
    }

    /// Removes and returns the next notice to run the command for; nil while a command runs, or if no notice is
    /// waiting.
    package mutating func next(now: Duration) -> HookNotice? {
        guard deadline == nil, !waiting.isEmpty else { return nil }
        deadline = now + limit
        return waiting.removeFirst()
    }

    /// Records that the command has ended, or could not be run.
    package mutating func ended() {
        deadline = nil
    }

    private static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}
