// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Keystrokes

extension Session.State {
    /// The state in one sentence, for the terminal, the journal and the service manager (LK-24): what it is, why, and what
    /// can be done or happens next.
    package func sentence(
        _ choice: DeviceChoice?,
        _ reason: Reason?,
        in language: Language = .current
    ) -> String {
        let device = choice.map { "\($0)" } ?? PlainText.theDevice.text(language)
        return sentence(of: device, reason?.cause.text(language), reason?.remedy?.text(language), in: language)
    }

    /// The same of texts.
    package func sentence(of device: String, _ cause: String?, _ remedy: String?, in language: Language) -> String {
        let why = cause.map { ": " + $0 + (remedy.map { " (\($0))" } ?? "") } ?? ""
        // While all is well there is nothing to do.
        let next = self == .connected || self == .connecting ? "" : "; " + hint[language]
        return text(language, device) + why + next
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

extension AccountText {
    /// What became of every byte, and of the events that were read back, in lines for people.
    package static func lines(_ counts: KeyboardService.Counts, _ language: Language) -> [String] {
        let bytes = counts.bytes
        let numbers = [
            bytes.received, counts.notifications, bytes.typed, bytes.discarded, bytes.rejected, bytes.gated, bytes.lost,
            bytes.waiting,
        ]
        let causes = counts.causes.filter { $0.count > 0 }.map { name, count in
            cause.text(language, LabelText(rawValue: name)?.text(language) ?? name, "\(count)")
        }
        var lines = [
            Self.bytes.text(language, with: numbers.map { "\($0)" })
                + (causes.isEmpty ? "" : Self.causes.text(language, causes.joined(separator: ", ")))
                + dropped.text(language, "\(counts.dropped)")
        ]
        if let check = counts.check {
            lines.append(readBack.text(language, "\(check.verified)", "\(check.differing)", "\(check.dropped)"))
        }
        return lines
    }
}
