// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Configuration
import Control
package import Devices
package import Texts

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

    /// The sentence for a state, with the device's name, the cause and the remedy as texts; nil for those not known.
    package func sentence(of device: String, _ cause: String?, _ remedy: String?, in language: Language) -> String {
        let state = text(language, device)
        // While all is well there is nothing to do.
        let next = self == .connected || self == .connecting ? "" : "; " + hint[language]
        guard let cause else { return state + next }
        // A cause may begin with the words of the state.
        let why = cause.hasPrefix(state) ? cause : "\(state): \(cause)"
        return why + (remedy.map { " (\($0))" } ?? "") + next
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
        case .keyboardGone(let reason):
            object.add("event", "keyboardGone")
            object.add("reason", reason.cause)
            object.add("remedy", reason.remedy)
        case .keyboardFailed: return nil
        }
        return object
    }
}
