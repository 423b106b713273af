// SPDX-License-Identifier: GPL-2.0-or-later

/// Finds every cause of "nothing is typed" in what is known of the machine.
///
/// Pure: facts in, findings out. The checks follow the way of the bytes, and what only follows from a cause that is found
/// already is not found again.
package enum Doctor {
    /// The findings, those first that block, and in the order of the bytes' way.
    package static func findings(_ facts: SystemFacts) -> [Finding] {
        var findings = radio(facts)
        if facts.actsItself { findings += permissions(facts) }
        findings += keyboard(facts) + wishes(facts)
        findings += daemon(facts, explained: findings) + readers(facts) + kernel(facts)
        return Finding.Severity.allCases.flatMap { severity in findings.filter { $0.severity == severity } }
    }

    /// What a command that found these ends with: success without any but notes, else as the first says.
    package static func status(_ findings: [Finding]) -> ExitStatus {
        findings.first { $0.severity != .note }?.status ?? .success
    }

    /// The findings for programs: one object.
    package static func object(_ findings: [Finding]) -> JSONObject {
        var object = JSONObject()
        object.add("version", 1)
        object.add("status", status(findings).rawValue)
        object.add("findings", findings.map(\.object))
        return object
    }

    /// What the machine's owner asked for: the configuration and the choice.
    private static func wishes(_ facts: SystemFacts) -> [Finding] {
        var findings: [Finding] = []
        if case .wrong(let path, let reason) = facts.configuration {
            findings.append(
                Finding(
                    .configurationWrong,
                    .configuration,
                    what: "the configuration \(path) is wrong: \(reason)",
                    why: "the daemon does not start with it, and one that runs keeps what it read before",
                    remedy: "mend the line, then check it",
                    command: "blewedge config check"
                )
            )
        }
        switch facts.selection {
        case .chosen: break
        case .none:
            findings.append(
                Finding(
                    .nothingSelected,
                    .configuration,
                    what: "no device is chosen",
                    why: "nothing is connected to that nobody chose",
                    remedy: "look for the device with `blewedge scan`, then choose it by its name or address",
                    command: "blewedge use NAME"
                )
            )
        case .unreadable(let path, let reason):
            findings.append(
                Finding(
                    .selectionUnreadable,
                    .configuration,
                    what: "the choice in \(path) cannot be read: \(reason)",
                    why: "after a restart nobody knows which device is meant",
                    remedy: "choose the device again, which writes the file anew",
                    command: "blewedge use NAME"
                )
            )
        }
        return findings
    }

    /// What this kernel is known to do wrong.
    private static func kernel(_ facts: SystemFacts) -> [Finding] {
        guard facts.kernelRelease.hasPrefix("6.1.") else { return [] }
        return [
            Finding(
                .kernelQuirk,
                .success,
                .note,
                what: "Linux \(facts.kernelRelease) belongs to a series in which a connection can break the kernel",
                why:
                    "an adapter that is unplugged while a connection is being made can leave a process that nothing ends",
                remedy: "use Linux 5.10, or 6.12 and later, where adapters come and go"
            )
        ]
    }
}
