// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import Link
package import Texts
package import Typing

extension KeyboardService {
    /// The counts since the start.
    package struct Counts: Sendable {
        /// What the device has sent.
        package var values = ValueCounts()
        /// Keyboards that were made after the first, each because the one before it was gone.
        package var keyboardRemakes: UInt64 = 0
        /// The bytes' account.
        package var bytes = Ledger.Snapshot()
        /// The counts of the self-check; nil without one.
        package var check: SelfCheck.Counts?
        /// What each reader of the other end than the keyboard took and missed; nil where the keyboard types.
        package var wire: WireCounts?

        /// Nothing has come yet.
        package init() {}
    }
}

extension KeyboardService.Counts {
    /// The counts as a JSON object: of every byte's outcome, and all others.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("notifications", values.notifications)
        for (name, count) in [
            ("received", bytes.received), ("typed", bytes.typed), ("discarded", bytes.discarded),
            ("rejected", bytes.rejected), ("gated", bytes.gated), ("lost", bytes.lost), ("waiting", bytes.waiting),
        ] { object.add(name, count) }
        for (name, count) in causes { object.add(name, count) }
        object.add("dropped", values.dropped)
        object.add("stray", values.stray)
        object.add("oversized", values.tooLong)
        object.add("refused", values.refused)
        object.add("keyboardRemakes", keyboardRemakes)
        object.add("missed", wire?.missed)
        object.add("verified", check?.verified)
        object.add("differing", check?.differing)
        object.add("readerDropped", check?.dropped)
        return object
    }

    /// The bytes withheld, rejected and lost, by cause.
    package var causes: [(name: String, count: UInt64)] {
        [("withheld", bytes.withheld)]
            + Ledger.Rejection.allCases.map { ("\($0)", bytes.rejected($0)) }
            + Ledger.Loss.allCases.map { ("\($0)", bytes.lost($0)) }
    }
}
