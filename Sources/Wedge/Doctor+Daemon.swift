// SPDX-License-Identifier: GPL-2.0-or-later

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
        case .hidden:
            return [
                Finding(
                    .daemonNotAskable,
                    .success,
                    .note,
                    what: "a daemon runs, and this process may not ask it what it does",
                    why: "what only the daemon knows is not looked at",
                    remedy: "run it as root, or as a member of the daemon's group",
                    command: "sudo blewedge doctor"
                )
            ]
        case .running(let status):
            return gate(status) + account(status) + (isBlocked ? [] : session(status))
        }
    }

    private static func notRunning(_ facts: SystemFacts) -> Finding {
        Finding(
            .daemonNotRunning,
            .unavailable,
            what: "no daemon runs",
            why: "it is the daemon that connects and types",
            remedy: facts.isServiceInstalled
                ? "start the service; `journalctl -u blewedge -b` says why it ended"
                : "run it by hand with `blewedge run`, or install it as a service",
            command: facts.isServiceInstalled ? "systemctl start blewedge" : "blewedge setup"
        )
    }

    private static func silent(_ pid: Int32?) -> Finding {
        let process = pid.flatMap { $0 > 0 ? "\($0)" : nil }
        return Finding(
            .daemonSilent,
            .unavailable,
            what: "the daemon\(process.map { " (process \($0))" } ?? "") is there, and does not answer",
            why: "one process owns an adapter, and this one does nothing that could be seen",
            remedy: "end it; the service starts anew by itself",
            command: process.map { "kill -KILL \($0)" } ?? "systemctl restart blewedge"
        )
    }

    /// Whether what is received may be typed.
    private static func gate(_ status: SystemFacts.Status) -> [Finding] {
        guard let pause = status.pause else { return [] }
        return [
            Finding(
                .paused,
                .unavailable,
                what: "typing is paused: \(pause)",
                why: "what is received meanwhile is discarded and counted, and never typed later",
                remedy: "resume it, or bring the terminal to the front that `gate.vt` names",
                command: "blewedge resume"
            )
        ]
    }

    /// What became of the bytes so far.
    private static func account(_ status: SystemFacts.Status) -> [Finding] {
        if status.lost > 0 {
            return [
                Finding(
                    .bytesLost,
                    .inputOutput,
                    .hinders,
                    what: "\(status.lost) of \(status.received) bytes were lost",
                    why:
                        "the device sends faster than is typed, or the machine stalled for longer than is provided for",
                    remedy: "state a shorter stall or another pace, and see `blewedge status` for where they were lost",
                    command: "blewedge status"
                )
            ]
        }
        if status.received > 0, status.discarded == status.received {
            return [
                Finding(
                    .allDiscarded,
                    .configuration,
                    what: "all \(status.received) bytes received were discarded or rejected",
                    why: "the table types none of what the device sends",
                    remedy: "choose a table that does, or the device's own format; see what each byte does",
                    command: "blewedge table show"
                )
            ]
        }
        return []
    }

    /// What the session's state says, where nothing found before explains it.
    private static func session(_ status: SystemFacts.Status) -> [Finding] {
        let device = status.device ?? "the device"
        let reason = status.reason.map { ": \($0)" } ?? ""
        switch status.state {
        case .connected, .connecting, .unselected: return []
        case .lost:
            return [
                Finding(
                    .linkLost,
                    .unavailable,
                    .hinders,
                    what: "the link to \(device) was lost\(reason)",
                    why: "nothing is received until it is there again; it is tried for ever",
                    remedy: "bring the device nearer, and see that it is on"
                )
            ]
        case .disconnected:
            return [
                Finding(
                    .disconnectedByUser,
                    .unavailable,
                    what: "\(device) was disconnected by command",
                    why: "only a command connects it again",
                    remedy: "connect",
                    command: "blewedge connect"
                )
            ]
        case .failed:
            return [
                Finding(
                    .deviceNotReached,
                    .unavailable,
                    what: "\(device) cannot be reached\(reason)",
                    why: "nothing is received until it is connected; it is tried for ever",
                    remedy: "see that it is on, near, advertising, and connected to nobody else",
                    command: "blewedge scan"
                )
            ]
        case .unsupported:
            return [
                Finding(
                    .deviceUnsupported,
                    .configuration,
                    what: "\(device) does not offer what the profile wants\(reason)",
                    why: "it is left alone, and looked at again every ten minutes",
                    remedy: "choose another profile or device; see what this one offers",
                    command: "blewedge gatt NAME"
                )
            ]
        case .bluetoothOff:
            return [
                Finding(
                    .daemonOff,
                    .unavailable,
                    what: "the daemon says that Bluetooth is off\(reason)",
                    why: "it tries again by itself every few seconds",
                    remedy: "see what the kernel says of the adapter, and restart the daemon if it stays so",
                    command: "dmesg | grep -i bluetooth"
                )
            ]
        case .unauthorized:
            return [
                Finding(
                    .daemonUnauthorized,
                    .permission,
                    what: "the daemon lacks a permission\(reason)",
                    why: "it can neither scan nor type without",
                    remedy: "run it as root, or as the service that `blewedge setup` installs",
                    command: "blewedge setup"
                )
            ]
        }
    }
}
