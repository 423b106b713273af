// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Devices
import Texts

/// Pairing requested through the control socket: its events and the client's answers are sent as lines (D-9).
final class PairingConversation: ControlConversation {
    private let pairer: DevicePairer

    init(_ pairer: DevicePairer) { self.pairer = pairer }

    func begin(_ say: @escaping (JSONObject, Bool) -> Void) {
        pairer.onEvent = { event in
            let event = PairingEvent(event)
            say(event.object, event.isLast)
        }
        pairer.begin()
    }

    func take(_ line: [UInt8]) throws(ControlFault) {
        pairer.answer(try PairingAnswer(line: line, to: pairer.question))
    }

    func cancel() { pairer.cancel() }
}
