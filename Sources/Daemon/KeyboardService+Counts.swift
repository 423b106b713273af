// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import Link
package import Texts
package import Typing

extension KeyboardService {
    /// The counts since the start.
    package struct Counts: Sendable {
        /// Notifications of the profile's characteristic.
        package var notifications: UInt64
        /// Values that nobody asked for: those of other handles.
        package var strayValues: UInt64
        /// Values that were longer than any link carries.
        package var tooLongValues: UInt64 = 0
        /// Values that came while the link was less secure than it has to be.
        package var refusedValues: UInt64 = 0
        /// Packets that the kernel dropped because they were not read in time.
        package var dropped: UInt64
        /// Keyboards that were made after the first, each because the one before it was gone.
        package var keyboardRemakes: UInt64 = 0
        /// The bytes' account.
        package var bytes: Ledger.Snapshot
        /// The counts of the self-check; nil without one.
        package var check: SelfCheck.Counts?
        /// What each reader of the other end than the keyboard took and missed; nil where the keyboard types.
        package var wire: WireCounts?
    }

    /// The link that is ready; nil without one.
    package var linkFacts: LinkFacts? { link.facts }

    /// The links that were ready, and what ended them.
    package var linkCounts: LinkCounts { link.counts }
}

extension KeyboardService.Counts {
    /// The counts as a JSON object: of every byte's outcome, and all others.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("notifications", notifications)
        for (name, count) in [
            ("received", bytes.received), ("typed", bytes.typed), ("discarded", bytes.discarded),
            ("rejected", bytes.rejected), ("gated", bytes.gated), ("lost", bytes.lost), ("waiting", bytes.waiting),
        ] { object.add(name, count) }
        for (name, count) in causes { object.add(name, count) }
        object.add("dropped", dropped)
        object.add("stray", strayValues)
        object.add("oversized", tooLongValues)
        object.add("refused", refusedValues)
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
