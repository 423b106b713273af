// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE

/// Something that a user's command is told of (CB-30), or several of a kind as one.
package struct HookNotice: Equatable, Sendable {
    package enum Occasion: String, Sendable, CaseIterable {
        /// The device is connected, and its values arrive.
        case connect
        case disconnect
        case received
        case beaconEntered = "beacon-entered"
        case beaconLeft = "beacon-left"
    }

    /// A region, and the beacon of it that was heard last.
    package struct Beacon: Equatable, Sendable {
        package var region: String
        package var identity: String
        /// Its key code; nil where it has none.
        package var keyCode: String?

        package init(region: String, identity: String, keyCode: String?) {
            self.region = region
            self.identity = identity
            self.keyCode = keyCode
        }
    }

    package var occasion: Occasion
    /// How often it happened since the last notice of its kind.
    package var count: Int
    /// The bytes that were received, of all of them.
    package var length: Int
    package var device: DeviceAddress?
    /// Why, where that is known.
    package var reason: String?
    package var beacon: Beacon?

    package init(
        _ occasion: Occasion,
        count: Int = 1,
        length: Int = 0,
        device: DeviceAddress? = nil,
        reason: String? = nil
    ) {
        self.occasion = occasion
        self.count = count
        self.length = length
        self.device = device
        self.reason = reason
    }

    /// The variables of the command's environment: lengths and names, never contents.
    package var environment: [(name: String, value: String)] {
        var variables = [("EVENT", occasion.rawValue), ("COUNT", "\(count)"), ("LENGTH", "\(length)")]
        if let device { variables += [("ADDRESS", "\(device.address)"), ("ADDRESS_TYPE", "\(device.type)")] }
        if let reason { variables.append(("REASON", reason)) }
        if let beacon {
            variables += [("REGION", beacon.region), ("BEACON", beacon.identity)]
            if let code = beacon.keyCode { variables.append(("KEY_CODE", code)) }
        }
        return variables.map { (name: "BLEWEDGE_" + $0.0, value: $0.1) }
    }
}

/// Which notice the user's command is run for next: one at a time, the rest joined by their kind.
///
/// A pure state machine. At most one notice of each kind waits; they come out in the order in which each kind was last
/// heard of, so that the last link notice always says how the link stands.
package struct HookQueue: Sendable {
    /// How long a command may run.
    package static let timeLimit = Duration.seconds(30)

    private var waiting: [HookNotice] = []
    /// When the command that runs has run too long; nil while none runs.
    package private(set) var deadline: Duration?

    /// A queue in which nothing waits.
    package init() {}

    /// True when nothing runs and nothing waits.
    package var isIdle: Bool { deadline == nil && waiting.isEmpty }

    /// Puts a notice behind the others, joined with the one of its kind that waits.
    package mutating func add(_ notice: HookNotice) {
        var notice = notice
        if let position = waiting.firstIndex(where: { $0.occasion == notice.occasion }) {
            let earlier = waiting.remove(at: position)
            notice.count = Self.sum(notice.count, earlier.count)
            notice.length = Self.sum(notice.length, earlier.length)
        }
        waiting.append(notice)
    }

    /// The notice to run the command for now; nil while it runs, and when nothing waits.
    package mutating func next(now: Duration) -> HookNotice? {
        guard deadline == nil, !waiting.isEmpty else { return nil }
        deadline = now + Self.timeLimit
        return waiting.removeFirst()
    }

    /// The command has ended, or could not be run.
    package mutating func ended() {
        deadline = nil
    }

    private static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}
