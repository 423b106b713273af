// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// A diagnosis that finds every cause of "nothing is typed" in the facts about the machine.
///
/// It is a pure function of the facts. The checks follow the path of the bytes; a fault that only follows from
/// another finding is left out.
package enum Doctor {
    /// The findings, those that block first, and within a severity in the order of the bytes' path.
    package static func findings(_ facts: SystemFacts) -> [Finding] {
        var findings = needs(facts)
        if findings.isEmpty { findings = radio(facts) }
        if facts.actsItself { findings += permissions(facts) }
        findings += keyboard(facts) + wishes(facts)
        findings += daemon(facts, explained: findings) + readers(facts) + kernel(facts)
        return Finding.Severity.allCases.flatMap { severity in findings.filter { $0.severity == severity } }
    }

    /// The findings as text for people.
    package static func text(_ findings: [Finding], _ language: Language) -> String {
        guard !findings.isEmpty else { return NoteText.nothingWrong.text(language) + "\n" }
        return findings.map { $0.text(language) }.joined(separator: "\n")
    }

    /// The exit status of a command with these findings: that of the first finding other than a note, success if
    /// there is none.
    package static func status(_ findings: [Finding]) -> ExitStatus {
        findings.first { $0.severity != .note }?.status ?? .success
    }

    /// The findings as one JSON object for programs, with the table of what the kernel has and the version of mbedTLS, which is
    /// linked in.
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

    /// The checks of the configuration and the chosen device.
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
}
