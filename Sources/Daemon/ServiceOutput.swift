// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
package import Keystrokes
package import Link
package import Texts
package import Typing

/// One of the outputs of a `KeyboardService`: its typist, and the end that gets the typed lines.
package struct ServiceOutput {
    package let keyboard: VirtualKeyboard
    /// Nil for the keyboard.
    package let text: TextOutput?

    package var account: OutputAccount {
        OutputAccount(
            name: text?.name ?? "keyboard",
            isGated: keyboard.isGated,
            policy: text?.end.policy.rawValue,
            bytes: keyboard.bytes,
            readers: text?.listener?.counts
        )
    }
}

/// Account of one output among several.
package struct OutputAccount: Sendable {
    /// Destination, as configured.
    package var name: String
    package var isGated: Bool
    /// Policy for slow readers; nil for the keyboard.
    package var policy: String?
    package var bytes: Ledger.Snapshot
    /// Counts of the clients; nil for the keyboard and the hook.
    package var readers: OutputCounts?

    /// Account in the form of `status`.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("to", name)
        object.add("followsGate", isGated)
        object.add("slowReader", policy)
        var counts = bytes.object
        counts.add("missed", readers?.missed)
        object.add("counts", counts)
        if let readers { object.add("readers", readers.objects) }
        return object
    }
}
