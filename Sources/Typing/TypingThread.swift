// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO
import Synchronization
package import SystemPackage

/// The virtual keyboard, and the thread that types when nobody else does.
///
/// Whoever brings bytes while the thread sleeps types them itself (`typeIfAsleep`): a change of threads would take longer
/// than all the rest of their way. What has to wait for its time is the thread's, which sleeps until then. One of the two
/// holds the typist at any time, and the bringer never waits for it.
package final class TypingThread: Sendable {
    /// How long after its making the keyboard is given to readers that have yet to open it.
    package static let settlingTime: Int64 = 200_000_000

    private let waker: Waker
    private let stopping = Atomic<Bool>(false)
    private let finished: Waker
    /// The questions whether the thread still works, and those that it has answered.
    private let asked = Atomic<UInt32>(0)
    private let answered = Atomic<UInt32>(0)
    private let failure = Mutex<Errno?>(nil)
    private let hands: TypingHands

    /// Starts the thread.
    ///
    /// `finished` is woken when it has ended; `meant` hears of all events for the self-check, where there is one. A `keypad`
    /// types between what the typist types, `separation` nanoseconds apart from it.
    package init(
        _ typist: consuming sending Typist,
        device: any KeyboardDevice,
        meant: consuming sending MeantEvents.Writer? = nil,
        keypad: consuming sending Typist? = nil,
        separation: Int64 = 0,
        finished: Waker
    ) throws(Errno) {
        self.waker = try Waker()
        self.finished = finished
        let notBefore = MonotonicClock.nanoseconds + Self.settlingTime
        hands = TypingHands(
            TypingState(typist, device, meant, keypad: keypad, separation: separation),
            notBefore: notBefore
        )
        _ = try SystemThread(name: "typist") { [self] in
            let error = run(notBefore: notBefore)
            failure.withLock { $0 = error }
            finished.wake()
        }
    }

    /// Types what has just been put into the ring, if the feed said that the typist must be woken; `now` is the time.
    ///
    /// What is left for later, or cannot be typed here, is given to the thread.
    package func typeIfAsleep(now: Int64) {
        if hands.typeIfFree(now: now) != .sleep { waker.wake() }
    }

    /// Makes the thread look into the ring.
    package func wake() { waker.wake() }

    /// Asks the thread for a sign of life; called by one thread only.
    package func ping() {
        asked.store(asked.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        waker.wake()
    }

    /// Whether the thread has had a turn since it was asked for a sign of life last.
    package var hasAnswered: Bool { answered.load(ordering: .relaxed) == asked.load(ordering: .relaxed) }

    /// Lets the thread finish what may still be typed, and end.
    package func stop() {
        stopping.store(true, ordering: .releasing)
        waker.wake()
    }

    /// Why the thread ended by itself; nil where it was told to, or runs.
    package var error: Errno? { failure.withLock { $0 } }

    /// Types until it is told to stop, and until nothing waits then; returns the error that ended it earlier.
    private func run(notBefore: Int64) -> Errno? {
        while MonotonicClock.nanoseconds < notBefore, !shouldStop {
            answer(asked.load(ordering: .relaxed))
            waker.wait(until: notBefore)
        }
        while true {
            let question = asked.load(ordering: .relaxed)
            let turn = hands.type()
            answer(question)
            switch turn {
            case .failed(let error): return error
            case .wait(let time): waker.wait(until: time)
            case .sleep:
                if shouldStop { return nil }
                waker.wait(until: nil)
            }
        }
    }

    private func answer(_ question: UInt32) { answered.store(question, ordering: .relaxed) }

    private var shouldStop: Bool { stopping.load(ordering: .acquiring) }
}
