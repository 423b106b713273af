// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Daemon
package import Texts

extension TextTable {
    /// The table of all texts of the program.
    package static let whole =
        daemon + TextTable([FindingPartText.self, Finding.Severity.self, KernelFeature.self])
        + TextTable(
            "Finding.Cause",
            Finding.Cause.allCases.map { cause in
                let text = cause.text
                return Entry(
                    id: "Finding.\(cause)",
                    texts: [("what", text.what), ("why", text.why), ("remedy", text.remedy)].map {
                        ("Finding.\(cause).\($0)", $1)
                    }
                )
            }
        )
}
