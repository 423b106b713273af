// SPDX-License-Identifier: GPL-2.0-or-later

/// A timer of an event loop that is set at most once at a time.
///
/// Setting it again cancels what it was set to. It is no longer set when its handler runs, and is cancelled when it is
/// freed. It is used on the loop's thread.
package final class LoopTimer {
    private var pending: (loop: EventLoop, timer: EventLoop.Timer)?

    package init() {}

    deinit { cancel() }

    /// True from `set` until the handler runs or the timer is cancelled.
    package var isSet: Bool { pending != nil }

    /// Calls `handler` once, at `deadline` on `MonotonicClock`; cancels the timer where that is nil.
    package func set(on loop: EventLoop, at deadline: Duration?, handler: @escaping () -> Void) {
        cancel()
        guard let deadline else { return }
        let timer = loop.schedule(at: deadline) { [unowned self] in
            pending = nil
            handler()
        }
        pending = (loop, timer)
    }

    package func set(on loop: EventLoop, after delay: Duration, handler: @escaping () -> Void) {
        set(on: loop, at: MonotonicClock.now + delay, handler: handler)
    }

    /// Forgets the handler; does nothing if the timer is not set.
    package func cancel() {
        if let (loop, timer) = pending.take() { loop.cancel(timer) }
    }
}

/// A pause that doubles with each use up to a longest.
package struct Backoff: Hashable, Sendable {
    private let pauses: ClosedRange<Duration>
    /// The pause that `next` returns next.
    package private(set) var pause: Duration

    /// A back-off whose first pause is the lower bound, and whose longest is the upper.
    package init(_ pauses: ClosedRange<Duration>) {
        self.pauses = pauses
        pause = pauses.lowerBound
    }

    package var longest: Duration { pauses.upperBound }

    /// Returns the pause, and doubles the next.
    @discardableResult
    package mutating func next() -> Duration {
        defer { pause = min(pause * 2, longest) }
        return pause
    }

    /// Makes the next pause the first again.
    package mutating func reset() { pause = pauses.lowerBound }
}
