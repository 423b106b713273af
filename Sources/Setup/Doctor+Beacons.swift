// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Texts

// The checks of beacons, by the daemon's own report (SW-2).

extension SystemFacts.Status {
    /// True if the session's state says that the daemon cannot use the radio.
    var isRadioUnusable: Bool { state == .bluetoothOff || state == .unauthorized }
}

extension Doctor {
    /// The findings from what the daemon says of beacons; a radio that `isBlocked` explains the rest.
    static func beacons(_ status: SystemFacts.Status, _ facts: SystemFacts, isBlocked: Bool) -> [Finding] {
        guard let beacons = status.beacons else { return [] }
        var findings: [Finding] = []
        if facts.watchesBeacons, beacons.watched == 0 {
            let command = "blewedge beacons regions"
            findings.append(Finding(.beaconsWithoutRegions, .configuration, .hinders, command: command))
        }
        guard !isBlocked else { return findings }
        let command = "blewedge beacons check"
        if beacons.watched > 0, let fault = beacons.fault {
            findings.append(Finding(.beaconsUnavailable, .unavailable, .hinders, of: fault, command: command))
        }
        if let fault = beacons.advertisingFault {
            findings.append(Finding(.beaconNotAdvertised, .unavailable, .hinders, of: fault, command: command))
        }
        return findings
    }
}
