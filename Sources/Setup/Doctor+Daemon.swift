// SPDX-License-Identifier: GPL-2.0-or-later

import Texts
import Wedge

// The daemon, and what it says of itself.

extension Doctor {
    /// What the daemon's state adds to what is `explained` already.
    static func daemon(_ facts: SystemFacts, explained: [Finding]) -> [Finding] {
        let isBlocked = explained.contains { $0.severity == .blocks }
        switch facts.daemon {
        case .none:
            // It does not run for what was found, or cannot do anything while that lasts.
            return isBlocked ? [] : [notRunning(facts)]
        case .silent(let pid): return [silent(pid)]
        case .hidden: return [Finding(.daemonNotAskable, .success, .note, command: "sudo blewedge doctor")]
        case .running(let status): return gate(status) + account(status) + (isBlocked ? [] : session(status))
        }
    }

    private static func notRunning(_ facts: SystemFacts) -> Finding {
        Finding(
            .daemonNotRunning,
            .unavailable,
            remedy: facts.isServiceInstalled ? .startService : nil,
            command: facts.isServiceInstalled ? "systemctl start blewedge" : "blewedge setup"
        )
    }

    private static func silent(_ pid: Int32?) -> Finding {
        let process = pid.flatMap { $0 > 0 ? "\($0)" : nil }
        return Finding(
            .daemonSilent,
            .unavailable,
            of: process.map { FindingPartText.process.message($0) } ?? Message(detail: ""),
            command: process.map { "kill -KILL \($0)" } ?? "systemctl restart blewedge"
        )
    }

    /// Whether what is received may be typed.
    private static func gate(_ status: SystemFacts.Status) -> [Finding] {
        guard let pause = status.pause else { return [] }
        return [Finding(.paused, .unavailable, of: pause, command: "blewedge resume")]
    }

    /// What became of the bytes so far.
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

    /// What the session's state says, where nothing found before explains it.
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
            return [Finding(.deviceUnsupported, .configuration, of: device, reason, command: "blewedge gatt NAME")]
        case .bluetoothOff:
            return [Finding(.daemonOff, .unavailable, of: reason, command: "dmesg | grep -i bluetooth")]
        case .unauthorized: return [Finding(.daemonUnauthorized, .permission, of: reason, command: "blewedge setup")]
        }
    }
}
