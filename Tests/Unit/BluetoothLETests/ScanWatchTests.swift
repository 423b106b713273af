// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import TestSupport
import Testing

@testable import BluetoothAdapters

/// Monitoring of a running scan, in virtual time.
@Suite struct ScanWatchTests {
    /// Returns the times at which the watch re-enables the scan, and at which it restarts the adapter, during `hours`
    /// of silence.
    private func silence(hours: Int) -> (arms: [Int64], restarts: [Int64]) {
        var watch = ScanWatch()
        watch.begin(reports: 7, now: .zero)
        var (arms, restarts): ([Int64], [Int64]) = ([], [])
        while let deadline = watch.deadline, deadline < .seconds(hours * 3600) {
            switch watch.check(reports: 7, now: deadline) {
            case .wait: Issue.record("nothing at \(deadline)")
            case .arm: arms.append(deadline.components.seconds)
            case .restart:
                restarts.append(deadline.components.seconds)
                watch.end(reports: 7, now: deadline)
                watch.begin(reports: 7, now: deadline)
            }
        }
        return (arms, restarts)
    }

    @Test(
        "A scan that hears nothing is armed again after 30 s and each minute; the adapter is restarted ever later"
    )
    func quiet() {
        let day = silence(hours: 48)
        #expect(day.arms.prefix(4) == [30, 90, 150, 210])
        // After ten minutes, then at intervals that double up to six hours.
        #expect(day.restarts.prefix(5) == [600, 1800, 4200, 9000, 18600])
        #expect(zip(day.restarts.dropFirst(7), day.restarts.dropFirst(6)).allSatisfy { $0 - $1 == 6 * 3600 })
        #expect(day.arms.count > 2800)
    }

    @Test("A report ends the silence, leaves the scan running, and restarts every period")
    func heard() {
        var watch = ScanWatch()
        watch.begin(reports: 0, now: .zero)
        #expect(watch.check(reports: 0, now: .seconds(29)) == .wait)
        #expect(watch.check(reports: 0, now: .seconds(30)) == .arm)
        #expect(watch.check(reports: 1, now: .seconds(90)) == .wait)
        #expect(watch.deadline == .seconds(120))
        #expect(watch.check(reports: 1, now: .seconds(120)) == .arm)
        #expect(watch.counts.armed == 2 && watch.counts.quiet == 2)
    }

    @Test("Silence is counted in scanning time only, over several scans; a connection ends it")
    func severalScans() {
        var watch = ScanWatch()
        // One minute of scanning per hour: the scan is re-enabled once each, but the adapter is not restarted before
        // the tenth hour.
        for hour in 0..<10 {
            let start = Duration.seconds(hour * 3600)
            watch.begin(reports: 0, now: start)
            #expect(watch.check(reports: 0, now: start + .seconds(30)) == .arm)
            watch.end(reports: 0, now: start + .seconds(60))
            #expect(watch.deadline == nil)
        }
        watch.begin(reports: 0, now: .seconds(40_000))
        #expect(watch.deadline == .seconds(40_000))
        #expect(watch.check(reports: 0, now: .seconds(40_000)) == .restart)

        watch.end(reports: 0, now: .seconds(40_000))
        watch.begin(reports: 0, now: .seconds(50_000))
        watch.end(reports: 0, now: .seconds(51_000))
        watch.noteLife()
        watch.begin(reports: 0, now: .seconds(60_000))
        #expect(watch.deadline == .seconds(60_030))
        #expect(watch.check(reports: 0, now: .seconds(60_030)) == .arm)
    }

    @Test("A scan that another program switched is armed a second later, in a quarrel ever later")
    func disturbed() {
        var watch = ScanWatch()
        watch.begin(reports: 0, now: .zero)
        var waits: [Int64] = []
        var now = Duration.seconds(5)
        var reports: UInt64 = 0
        for _ in 1...9 {
            let start = now
            watch.disturb(now: now)
            // Another foreign command in the same period does not change the deadline.
            let deadline = watch.deadline
            watch.disturb(now: now)
            #expect(watch.deadline == deadline)
            // Devices are received all the time.
            var step = ScanWatch.Step.wait
            while step == .wait, let deadline = watch.deadline {
                reports += 1
                now = deadline
                step = watch.check(reports: reports, now: now)
            }
            #expect(step == .arm)
            waits.append((now - start).components.seconds)
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        #expect(watch.counts.disturbed == 18 && watch.counts.armed == 9 && watch.counts.quiet == 0)
        // After more than a minute without foreign commands, the delay is a second again.
        now += .seconds(61)
        _ = watch.check(reports: reports + 1, now: now)
        watch.disturb(now: now)
        #expect(watch.deadline == now + .seconds(1))
    }

    @Test("After the machine's sleep the scan is armed at once")
    func resumed() {
        var watch = ScanWatch()
        watch.resume(now: .zero)
        #expect(watch.deadline == nil)
        watch.begin(reports: 0, now: .seconds(1))
        watch.resume(now: .seconds(10))
        #expect(watch.deadline == .seconds(10))
        #expect(watch.check(reports: 5, now: .seconds(10)) == .arm)
        #expect(watch.deadline == .seconds(40))
        #expect(watch.counts.resumed == 2)
    }

    @Test("The adapter is restarted at the third scan in a row that its controller refuses, then at the sixth")
    func failures() {
        var watch = ScanWatch()
        #expect(
            (1...12).map { _ in watch.fail(byController: true) }
                == [3, 6, 12].reduce(into: Array(repeating: false, count: 12)) { $0[$1 - 1] = true }
        )
        watch.noteStart()
        #expect((1...3).map { _ in watch.fail(byController: false) } == [false, false, false])
        #expect((1...3).map { _ in watch.fail(byController: true) } == [false, false, true])
        #expect(watch.counts.failedScans == 18)
    }

    @Test("All counts of a new radio are zero, and those of several controllers are added each to its own")
    func counts() {
        #expect(integersOtherThanZero(in: RadioCounts()).isEmpty)
        #expect(integersOtherThanZero(in: EarlyValues()).isEmpty)
        var counts = ControllerCounts()
        (counts.probes, counts.repeatedResets, counts.repeatedConnections, counts.droppedBytes) = (1, 2, 3, 4)
        (counts.grantedParameters, counts.refusedParameters, counts.badFrames, counts.crossedLinks) = (5, 6, 7, 8)
        var sum = counts
        for _ in 0..<2 { sum.add(counts) }
        #expect(Mirror(reflecting: sum).children.map { $0.value as? UInt64 } == [3, 6, 9, 12, 15, 18, 21, 24])
    }

    @Test("An adapter that comes back under another name has moved; one without an address has not")
    func moved() {
        var counts = RadioCounts()
        let steps: [(String, UInt64, moved: UInt64)] = [
            ("hci0", 7, 0), ("hci0", 7, 0), ("hci1", 7, 1), ("hci1", 8, 1), ("hci2", 7, 1), ("hci3", 7, 2),
            ("hci0", 0, 2), ("hci1", 0, 2),
        ]
        for (place, step) in steps.enumerated() {
            counts.noteOpened(step.0, BluetoothAddress(rawValue: step.1))
            #expect(counts.opened == UInt64(place + 1) && counts.moved == step.moved, "\(step)")
        }
        counts.noteFailure(.notEstablished)
        counts.noteFailure(.timedOut(.seconds(1)))
        #expect(counts.failedAttempts == 2 && counts.cancelledAttempts == 1)
    }
}
