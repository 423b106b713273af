// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO
import Synchronization
package import SystemPackage

/// The virtual keyboard with its typing thread.
///
/// The thread that brings bytes types them itself while the typing thread sleeps (`typeIfAsleep`), because a change
/// of threads would take longer than all other steps together. Bytes that are not yet due are left to the typing
/// thread, which sleeps until they are. One of the two threads holds the typist at a time, and the one that brings
/// bytes never waits for it.
package final class TypingThread: Sendable {
    /// The nanoseconds between the keyboard's creation and the first event, in which readers open it.
    package static let settlingTime: Int64 = 200_000_000

    private let waker: Waker
    private let stopping = Atomic<Bool>(false)
    private let finished: Waker
    /// The number of `ping` calls, and the number of the last call that the thread has answered.
    private let asked = Atomic<UInt32>(0)
    private let answered = Atomic<UInt32>(0)
    private let failure = Mutex<Errno?>(nil)
    private let ended = Atomic<Bool>(false)
    /// The time before which nothing is typed, in nanoseconds.
    private let notBefore: Atomic<Int64>
    /// The typing thread waits for the lock; the thread that brings bytes only tries it.
    private let state: Mutex<TypingState>

    /// Starts the thread.
    ///
    /// `finished` is woken when the thread has ended, and when the keyboard takes no more events: the thread waits then for
    /// `resume` or `stop`. `meant` gets all events for the self-check, if there is one.
    /// The typist `keypad` types in the pauses of `typist`, `separation` nanoseconds apart from it.
    /// Where the lines of a `screen` go to another end, no line is begun while too many wait to be taken.
    package init(
        _ typist: consuming sending Typist,
        device: any KeyboardDevice,
        meant: consuming sending ExpectedEvents.Writer? = nil,
        keypad: consuming sending Typist? = nil,
        separation: Int64 = 0,
        screen: TextKeyboard? = nil,
        finished: Waker
    ) throws(Errno) {
        self.waker = try Waker()
        self.finished = finished
        notBefore = Atomic(MonotonicClock.nanoseconds + Self.settlingTime)
        state = Mutex(TypingState(typist, device, meant, keypad: keypad, separation: separation, screen: screen))
        _ = try SystemThread(name: "typist") { [self] in
            run()
            ended.store(true, ordering: .releasing)
            finished.wake()
        }
    }

    /// Types the bytes just put into the ring; called when the feed reports that the typist must be woken.
    ///
    /// `now` is the present time in nanoseconds.
    ///
    /// Bytes that are not yet due, or cannot be typed by this thread, are left to the typing thread.
    package func typeIfAsleep(now: Int64) {
        let isTyped =
            now >= notBefore.load(ordering: .relaxed) && state.withLockIfAvailable { $0.turn(now: now) } == .sleep
        if !isTyped { waker.wake() }
    }

    package func wake() { waker.wake() }

    /// Asks the thread for a sign of life; it is called by one thread only.
    package func ping() {
        asked.store(asked.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        waker.wake()
    }

    /// True if the thread has had a turn since the last `ping`.
    package var hasAnswered: Bool { answered.load(ordering: .relaxed) == asked.load(ordering: .relaxed) }

    /// Makes the thread type the bytes that may still be typed, and end.
    package func stop() {
        stopping.store(true, ordering: .releasing)
        waker.wake()
    }

    /// The error after which the thread has typed nothing more; nil if there was none, or another keyboard since.
    package var error: Errno? { failure.withLock { $0 } }

    /// True if the thread has ended, after `stop`.
    package var hasEnded: Bool { ended.load(ordering: .acquiring) }

    /// Goes on with another keyboard after a failure, as soon as its readers have had time to open it.
    package func resume(on device: any KeyboardDevice) {
        notBefore.store(MonotonicClock.nanoseconds + Self.settlingTime, ordering: .relaxed)
        state.withLock { $0.resume(on: device) }
        failure.withLock { $0 = nil }
        waker.wake()
    }

    /// The thread's function: types until `stop` was called and nothing waits that can be typed.
    private func run() {
        settle()
        while true {
            let question = asked.load(ordering: .relaxed)
            let turn = state.withLock { $0.turn(now: MonotonicClock.nanoseconds) }
            answer(question)
            switch turn {
            case .failed(let error):
                guard waitForKeyboard(after: error) else { return }
                settle()
            case .wait(let time): waker.wait(until: time)
            case .sleep:
                if shouldStop { return }
                waker.wait(until: nil)
            }
        }
    }

    /// Waits until the keyboard's readers have had time to open it.
    private func settle() {
        while true {
            let time = notBefore.load(ordering: .relaxed)
            guard MonotonicClock.nanoseconds < time, !shouldStop else { return }
            answer(asked.load(ordering: .relaxed))
            waker.wait(until: time)
        }
    }

    /// Reports the failure, and waits for another keyboard; false if `stop` was called instead.
    private func waitForKeyboard(after error: Errno) -> Bool {
        failure.withLock { $0 = error }
        finished.wake()
        while self.error != nil {
            if shouldStop { return false }
            answer(asked.load(ordering: .relaxed))
            waker.wait(until: nil)
        }
        return true
    }

    private func answer(_ question: UInt32) { answered.store(question, ordering: .relaxed) }

    private var shouldStop: Bool { stopping.load(ordering: .acquiring) }
}
