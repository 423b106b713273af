// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO

/// Compares what came out of the keyboard's event node with what was meant, event by event.
///
/// It proves the way from the write to the node's readers, not that another reader kept up. A pure state machine: meant
/// events go in before they are written, so an event that is read was meant already. The keyboard's lights, which its
/// readers switch, come between them and are passed over.
package struct SelfCheck: Sendable {
    /// What was found so far.
    package struct Counts: Equatable, Sendable {
        /// Events read that were the ones meant.
        package var verified: UInt64 = 0
        /// Events read that were not the ones meant.
        package var differing: UInt64 = 0
        /// How often the kernel threw away what the check had not read in time.
        package var dropped: UInt64 = 0

        /// Counts from their parts.
        package init(verified: UInt64 = 0, differing: UInt64 = 0, dropped: UInt64 = 0) {
            self.verified = verified
            self.differing = differing
            self.dropped = dropped
        }
    }

    /// What was found so far.
    package private(set) var counts = Counts()
    private var meant: [EventNode.Event] = []
    private var next = 0
    /// True from a drop on, until a moment when nothing is on its way.
    private var isLost = false
    /// True right after the change of a light, which the kernel may end with a report of its own.
    private var isAfterLight = false

    /// A check that expects nothing yet.
    package init() {}

    /// The events meant and not seen yet.
    package var outstanding: Int { meant.count - next }

    /// Takes events that are about to be written, in their order.
    package mutating func expect(_ events: some Sequence<EventNode.Event>) {
        meant.append(contentsOf: events)
    }

    /// Takes an event that was read.
    package mutating func read(_ event: EventNode.Event) {
        guard event != .dropped else {
            counts.dropped &+= 1
            isLost = true
            return
        }
        guard !event.isLight else {
            isAfterLight = true
            return
        }
        let isReportOfLight = isAfterLight && event == .report && (next == meant.count || meant[next] != event)
        isAfterLight = false
        guard !isLost, !isReportOfLight else { return }
        guard next < meant.count, meant[next] == event else {
            counts.differing &+= 1
            isLost = true
            return
        }
        next += 1
        counts.verified &+= 1
        if next == meant.count || next == Self.trimmedAt { trim() }
    }

    /// Takes note that some meant events will never be told: nothing can be compared until all is quiet.
    package mutating func lose() {
        isLost = true
    }

    /// True when reading goes on without comparing, until `settle` is called at a quiet moment.
    package var needsQuiet: Bool { isLost }

    /// Takes note that nothing waits to be read, and that all that was meant has been written.
    package mutating func settle() {
        if isLost { next = meant.count }
        isLost = false
        trim()
    }

    /// How many events that were seen are kept before their memory is used again.
    private static let trimmedAt = 4096

    private mutating func trim() {
        meant.removeFirst(next)
        next = 0
    }
}
