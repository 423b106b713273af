// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO

/// The comparison of the events from the keyboard's event node with the events meant to be written, one by one.
///
/// It covers the way from the write to the readers of the node; it does not tell if another reader has kept up. It is
/// a pure state machine: the meant events go in before they are written, so an event that is read is known already.
/// Events of the keyboard's lights, which its readers switch, come in between and are skipped.
package struct SelfCheck: Sendable {
    /// The counts of the comparison.
    package struct Counts: Equatable, Sendable {
        /// The number of events that were equal to the meant ones.
        package var verified: UInt64 = 0
        /// The number of events that differed from the meant ones.
        package var differing: UInt64 = 0
        /// The number of times that the kernel discarded events that were not read in time.
        package var dropped: UInt64 = 0

        /// Makes counts from their parts.
        package init(verified: UInt64 = 0, differing: UInt64 = 0, dropped: UInt64 = 0) {
            self.verified = verified
            self.differing = differing
            self.dropped = dropped
        }
    }

    /// The counts so far.
    package private(set) var counts = Counts()
    private var meant: [EventNode.Event] = []
    private var next = 0
    /// True from a loss on, until a moment when no event is on its way.
    private var isLost = false
    /// True after the event of a light, which the kernel may end with a report of its own.
    private var isAfterLight = false

    /// Makes a check without meant events.
    package init() {}

    /// The number of meant events that have not been read yet.
    package var outstanding: Int { meant.count - next }

    /// Adds events that are about to be written, in their order.
    package mutating func expect(_ events: some Sequence<EventNode.Event>) {
        meant.append(contentsOf: events)
    }

    /// Compares an event that was read.
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

    /// Notes that some meant events are missing; nothing can be compared until the next quiet moment.
    package mutating func lose() {
        isLost = true
    }

    /// True while events are read without a comparison, until `settle` is called at a quiet moment.
    package var needsQuiet: Bool { isLost }

    /// Notes a quiet moment: all meant events were written, and none waits to be read.
    package mutating func settle() {
        if isLost { next = meant.count }
        isLost = false
        trim()
    }

    /// The number of compared events after which their memory is reused.
    private static let trimmedAt = 4096

    private mutating func trim() {
        meant.removeFirst(next)
        next = 0
    }
}
