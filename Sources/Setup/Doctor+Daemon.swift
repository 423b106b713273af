// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Daemon
import Devices
import Texts

// The checks of the daemon, by its own report.

extension Doctor {
    /// The findings from the daemon's state that the findings in `explained` do not imply.
    static func daemon(_ facts: SystemFacts, explained: [Finding]) -> [Finding] {
        let isBlocked = explained.contains { $0.severity == .blocks }
        switch facts.daemon {
        case .none:
            // A finding that blocks explains why the daemon does not run, or why running would not help.
            return isBlocked ? [] : [notRunning(facts)]
        case .silent(let pid): return [silent(pid, facts)]
        case .hidden: return [Finding(.daemonNotAskable, .success, .note, command: "sudo blewedge doctor")]
        case .running(let status):
            return gate(status) + account(status) + (isBlocked ? [] : session(status))
                + beacons(status, facts, isBlocked: isBlocked || status.isRadioUnusable) + keys(status)
        }
    }

    private static func notRunning(_ facts: SystemFacts) -> Finding {
        Finding(
            .daemonNotRunning,
            .unavailable,
            remedy: facts.isServiceInstalled ? .startService : nil,
            command: facts.startCommand
        )
    }

    private static func silent(_ pid: Int32?, _ facts: SystemFacts) -> Finding {
        let process = pid.flatMap { $0 > 0 ? "\($0)" : nil }
        let restart = facts.service == .systemd ? "systemctl restart blewedge" : nil
        return Finding(
            .daemonSilent,
            .unavailable,
            of: process.map { FindingPartText.process.message($0) } ?? Message(detail: ""),
            command: process.map { "kill -KILL \($0)" } ?? restart
        )
    }

    /// The finding of a closed gate.
    private static func gate(_ status: SystemFacts.Status) -> [Finding] {
        guard let pause = status.pause else { return [] }
        if pause == BeaconText.gateOutside.message() {
            return [Finding(.noBeaconNear, .unavailable, command: "blewedge beacons status")]
        }
        return [Finding(.paused, .unavailable, of: pause, command: "blewedge resume")]
    }

    /// The note of keys that leave or command an application.
    private static func keys(_ status: SystemFacts.Status) -> [Finding] {
        status.allows.map { [Finding(.keysBeyondText, .success, .note, of: $0, command: "blewedge config show")] } ?? []
    }

    /// The findings from the counters of received bytes.
    private static func account(_ status: SystemFacts.Status) -> [Finding] {
        if status.lost > 0 {
            return [
                Finding(
                    .bytesLost,
                    .inputOutput,
                    .hinders,
                    of: "\(status.lost)",
                    "\(status.received)",
                    command: "blewedge status"
                )
            ]
        }
        if status.received > 0, status.discarded == status.received {
            let command = "blewedge table show"
            return [Finding(.allDiscarded, .configuration, of: "\(status.received)", command: command)]
        }
        return []
    }

    /// The finding from the state of the session, for use when no other finding explains it.
    private static func session(_ status: SystemFacts.Status) -> [Finding] {
        let device = status.device.map { Message(detail: $0) } ?? PlainText.theDevice.message()
        let reason = status.reason.map { FindingPartText.because.message($0) } ?? Message(detail: "")
        switch status.state {
        case .connected, .connecting, .unselected: return []
        case .lost: return [Finding(.linkLost, .unavailable, .hinders, of: device, reason)]
        case .disconnected:
            return [Finding(.disconnectedByUser, .unavailable, of: device, command: "blewedge connect")]
        case .failed: return [Finding(.deviceNotReached, .unavailable, of: device, reason, command: "blewedge scan")]
        case .unsupported:
            var finding = Finding(.deviceUnsupported, .configuration, of: device, reason)
            // The reason says what the device offers, its remedy what can be done about that.
            if let remedy = status.remedy { finding.remedy = remedy }
            return [finding]
        case .bluetoothOff:
            return [Finding(.daemonOff, .unavailable, of: reason, command: "dmesg | grep -i bluetooth")]
        case .unauthorized: return [Finding(.daemonUnauthorized, .permission, of: reason, command: "blewedge setup")]
        }
    }
}
