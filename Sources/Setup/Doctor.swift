// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import Control
import Daemon
import Devices
import LinuxIO
package import Texts

/// The diagnosis that finds every cause of "nothing is typed" in the facts about the machine.
///
/// It is a pure function of the facts. The checks follow the path of the bytes; a fault that is only a consequence of
/// another finding is omitted.
package enum Doctor {
    /// Returns the findings by severity, blocking ones first.
    ///
    /// Findings of equal severity are in the order of the stages that the bytes pass through.
    package static func findings(_ facts: SystemFacts) -> [Finding] {
        var findings = needs(facts)
        if findings.isEmpty { findings = radio(facts) }
        if facts.actsItself { findings += permissions(facts) }
        findings += keyboard(facts) + wishes(facts)
        findings += daemon(facts, explained: findings) + readers(facts) + kernel(facts)
        return Finding.Severity.allCases.flatMap { severity in findings.filter { $0.severity == severity } }
    }

    package static func text(_ findings: [Finding], _ language: Language) -> String {
        guard !findings.isEmpty else { return LogText.nothingWrong.text(language) + "\n" }
        return findings.map { $0.text(language) }.joined(separator: "\n")
    }

    /// Returns the exit status for the first finding that is not a note; success if there is none.
    package static func status(_ findings: [Finding]) -> ExitStatus {
        findings.first { $0.severity != .note }?.status ?? .success
    }

    /// Returns the findings as one JSON object for programs.
    ///
    /// It also contains the kernel's features and the version of the linked mbedTLS.
    package static func object(
        _ findings: [Finding],
        kernel table: [JSONObject] = [],
        mbedTLS: String? = nil
    ) -> JSONObject {
        var object = JSONObject()
        object.add("version", 1)
        object.add("status", status(findings).rawValue)
        object.add("findings", findings.map(\.object))
        if !table.isEmpty { object.add("kernel", table) }
        object.add("mbedTLS", mbedTLS)
        return object
    }

    /// Returns all causes that can be found, each with its effect and remedy; `…` stands for values of the machine.
    package static func causes(_ language: Language) -> String {
        causes().map { id, what, why, remedy in
            "\(id): \(what.text(language))\n" + LogText.why.text(language, why.text(language)) + "\n"
                + LogText.toMend.text(language, remedy.text(language)) + "\n"
        }.joined(separator: "\n")
    }

    /// Returns the same as one JSON object for programs.
    package static func causesObject() -> JSONObject {
        let causes = causes().map { id, what, why, remedy in
            var object = JSONObject()
            object.add("id", id)
            object.add("what", what)
            object.add("why", why)
            object.add("remedy", remedy)
            return object
        }
        var object = JSONObject()
        object.add("version", 1)
        object.add("causes", causes)
        return object
    }

    private static func causes() -> [(id: String, what: Message, why: Message, remedy: Message)] {
        let values = [any MessageArgument](repeating: "…", count: 9)
        return Finding.Cause.allCases.map { cause in
            let text = cause.text
            let parts = [text.what, text.why, text.remedy].map { Message($0, id: nil, values) }
            return (cause.rawValue, parts[0], parts[1], parts[2])
        }
    }

    /// Checks the configuration and the selected device.
    private static func wishes(_ facts: SystemFacts) -> [Finding] {
        var findings: [Finding] = []
        if case .wrong(let path, let reason) = facts.configuration {
            let command = "blewedge config check"
            findings.append(Finding(.configurationWrong, .configuration, of: path, reason, command: command))
        }
        let command = "blewedge use NAME"
        switch facts.choice {
        case .chosen:
            if let device = facts.legacyBond {
                findings.append(Finding(.legacyBond, .permission, of: device, command: "blewedge forget \(device)"))
            }
        case .none: findings.append(Finding(.nothingSelected, .configuration, command: command))
        case .unreadable(let path, let reason):
            findings.append(Finding(.selectionUnreadable, .configuration, of: path, reason, command: command))
        }
        return findings
    }

    // Checks of the daemon, based on the daemon's own report.

    /// Returns the findings from the daemon's state, except those that the findings in `explained` already explain.
    static func daemon(_ facts: SystemFacts, explained: [Finding]) -> [Finding] {
        let isBlocked = explained.contains { $0.severity == .blocks }
        switch facts.daemon {
        case .none:
            // A blocking finding explains why the daemon does not run, or why running it would not help.
            return isBlocked ? [] : [notRunning(facts)]
        case .silent(let pid): return [silent(pid, facts)]
        case .hidden: return [Finding(.daemonNotAskable, .success, .note, command: "sudo blewedge doctor")]
        case .running(let status):
            return gate(status) + account(status) + early(status) + (isBlocked ? [] : session(status))
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

    private static func gate(_ status: SystemFacts.Status) -> [Finding] {
        guard let pause = status.pause else { return [] }
        if pause == BeaconText.gateOutside.message() {
            return [Finding(.noBeaconNear, .unavailable, command: "blewedge beacons status")]
        }
        return [Finding(.paused, .unavailable, of: pause, command: "blewedge resume")]
    }

    /// Returns a note if the keyboard may press keys that leave or control an application.
    private static func keys(_ status: SystemFacts.Status) -> [Finding] {
        status.allows.map { [Finding(.keysBeyondText, .success, .note, of: $0, command: "blewedge config show")] } ?? []
    }

    /// Returns the findings from the daemon's counts of received bytes.
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

    /// Values of `early-reports` that the doctor suggests, in milliseconds; the last is the largest that is allowed.
    private static let earlyTimes: [Int64] = [50, 100, 200, 500, 1000]

    /// Returns the finding about an adapter that delivered values before the encryption of their link (D-41).
    private static func early(_ status: SystemFacts.Status) -> [Finding] {
        guard status.early.refused > 0 else { return [] }
        let longest = status.early.longest
        let time = earlyTimes.first { $0 >= longest ?? 0 }
        return [
            Finding(
                .valuesBeforeEncryption,
                .inputOutput,
                .hinders,
                of: status.adapter ?? "-",
                "\(status.early.refused)",
                longest.map { FindingPartText.earlyBy.message("\($0)") } ?? Message(detail: ""),
                "\(time ?? 0)",
                remedy: time == nil ? .otherAdapter : nil,
                command: "blewedge status"
            )
        ]
    }

    /// Returns the finding about a failed attempt, by its reason.
    private static func failed(_ status: SystemFacts.Status, _ device: Message, _ reason: Message) -> Finding {
        let address = status.address ?? "ADDRESS"
        if status.reason?.says(LinkFaultText.noBond) == true {
            return Finding(.deviceNotPaired, .permission, of: device, command: "blewedge pair \(address)")
        }
        if status.reason?.says(LinkFaultText.keyboardNotHeard) == true {
            return Finding(.keyboardSilent, .unavailable, .hinders, of: device, command: "blewedge scan")
        }
        if status.reason?.says(LinkFaultText.keyboardRefusesKeys) == true {
            return Finding(.keyboardRefusesKeys, .permission, of: device, command: "blewedge forget \(address)")
        }
        var finding = Finding(.deviceNotReached, .unavailable, of: device, reason, command: "blewedge scan")
        finding.remedy = status.remedy ?? finding.remedy
        return finding
    }

    /// Returns the finding from the session's state; call it only if no other finding explains that state.
    private static func session(_ status: SystemFacts.Status) -> [Finding] {
        let device = status.device.map { Message(detail: $0) } ?? PlainText.theDevice.message()
        let reason = status.reason.map { FindingPartText.because.message($0) } ?? Message(detail: "")
        switch status.state {
        case .connected, .connecting, .unselected: return []
        case .lost: return [Finding(.linkLost, .unavailable, .hinders, of: device, reason)]
        case .disconnected:
            return [Finding(.disconnectedByUser, .unavailable, of: device, command: "blewedge connect")]
        case .failed: return [failed(status, device, reason)]
        case .unsupported:
            var finding = Finding(.deviceUnsupported, .configuration, of: device, reason)
            // The reason already says what the device offers, so use its remedy instead of the general one.
            if let remedy = status.remedy { finding.remedy = remedy }
            return [finding]
        case .bluetoothOff:
            return [Finding(.daemonOff, .unavailable, of: reason, command: "dmesg | grep -i bluetooth")]
        case .unauthorized: return [Finding(.daemonUnauthorized, .permission, of: reason, command: "blewedge setup")]
        }
    }
}

// Checks of beacons, based on the daemon's own report (SW-2).

extension SystemFacts.Status {
    /// True if the state of the session shows that the daemon cannot use the radio.
    var isRadioUnusable: Bool { state == .bluetoothOff || state == .unauthorized }
}

extension Doctor {
    /// Returns the findings from the daemon's beacon status.
    ///
    /// If `isBlocked` is true, findings that a blocked radio explains are omitted.
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

    // Checks of the kernel's features.

    /// Returns the findings about indispensable kernel features that are missing.
    ///
    /// A missing feature would also cause all other findings about the radio.
    static func needs(_ facts: SystemFacts) -> [Finding] {
        let needed: [KernelFeature] = facts.usesKernelController ? [.epoll, .management] : [.epoll]
        return needed.filter(facts.lacks).prefix(1).map { finding(.kernelUnfit, .unavailable, .blocks, [$0]) }
    }

    /// Returns the findings about known faults of this kernel version, and about useful features that it lacks.
    static func kernel(_ facts: SystemFacts) -> [Finding] {
        // Omit event nodes, because they have a finding of their own.
        let missed = KernelFeature.allCases.filter { $0.weight == .missed && $0 != .evdev && facts.lacks($0) }
        var findings = missed.isEmpty ? [] : [finding(.kernelLacks, .success, .note, missed)]
        // The user channel and H4 do not use the kernel's channels.
        guard facts.usesKernelChannels, let version = facts.kernelVersion else { return findings }
        switch ChannelFault(version) {
        case .absent: break
        case .present: findings.append(Finding(.kernelQuirk, .unavailable, .hinders, of: version.text))
        case .unknown: findings.append(Finding(.kernelQuirkPossible, .success, .note, of: version.text))
        }
        return findings
    }

    private static func finding(
        _ cause: Finding.Cause,
        _ status: ExitStatus,
        _ severity: Finding.Severity,
        _ features: [KernelFeature]
    ) -> Finding {
        Finding(
            cause,
            status,
            severity,
            of: Message.list(features.map(\.rawValue)),
            Message.listed(features.map { $0.message() }),
            Message.list(features.map(\.since))
        )
    }

    /// Returns the table of kernel features, with one row for each feature; empty if the kernel was not probed.
    package static func table(_ facts: SystemFacts) -> [JSONObject] {
        KernelFeature.allCases.compactMap { feature in facts.kernel[feature].map { feature.row($0) } }
    }
}
