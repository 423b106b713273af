// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
package import BluetoothHost
package import Configuration
package import Devices
import Keystrokes
package import Link
package import Typing

/// Settings of one device of a daemon, and its outputs other than the keyboard.
package struct DevicePlan {
    /// Name in the configuration; nil if the daemon has only one device, without a table.
    package var name: String?
    package var settings: KeyboardSettings
    package var texts: [TextOutput] = []
    package var hasOwnKeyboard = false
    /// Profile, layout and table, as shown by `status`; nil if the labels of the daemon apply.
    package var labels: DaemonLabels?

    package init(name: String? = nil, _ settings: KeyboardSettings, texts: [TextOutput] = []) {
        self.name = name
        self.settings = settings
        self.texts = texts
    }

    /// True if the device types on the shared keyboard if there is one.
    var sharesKeyboard: Bool { settings.hasKeyboard && !hasOwnKeyboard }
}

/// Device of a `KeyboardService`: its session, and the outputs on which its text is typed.
package final class ServiceDevice {
    /// Name in the configuration; nil if the service has only one device, without a table.
    package let name: String?
    package let session: DeviceSession
    /// Outputs of the device; each has its own typist, queues and counts, so that no output waits for another.
    package let outputs: [ServiceOutput]
    /// True if the device types on the keyboard that several devices share.
    let sharesKeyboard: Bool

    let settings: KeyboardSettings

    init(_ plan: DevicePlan, _ session: DeviceSession, _ outputs: [ServiceOutput], sharesKeyboard: Bool) {
        name = plan.name
        settings = plan.settings
        self.session = session
        self.outputs = outputs
        self.sharesKeyboard = sharesKeyboard
        for output in outputs {
            output.text?.join(output.keyboard)
            // Bytes for a device that is not connected are dropped, as with an unplugged cable.
            output.text?.listener?.onBytes = { [unowned session] bytes in try? session.send(bytes) }
        }
    }

    package var hasKeyboard: Bool { settings.hasKeyboard }

    /// Typist of the first output, which is the keyboard if the settings have one.
    package var keyboard: VirtualKeyboard { outputs[0].keyboard }

    /// Returns the security policy for selecting a device with the requested level.
    package func security(asked: GATTLinkSecurity.Level?) -> SecurityPolicy {
        SecurityPolicy(asked, least: settings.security)
    }

    package var counts: KeyboardService.Counts {
        var counts = KeyboardService.Counts()
        counts.values = session.values
        counts.numbers = session.numbers
        counts.keyboardRemakes = keyboard.remakes
        counts.bytes = keyboard.bytes
        counts.check = keyboard.check
        counts.turnsCut = keyboard.cutTurns
        counts.wire = outputs.first?.text.map { $0.listener?.counts ?? OutputCounts(readers: [], missedByGone: 0) }
        if outputs.count > 1 { counts.outputs = outputs.map(\.account) }
        return counts
    }
}
