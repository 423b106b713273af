// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import Link
package import Texts
import Typing

extension AccountText {
    /// The counts of every byte's outcome, and of the events that were read back, in lines for people.
    package static func lines(_ counts: KeyboardService.Counts, _ language: Language) -> [String] {
        let bytes = counts.bytes
        let numbers = [
            bytes.received, counts.values.notifications, bytes.typed, bytes.discarded, bytes.rejected, bytes.gated,
            bytes.lost,
            bytes.waiting,
        ]
        let causes = counts.causes.filter { $0.count > 0 }.map { name, count in
            cause.text(language, LabelText(rawValue: name)?.text(language) ?? name, "\(count)")
        }
        var lines = [
            Self.bytes.text(language, with: numbers.map { "\($0)" })
                + (causes.isEmpty ? "" : Self.causes.text(language, causes.joined(separator: ", ")))
                + dropped.text(language, "\(counts.values.dropped)")
                + (counts.wire.map { missed.text(language, "\($0.missed)") } ?? "")
        ]
        if let check = counts.check {
            lines.append(readBack.text(language, "\(check.verified)", "\(check.differing)", "\(check.dropped)"))
        }
        return lines
    }
}
