// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// Events that the daemon sends to clients, with the names of their members.
///
/// The help of `blewedge events` is generated from this table. The manual describes each member; Tests/Manual compares it
/// with the help.
package enum ControlEvent: String, Sendable, CaseIterable {
    case keyboard
    case keyboardGone
    case state
    case gate
    case received
    case region
    case watching
    case advertising
    case beaconAvailability
    case contact

    /// Name of the member that counts the events skipped before this one; every event may have it.
    package static let missedName = "missed"

    /// Names of all members that the event may have, without `event`, `missed` and the translatable texts.
    package var members: [String] {
        switch self {
        case .keyboard: ["name", "node"]
        case .keyboardGone: ["name", "reason", "remedy"]
        case .state: ["name", "state", "device", "address", "addressType", "reason", "remedy"]
        case .gate: ["open", "paused", "reason"]
        case .received: ["name", "notifications", "bytes"]
        case .region: ["change", "region", "name", "kinds", "beacon", "keyCode"]
        case .watching: ["on", "regions", "switcher"]
        case .advertising: ["advertising", "advertised", "format", "advertisingFault", "advertisingRemedy"]
        case .beaconAvailability: ["available", "availability", "availabilityCause", "availabilityRemedy"]
        case .contact: ["region", "name", "result"]
        }
    }

    /// Events with their members, in two columns of at most 80 characters together.
    package static var listing: String {
        let width = (allCases.map(\.rawValue.count).max() ?? 0) + 4
        var lines: [String] = []
        for event in allCases {
            let name = "  " + event.rawValue
            lines.append(name + String(repeating: " ", count: width - name.count))
            for (index, member) in event.members.enumerated() {
                let word = member + (index == event.members.count - 1 ? "" : ", ")
                if let last = lines.last, last.count + member.count > 79 {
                    lines[lines.count - 1] = String(last.dropLast())
                    lines.append(String(repeating: " ", count: width))
                }
                lines[lines.count - 1] += word
            }
        }
        return lines.joined(separator: "\n")
    }

    /// Returns true if the table contains the event and all its members.
    static func lists(_ object: JSONObject) -> Bool {
        guard case .object(let members)? = try? JSONValue(Array(object.text.utf8)),
            let event = members.first(where: { $0.name == "event" })?.value.string.flatMap(ControlEvent.init)
        else { return false }
        let known = event.members + ["event", missedName, JSONObject.formsName]
        return members.allSatisfy { known.contains($0.name) }
    }
}

extension JSONObject {
    /// Creates an event without members.
    package init(event: ControlEvent) {
        self.init()
        add("event", event.rawValue)
    }
}
