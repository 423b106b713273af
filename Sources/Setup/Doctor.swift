// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

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

    /// The findings for people.
    package static func text(_ findings: [Finding], _ language: Language) -> String {
        guard !findings.isEmpty else { return NoteText.nothingWrong.text(language) + "\n" }
        return findings.map { $0.text(language) }.joined(separator: "\n")
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
            let command = "blewedge config check"
            findings.append(Finding(.configurationWrong, .configuration, of: path, reason, command: command))
        }
        let command = "blewedge use NAME"
        switch facts.choice {
        case .chosen: break
        case .none: findings.append(Finding(.nothingSelected, .configuration, command: command))
        case .unreadable(let path, let reason):
            findings.append(Finding(.selectionUnreadable, .configuration, of: path, reason, command: command))
        }
        return findings
    }

    /// What this kernel is known to do wrong.
    private static func kernel(_ facts: SystemFacts) -> [Finding] {
        guard facts.kernelRelease.hasPrefix("6.1.") else { return [] }
        return [Finding(.kernelQuirk, .success, .note, of: facts.kernelRelease)]
    }
}
