// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Control
import Daemon
import Devices
import Texts

/// The daemon's answer to `status`, with nothing in it that acts on a terminal.
struct TUIStatus: Equatable {
    var state: Session.State
    var reason: Reason?
    var seconds: Int64
    /// The chosen device as the user has named it; nil for none.
    var device: String?
    var chosen: TUIDevices.Device?
    var adapter: String?
    var keyboard: String?
    var profile: String
    var layout: String
    var table: String
    var isPaused: Bool
    var isTyping: Bool
    var gate: Reason?
    /// The counts of the answer.
    var counts: [Count]
    /// How long ago a value was received, in seconds, and its length (D-6).
    var lastReceived: (ago: Int64, length: Int64)?
    var rivals: [String]
    var choiceFault: Reason?

    struct Count: Equatable {
        var name: String
        var count: Int64
    }

    static func == (one: TUIStatus, other: TUIStatus) -> Bool {
        one.object == other.object
    }

    private let object: JSONValue

    /// Reads an answer; nil for one that has no state that this program knows.
    init?(_ answer: JSONValue) {
        func text(_ name: String) -> String? { answer[name]?.string.map(LocalName.printable) }
        func reason(_ cause: String, _ remedy: String) -> Reason? {
            answer.message(cause).map { Reason($0, remedy: answer.message(remedy)) }
        }
        guard let state = text("state").flatMap(Session.State.init) else { return nil }
        object = answer
        self.state = state
        self.reason = reason("reason", "remedy")
        seconds = answer["seconds"]?.integer ?? 0
        device = text("device")
        adapter = text("adapter")
        keyboard = text("keyboard")
        profile = text("profile") ?? ""
        layout = text("layout") ?? ""
        table = text("table") ?? ""
        isPaused = answer["paused"]?.bool ?? false
        isTyping = answer["gate"]?.string != "closed"
        gate = reason("gateReason", "gateRemedy")
        rivals = (answer["rivals"]?.array ?? []).compactMap { $0.string.map(LocalName.printable) }
        choiceFault = reason("selectionFault", "selectionRemedy")
        if let ago = answer["lastReceived"]?["secondsAgo"]?.integer,
            let length = answer["lastReceived"]?["length"]?.integer
        {
            lastReceived = (ago, length)
        }
        counts = []
        if case .object(let members)? = answer["counts"] {
            counts = members.compactMap { name, value in value.integer.map { Count(name: name, count: $0) } }
        }
        let kept = answer["selection"]
        let address = kept?["address"]?.string ?? text("address")
        chosen = address.flatMap { BluetoothAddress($0) }.map { address in
            TUIDevices.Device(
                address: address,
                type: (kept?["addressType"] ?? answer["addressType"])?.string ?? "",
                name: kept?["name"]?.string,
                rssi: nil,
                lastHeard: nil
            )
        }
        if device == nil { chosen = nil }
    }
}

extension Reason {
    /// The cause, and the remedy in brackets, for a line of a page: nothing in it acts on a terminal.
    func line(_ language: Language) -> String { LocalName.printable(message.text(language)) }
}
