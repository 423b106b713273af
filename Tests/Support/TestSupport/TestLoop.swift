// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO

extension EventLoop {
    /// Runs the loop until `isDone`, which is checked between turns, returns true; returns false if this takes longer
    /// than `limit`.
    ///
    /// Each turn ends after at most `turn`, so that changes without an event of the loop are noticed too.
    package func run(
        within limit: Duration = .seconds(120),
        turn: Duration = .milliseconds(2),
        until isDone: () throws -> Bool
    ) throws -> Bool {
        let end = MonotonicClock.now + limit
        while try !isDone() {
            guard MonotonicClock.now < end else { return false }
            let timer = schedule(at: MonotonicClock.now + turn) { [unowned self] in stop() }
            try run()
            cancel(timer)
        }
        return true
    }
}
