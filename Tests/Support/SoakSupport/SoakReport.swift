// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import Keystrokes
import LinuxIO

/// Results of a soak test, and checks of these results.
package struct SoakReport {
    /// Maximum growth of memory after the first day, in KiB.
    private static let mostGrowth = 1024
    /// Maximum time to connect to a reachable barcode reader: the longest pause between attempts, and one attempt.
    private static let mostWait = Duration.seconds(80)

    private let plan: SoakPlan
    var trail = BarcodeTrail.Counts()
    var account = Ledger.Snapshot()
    var radio = RadioCounts()
    var faults: [String] = []
    var losses = 0
    var linksLost = 0
    var replugs = 0
    var suspends = 0
    var jumps = 0
    var passersBy = 0
    var sentDays = 0
    var leaps: UInt64 = 0
    var longestWait = Duration.zero
    var realTime = Duration.zero
    var virtualTime = Duration.zero
    var footprints: [Footprint] = []
    private var wrong: [String] = []

    /// Most recent events, with their times.
    private var happenings: [String] = []

    init(_ plan: SoakPlan) { self.plan = plan }

    mutating func note(_ happening: String) {
        happenings.append("\(MonotonicClock.now) \(happening)")
        if happenings.count > 8 { happenings.removeFirst() }
    }

    /// Stores the first wrong lines, each with the preceding events.
    mutating func noteWrong(_ line: String) {
        guard wrong.count < 5 else { return }
        wrong.append("\(MonotonicClock.now) typed \(line), after: " + happenings.joined(separator: "; "))
    }

    /// Growth of memory since the end of the first day, in KiB.
    private var growth: Int { (footprints.last?.memory ?? 0) - (footprints.first?.memory ?? 0) }

    /// Name and result of each check.
    package var checks: [(name: String, isRight: Bool)] {
        let descriptors = Set(footprints.map(\.descriptors))
        let days = plan.days
        return [
            ("every day came to its end", faults.isEmpty && footprints.count == days && sentDays == days),
            ("every barcode was sent", trail.sent == plan.barcodes * days),
            ("every barcode of a standing link arrived", trail.vanished == 0),
            ("uncounted: 0 bytes", trail.uncounted == 0),
            ("doubled: 0", trail.doubled == 0),
            ("reordered: 0", trail.reordered == 0),
            ("joined: 0", trail.joined == 0),
            ("altered: 0", trail.altered == 0),
            ("all that was planned has happened", hasHappened),
            ("a scanner that can be reached has a link within \(Self.mostWait)", longestWait <= Self.mostWait),
            ("memory grows by less than \(Self.mostGrowth) KiB after the first day", growth < Self.mostGrowth),
            ("descriptors are as many each night", descriptors.count == 1),
        ]
    }

    private var hasHappened: Bool {
        let days = plan.days
        return losses >= plan.losses * days && replugs >= plan.replugs * days && suspends == plan.suspends * days
            && jumps == plan.jumps * days && passersBy == plan.passersBy * days
    }

    /// Human-readable figures.
    package var table: [(name: String, value: String)] {
        let causes =
            Ledger.Rejection.allCases.map { ("\($0)", account.rejected($0)) }
            + Ledger.Loss.allCases.map { ("\($0)", account.lost($0)) }
        let told = causes.filter { $0.1 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        let seconds = { (time: Duration) in Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        }
        let speed = Int(seconds(virtualTime) / max(0.001, seconds(realTime)))
        return [
            ("seed", "\(plan.seed)"),
            ("virtual days", "\(footprints.count)"),
            ("real seconds", "\(Int(seconds(realTime)))"),
            ("virtual seconds a real one", "\(speed)"),
            ("leaps of time", "\(leaps)"),
            ("link losses", "\(losses)"),
            ("of them told as lost", "\(linksLost)"),
            ("replugs", "\(replugs)"),
            ("suspends", "\(suspends)"),
            ("jumps of the date", "\(jumps)"),
            ("passers-by", "\(passersBy)"),
            ("adapters opened", "\(radio.opened)"),
            ("scans armed again", "\(radio.armed)"),
            ("attempts that failed", "\(radio.failedAttempts)"),
            ("longest time to a link, s", "\(Int(seconds(longestWait)))"),
            ("barcodes sent", "\(trail.sent)"),
            ("ended by the link on the air", "\(trail.lostOnAir)"),
            ("arrived", "\(trail.arrived)"),
            ("typed", "\(trail.typed)"),
            ("arrived and not typed", "\(trail.missing)"),
            ("bytes told by cause", told.isEmpty ? "none" : told),
            ("bytes behind the user's disconnect", "\(trail.afterDisconnect)"),
            ("uncounted bytes", "\(trail.uncounted)"),
            ("doubled, reordered", "\(trail.doubled), \(trail.reordered)"),
            ("halves that a disconnect has left (D-1)", "\(trail.halves)"),
            ("joined, altered", "\(trail.joined), \(trail.altered)"),
            ("memory after day 1 and now, KiB", "\(footprints.first?.memory ?? 0), \(footprints.last?.memory ?? 0)"),
            (
                "descriptors after day 1 and now",
                "\(footprints.first?.descriptors ?? 0), \(footprints.last?.descriptors ?? 0)"
            ),
        ]
    }

    /// Errors that stopped the test, and the first wrong lines.
    package var faultLines: [String] { faults + wrong }
}
