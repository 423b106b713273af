// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO
import Synchronization
package import SystemPackage

/// Virtual keyboard with its typing thread.
///
/// While the typing thread sleeps, the receiving thread types the bytes itself (`typeIfAsleep`), because a thread
/// switch would take longer than all other steps together. Bytes that are not yet due are left to the typing thread,
/// which sleeps until they are due. Only one of the two threads uses the typist at a time, and the receiving thread
/// never waits for it.
package final class TypingThread: Sendable {
    /// Time after the keyboard's creation during which applications open it and nothing is typed, in nanoseconds.
    package static let settlingTime: Int64 = 200_000_000

    private let waker: Waker
    private let stopping = Atomic<Bool>(false)
    private let finished: Waker
    /// Number of `ping` calls; `answered` is the number of the last call to which the thread has responded.
    private let asked = Atomic<UInt32>(0)
    private let answered = Atomic<UInt32>(0)
    private let failure = Mutex<Errno?>(nil)
    private let ended = Atomic<Bool>(false)
    /// Time before which nothing is typed, in nanoseconds.
    private let notBefore: Atomic<Int64>
    /// State of the typists.
    ///
    /// The typing thread waits for its lock, whereas the receiving thread only tries to acquire it.
    private let state: Mutex<TypingState>

    /// Starts the thread.
    ///
    /// `finished` is woken when the thread has ended, and when the keyboard rejects events; the thread then waits for
    /// `resume` or `stop`. `meant` receives all events for the self-check, if there is one. The typist `keypad` types
    /// while `typist` is idle, at least `separation` nanoseconds after it and before it. `screen` may collect lines for
    /// an output; the typist begins no new line while too many of them are pending. `lane` is the access to a keyboard
    /// that several threads share; they type in turns.
    package init(
        _ typist: consuming sending Typist,
        device: any KeyboardDevice,
        meant: consuming sending ExpectedEvents.Writer? = nil,
        keypad: consuming sending Typist? = nil,
        separation: Int64 = 0,
        screen: TextKeyboard? = nil,
        lane: KeyboardLane? = nil,
        finished: Waker
    ) throws(Errno) {
        self.waker = try Waker()
        self.finished = finished
        notBefore = Atomic(MonotonicClock.nanoseconds + Self.settlingTime)
        state = Mutex(
            TypingState(typist, device, meant, keypad: keypad, separation: separation, screen: screen, lane: lane)
        )
        lane?.connect(waker)
        _ = try SystemThread(name: "typist") { [self] in
            run()
            ended.store(true, ordering: .releasing)
            finished.wake()
        }
    }

    /// Types the bytes that were just added to the ring; called when the feed reports that the typist must be woken.
    ///
    /// `now` is the current time in nanoseconds. Bytes that are not yet due, or that this thread cannot type, are left
    /// to the typing thread.
    package func typeIfAsleep(now: Int64) {
        let isTyped =
            now >= notBefore.load(ordering: .relaxed) && state.withLockIfAvailable { $0.turn(now: now) } == .sleep
        if !isTyped { waker.wake() }
    }

    package func wake() { waker.wake() }

    /// Asks the thread to show that it is running; called from one thread only.
    package func ping() {
        asked.store(asked.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        waker.wake()
    }

    /// True if the thread has run since the last `ping`.
    package var hasAnswered: Bool { answered.load(ordering: .relaxed) == asked.load(ordering: .relaxed) }

    /// Makes the thread type the bytes that may still be typed, and then end.
    package func stop() {
        stopping.store(true, ordering: .releasing)
        waker.wake()
    }

    /// Error that stopped the typing; nil if there was none, or if the keyboard has been replaced since.
    package var error: Errno? { failure.withLock { $0 } }

    /// True if the thread has ended, after `stop`.
    package var hasEnded: Bool { ended.load(ordering: .acquiring) }

    /// Resumes with a replacement keyboard after a failure, after applications have had time to open it.
    package func resume(on device: any KeyboardDevice) {
        notBefore.store(MonotonicClock.nanoseconds + Self.settlingTime, ordering: .relaxed)
        state.withLock { $0.resume(on: device) }
        failure.withLock { $0 = nil }
        waker.wake()
    }

    /// Runs the thread: types until `stop` has been called and no bytes are left to type.
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
            case .sleep, .absent:
                if shouldStop { return }
                waker.wait(until: nil)
            }
        }
    }

    /// Waits until applications have had time to open the keyboard.
    private func settle() {
        while true {
            let time = notBefore.load(ordering: .relaxed)
            guard MonotonicClock.nanoseconds < time, !shouldStop else { return }
            answer(asked.load(ordering: .relaxed))
            waker.wait(until: time)
        }
    }

    /// Reports the failure and waits for a replacement keyboard; returns false if `stop` was called instead.
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
