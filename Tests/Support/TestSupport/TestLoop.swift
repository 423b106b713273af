// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO

extension EventLoop {
    /// Runs the loop until `isDone` returns true, and asks it after each turn; returns false if that takes longer than
    /// `limit`.
    ///
    /// A turn ends at the latest after the time of that name, so what no event of the loop tells is noticed too.
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
