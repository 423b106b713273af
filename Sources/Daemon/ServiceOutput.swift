// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
package import Keystrokes
package import Link
package import Texts
package import Typing

/// Output of a `KeyboardService`: its typist, and the destination of the typed lines.
package struct ServiceOutput {
    package let keyboard: VirtualKeyboard
    /// Destination of the typed lines; nil for the keyboard.
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

/// Counts of one output, if there are several outputs.
package struct OutputAccount: Sendable {
    /// Destination, as configured.
    package var name: String
    package var isGated: Bool
    /// Policy for slow readers; nil for the keyboard.
    package var policy: String?
    package var bytes: Ledger.Snapshot
    /// Counts of the clients; nil for the keyboard and the hook.
    package var readers: OutputCounts?

    /// Counts in the form used by `status`.
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
