// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO

/// Sends lines through a simulated module, completely and in order, and no faster than the subscribers accept them.
///
/// A line is requested from its source only if a subscriber has room for it, so that no line is lost. At least one
/// period passes between the starts of two lines. If the last subscriber leaves during a line, the next subscriber
/// receives the line from its beginning. Used on the loop's thread.
package final class LineSender {
    private let module: SimulatedModule
    private let loop: EventLoop
    private let period: Duration
    /// Earliest time at which the next line may be sent.
    private var dueTime = Duration.zero
    private let timer = LoopTimer()
    private let next: () -> [UInt8]?
    private let onSent: ([UInt8]) -> Void
    private var line: [UInt8] = []
    private var rest: ArraySlice<UInt8> = []
    private var isPumping = false

    /// Number of lines that the module has accepted completely.
    package private(set) var lines = 0

    /// Creates a sender for the lines that `next` returns, each with its line end.
    ///
    /// After `next` has returned nil, call `pump` when there is another line. `onSent` is called with each line that
    /// the module has accepted completely.
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

    /// Sends all lines that can be sent now.
    ///
    /// Call it when a central has subscribed, and when a line is available again.
    package func pump() {
        // `onRoom` may call this method while the loop below is running; the running loop then sends the lines.
        guard !isPumping else { return }
        isPumping = true
        defer {
            isPumping = false
            if !module.isSubscribed { rest = line[...] }
        }
        while module.isSubscribed {
            if rest.isEmpty {
                guard isDue(), let line = next() else { return }
                // After a delay, do not send lines faster to catch up; the period always applies.
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

    /// Postpones the next line until `pause` from now, unless it is due even later.
    package func postpone(by pause: Duration) {
        dueTime = max(dueTime, MonotonicClock.now + pause)
        pump()
    }

    /// Returns true if the next line is due; otherwise sets a timer that calls `pump` when the line is due.
    private func isDue() -> Bool {
        guard MonotonicClock.now < dueTime else { return true }
        if !timer.isSet { timer.set(on: loop, at: dueTime) { [unowned self] in pump() } }
        return false
    }
}
