// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO

/// Sender of lines through a simulated module: whole, in order, and no faster than the subscribers accept them.
///
/// A line is requested only if there is a subscriber with room for it, so that the source of the lines waits and
/// nothing is lost. At least one period passes between the starts of two lines. If the last subscriber leaves during a
/// line, the line is sent to the next one from its beginning. To be used on the loop's thread.
package final class LineSender {
    private let module: SimulatedModule
    private let loop: EventLoop
    private let period: Duration
    /// Earliest time of the next line, and the timer that waits for it.
    private var dueTime = Duration.zero
    private let timer = LoopTimer()
    private let next: () -> [UInt8]?
    private let onSent: ([UInt8]) -> Void
    private var line: [UInt8] = []
    private var rest: ArraySlice<UInt8> = []
    private var isPumping = false

    /// Number of lines that the module has taken to their end.
    package private(set) var lines = 0

    /// Creates a sender of the lines that `next` returns, each with its end; after a nil, `pump` must be called for the
    /// next line.
    ///
    /// `onSent` is called with each line that the module has accepted completely.
    package init(
        _ module: SimulatedModule,
        every period: Duration = .zero,
        on loop: EventLoop,
        next: @escaping () -> [UInt8]?,
        onSent: @escaping ([UInt8]) -> Void = { _ in }
    ) {
        self.module = module
        self.loop = loop
        self.period = period
        self.next = next
        self.onSent = onSent
        module.onRoom = { [weak self] in self?.pump() }
    }

    /// Sends all lines that can be sent now; to be called when a central has subscribed, and when a line is available
    /// again.
    package func pump() {
        // `onRoom` may call this method from within the loop below, which then continues by itself.
        guard !isPumping else { return }
        isPumping = true
        defer {
            isPumping = false
            if !module.isSubscribed { rest = line[...] }
        }
        while module.isSubscribed {
            if rest.isEmpty {
                guard isDue(), let line = next() else { return }
                // Delayed lines are not sent faster afterwards: the period is a limit at every moment.
                dueTime = max(dueTime, MonotonicClock.now) + period
                self.line = line
                rest = line[...]
            }
            while !rest.isEmpty {
                let part = rest.prefix(max(1, module.longestValue))
                guard module.isSubscribed, module.notify(Array(part)) else { return }
                rest.removeFirst(part.count)
            }
            lines += 1
            let sent = line
            line = []
            onSent(sent)
        }
    }

    /// Postpones the next line, if it is due earlier.
    package func postpone(by pause: Duration) {
        dueTime = max(dueTime, MonotonicClock.now + pause)
        pump()
    }

    /// Returns true if the next line is due; otherwise `pump` is called when it is.
    private func isDue() -> Bool {
        guard MonotonicClock.now < dueTime else { return true }
        if !timer.isSet { timer.set(on: loop, at: dueTime) { [unowned self] in pump() } }
        return false
    }
}
