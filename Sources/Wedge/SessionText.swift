// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Keystrokes

extension Session.State {
    /// The state in one sentence, for the terminal, the journal and the service manager (LK-24).
    package func sentence(_ choice: DeviceChoice?, _ reason: Reason?) -> String {
        let detail = reason.map { ": " + $0.cause + ($0.remedy.map { " (\($0))" } ?? "") } ?? ""
        let device = choice.map { "\($0)" } ?? "the device"
        return switch self {
        case .unselected: "no device is chosen: `blewedge use DEVICE`"
        case .connecting: "looking for \(device)\(detail)"
        case .connected: "connected to \(device): typing what it sends"
        case .lost: "the link to \(device) was lost\(detail); trying again in 3 s"
        case .disconnected: "disconnected from \(device): `blewedge connect`"
        case .failed: "no connection to \(device)\(detail); trying again"
        case .unsupported: "\(device) is left alone\(detail)"
        case .bluetoothOff: "Bluetooth is off\(detail); waiting for it"
        case .unauthorized: "not permitted\(detail)"
        }
    }
}

extension KeyboardService.Event {
    /// The event as programs are told of it; nil for what ends the program.
    package func object(_ choice: DeviceChoice?) -> JSONObject? {
        var object = JSONObject()
        switch self {
        case .keyboard(let node):
            object.add("event", "keyboard")
            object.add("node", node)
        case .state(let state, let device, let reason):
            object.add("event", "state")
            object.add("state", state.rawValue)
            object.add("device", choice.map { "\($0)" })
            object.add("address", device.map { "\($0.address)" })
            object.add("addressType", device.map { "\($0.type)" })
            object.add("reason", reason?.cause)
            object.add("remedy", reason?.remedy)
        case .keyboardFailed: return nil
        }
        return object
    }
}

extension KeyboardService.Counts {
    /// What became of every byte, and what else was counted.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("notifications", notifications)
        for (name, count) in [
            ("received", bytes.received), ("typed", bytes.typed), ("discarded", bytes.discarded),
            ("rejected", bytes.rejected), ("gated", bytes.gated), ("lost", bytes.lost), ("waiting", bytes.waiting),
        ] { object.add(name, count) }
        for (name, count) in causes { object.add(name, count) }
        object.add("dropped", dropped)
        object.add("stray", strayValues)
        object.add("verified", check?.verified)
        object.add("differing", check?.differing)
        object.add("readerDropped", check?.dropped)
        return object
    }

    /// The bytes rejected and lost, by cause.
    package var causes: [(name: String, count: UInt64)] {
        Ledger.Rejection.allCases.map { ("\($0)", bytes.rejected($0)) }
            + Ledger.Loss.allCases.map { ("\($0)", bytes.lost($0)) }
    }
}
