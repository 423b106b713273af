// SPDX-License-Identifier: GPL-2.0-or-later

/// A line, or a part of one, on its way to the readers of another end; what became of it is told once, when nobody holds it.
///
/// It is delivered when one reader at least took it whole.
package final class OutputLine {
    package let bytes: [UInt8]
    /// The number of received bytes that it stands for.
    package private(set) var cost: Int
    /// Whether it is a line's beginning; else it goes on with the part before.
    package let begins: Bool
    /// Whether it is a line's end.
    package let ends: Bool

    private let onOutcome: (_ isDelivered: Bool, _ cost: Int) -> Void
    private var holders = 1
    private var isTaken = false

    /// A line that its maker holds.
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

    /// Takes note that a holder lets go of it, and whether it took all of it.
    package func letGo(isTaken: Bool) {
        if isTaken { self.isTaken = true }
        holders -= 1
        if holders == 0 { onOutcome(self.isTaken, cost) }
    }

    /// Counts received bytes that came behind it and belong to it.
    func add(late count: Int) {
        if holders > 0 { cost += count } else { onOutcome(isTaken, count) }
    }
}
