// SPDX-License-Identifier: GPL-2.0-or-later

/// Line, or part of a line, for the output clients, whose outcome is reported once, when no holder is left.
///
/// It counts as delivered if at least one client has taken all of it.
package final class OutputLine {
    package let bytes: [UInt8]
    /// Number of received bytes that the line stands for.
    package private(set) var cost: Int
    /// True if it begins a line; false if it continues the previous part.
    package let begins: Bool
    /// True if it ends a line.
    package let ends: Bool

    private let onOutcome: (_ isDelivered: Bool, _ cost: Int) -> Void
    private var holders = 1
    private var isTaken = false

    /// Creates a line with one holder, its creator.
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

    /// Releases the line on behalf of one holder; `isTaken` is true if that holder has taken all of it.
    package func letGo(isTaken: Bool) {
        if isTaken { self.isTaken = true }
        holders -= 1
        if holders == 0 { onOutcome(self.isTaken, cost) }
    }

    /// Counts received bytes that arrived after the line and belong to it.
    func add(late count: Int) {
        if holders > 0 { cost += count } else { onOutcome(isTaken, count) }
    }
}
