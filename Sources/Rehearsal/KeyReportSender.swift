// SPDX-License-Identifier: GPL-2.0-or-later

import HIDReports
package import LinuxIO

/// Types lines on a simulated keyboard, completely and in order, and no faster than the subscribers accept them.
///
/// A line is requested from its source only if a central is subscribed, so that no line is lost. At least one period
/// passes between the starts of two lines. If the last subscriber leaves during a line, the next subscriber receives the
/// line from its beginning. Used on the loop's thread.
package final class KeyReportSender {
    private let keyboard: SimulatedKeyboard
    private let loop: EventLoop
    private let period: Duration
    private let encoder: KeyReportEncoder
    /// Earliest time at which the next line may be typed.
    private var dueTime = Duration.zero
    private let timer = LoopTimer()
    private let next: () -> String?
    /// Reports of the current line, and those that have not been sent yet.
    private var line: [[UInt8]] = []
    private var rest: ArraySlice<[UInt8]> = []
    private var isPumping = false

    /// Number of lines that the keyboard has accepted completely.
    package private(set) var lines = 0
    /// Number of characters that have no key on a US keyboard, and were omitted.
    package private(set) var omitted = 0

    /// Creates a sender for the lines that `next` returns, each with its line end; `\r` is Enter.
    ///
    /// After `next` has returned nil, call `pump` when there is another line. With `keepsKeysDown`, no report without
    /// keys is sent between different characters.
    package init(
        _ keyboard: SimulatedKeyboard,
        every period: Duration = .zero,
        keepsKeysDown: Bool = false,
        on loop: EventLoop,
        next: @escaping () -> String?
    ) {
        self.keyboard = keyboard
        self.loop = loop
        self.period = period
        self.next = next
        encoder = KeyReportEncoder(releases: keepsKeysDown ? .whereNeeded : .afterEveryKey)
        keyboard.onRoom = { [weak self] in self?.pump() }
    }

    /// Sends all reports that can be sent now.
    ///
    /// Call it when a central has subscribed, and when a line is available again.
    package func pump() {
        // `onRoom` may call this method while the loop below is running; the running loop then sends the reports.
        guard !isPumping else { return }
        isPumping = true
        defer {
            isPumping = false
            if !keyboard.isSubscribed { rest = line[...] }
        }
        while keyboard.isSubscribed {
            if rest.isEmpty {
                guard isDue(), let text = next() else { return }
                // After a delay, do not type lines faster to catch up; the period always applies.
                dueTime = max(dueTime, MonotonicClock.now) + period
                omitted += encoder.append(text.unicodeScalars, to: &line)
                rest = line[...]
            }
            while let report = rest.first {
                guard keyboard.send(report) else { return }
                rest.removeFirst()
            }
            lines += 1
            line = []
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
