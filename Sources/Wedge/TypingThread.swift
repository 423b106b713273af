// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO
import Synchronization
package import SystemPackage

/// The thread that owns the virtual keyboard: it sleeps until bytes wait, and writes what the typist says when it says.
package final class TypingThread: Sendable {
    /// What the thread alone touches, and the thread's own creation before it.
    private final class Hands<Device: KeyboardDevice & ~Copyable>: @unchecked Sendable {
        // Sound: `run` is called once, by the thread that is started with it.
        private var typist: Typist
        private let device: Device
        private var meant: MeantEvents.Writer?

        init(_ typist: consuming Typist, _ device: consuming Device, _ meant: consuming MeantEvents.Writer?) {
            self.typist = typist
            self.device = device
            self.meant = meant
        }

        /// Types until `shouldStop`, and until nothing waits then; returns the error that ended it earlier.
        ///
        /// `progress` is called again and again: whenever the typist is asked.
        func run(_ waker: Waker, shouldStop: () -> Bool, progress: () -> Void, notBefore: Int64) -> Errno? {
            while MonotonicClock.nanoseconds < notBefore, !shouldStop() {
                progress()
                waker.wait(until: notBefore)
            }
            while true {
                progress()
                switch typist.next(now: MonotonicClock.nanoseconds) {
                case .write:
                    if let error = write() { return error }
                case .wait(let time):
                    waker.wait(until: time)
                case .sleep:
                    if shouldStop() { return nil }
                    waker.wait(until: nil)
                }
            }
        }

        private func write() -> Errno? {
            let events = typist.outputEvents
            // Before the write, so that whoever reads an event finds it among those meant.
            meant?.add(typist.output)
            var failure: Errno?
            var written = 0
            do throws(Errno) {
                if case .done(let bytes) = try device.write(typist.output) {
                    written = bytes / UInputDevice.eventSize
                }
            } catch {
                failure = error
            }
            let now = MonotonicClock.nanoseconds
            if written == events, failure == nil {
                typist.commit(now: now)
            } else {
                // A keyboard that takes less than a whole write is one that takes nothing more.
                typist.fail(acceptedEvents: written, now: now)
                failure = failure ?? .ioError
            }
            return failure
        }
    }

    /// How long after its making the keyboard is given to readers that have yet to open it.
    package static let settlingTime: Int64 = 200_000_000

    private let waker: Waker
    private let stopping = Atomic<Bool>(false)
    private let finished: Waker
    /// The questions whether the thread still works, and those that it has answered.
    private let asked = Atomic<UInt32>(0)
    private let answered = Atomic<UInt32>(0)
    private let failure = Mutex<Errno?>(nil)

    /// Starts the thread.
    ///
    /// `finished` is woken when it has ended; `meant` hears of all events for the self-check, where there is one.
    package init<Device: KeyboardDevice & ~Copyable>(
        _ typist: consuming Typist,
        device: consuming Device,
        meant: consuming MeantEvents.Writer? = nil,
        finished: Waker
    ) throws(Errno) {
        self.waker = try Waker()
        self.finished = finished
        let hands = Hands(typist, device, meant)
        let notBefore = MonotonicClock.nanoseconds + Self.settlingTime
        _ = try SystemThread(name: "typist") { [self] in
            let error = hands.run(
                waker,
                shouldStop: { stopping.load(ordering: .acquiring) },
                progress: { answered.store(asked.load(ordering: .relaxed), ordering: .relaxed) },
                notBefore: notBefore
            )
            failure.withLock { $0 = error }
            finished.wake()
        }
    }

    /// Makes the thread look into the ring.
    package func wake() { waker.wake() }

    /// Asks the thread for a sign of life; called by one thread only.
    package func ping() {
        asked.store(asked.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        waker.wake()
    }

    /// Whether the thread has given the sign of life that it was asked for last.
    package var hasAnswered: Bool { answered.load(ordering: .relaxed) == asked.load(ordering: .relaxed) }

    /// Lets the thread finish what may still be typed, and end.
    package func stop() {
        stopping.store(true, ordering: .releasing)
        waker.wake()
    }

    /// Why the thread ended by itself; nil where it was told to, or runs.
    package var error: Errno? { failure.withLock { $0 } }
}
