// SPDX-License-Identifier: GPL-2.0-or-later

/// A line, or part of a line, for the output clients.
///
/// Its outcome is reported when the last holder has released it. It counts as delivered if at least one client has
/// received all of it.
package final class OutputLine {
    package let bytes: [UInt8]
    /// Number of received bytes from which the line was made.
    package private(set) var cost: Int
    /// True if this is the beginning of a line; false if it continues the previous part.
    package let begins: Bool
    /// True if this is the end of a line.
    package let ends: Bool

    private let onOutcome: (_ isDelivered: Bool, _ cost: Int) -> Void
    private var holders = 1
    private var isTaken = false

    /// Creates a line whose only holder is the caller.
    package init(
        _ bytes: [UInt8],
        cost: Int,
        begins: Bool = true,
        ends: Bool = true,
        onOutcome: @escaping (_ isDelivered: Bool, _ cost: Int) -> Void
    ) {
        self.bytes = bytes
        self.cost = cost
        self.begins = begins
        self.ends = ends
        self.onOutcome = onOutcome
    }

    func hold() { holders += 1 }

    /// Releases the line for one holder; `isTaken` is true if that holder has received all of the line.
    package func letGo(isTaken: Bool) {
        if isTaken { self.isTaken = true }
        holders -= 1
        if holders == 0 { onOutcome(self.isTaken, cost) }
    }

    /// Adds received bytes that belong to the line but arrived after it was created.
    func add(late count: Int) {
        if holders > 0 { cost += count } else { onOutcome(isTaken, count) }
    }
}
