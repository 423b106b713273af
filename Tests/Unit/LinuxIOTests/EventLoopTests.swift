// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import Synchronization
import SystemPackage
import Testing

@Suite("The event loop", .timeLimit(.minutes(10)))
struct EventLoopTests {
    @Test("Timers fire in the order of their deadlines, whatever the order they were set in")
    func timersInOrder() throws {
        let loop = try EventLoop()
        let now = MonotonicClock.now
        var fired: [Int] = []
        for (number, delay) in [(3, 30), (1, 10), (2, 20), (0, -5)] {
            _ = loop.schedule(at: now + .milliseconds(delay)) {
                fired.append(number)
                if fired.count == 4 { loop.stop() }
            }
        }
        try loop.run()
        #expect(fired == [0, 1, 2, 3])
        #expect(MonotonicClock.now - now >= .milliseconds(30))
    }

    @Test("A cancelled timer does not fire, and does not hold up the others")
    func cancelledTimer() throws {
        let loop = try EventLoop()
        var fired: [String] = []
        let cancelled = loop.schedule(at: MonotonicClock.now + .milliseconds(5)) { fired.append("cancelled") }
        _ = loop.schedule(at: MonotonicClock.now + .milliseconds(15)) {
            fired.append("kept")
            loop.stop()
        }
        loop.cancel(cancelled)
        try loop.run()
        #expect(fired == ["kept"])
    }

    @Test("A timer that is set again and again for a time that has passed keeps nothing that is ready waiting")
    func endlessTimer() throws {
        let loop = try EventLoop()
        let waker = try Waker()
        var turns = 0
        func next() {
            turns += 1
            if turns == 5 { waker.wake() }
            guard turns < 10_000 else { return loop.stop() }
            _ = loop.schedule(at: .zero) { next() }
        }
        let registration = try loop.watch(waker.descriptor, for: .readable) { _ in loop.stop() }
        next()
        try loop.run()
        loop.unwatch(registration, waker.descriptor)
        #expect(turns < 10)
    }

    @Test("A waker on another thread ends the loop's sleep")
    func wakerFromAnotherThread() throws {
        let loop = try EventLoop()
        let waker = try Waker()
        var woken = 0
        let registration = try loop.watch(waker.descriptor, for: .readable) { readiness in
            #expect(readiness.contains(.readable))
            waker.reset()
            woken += 1
            loop.stop()
        }
        let thread = try SystemThread(name: "waker") { waker.wake() }
        try loop.run()
        thread.join()
        loop.unwatch(registration, waker.descriptor)
        #expect(woken == 1)
    }

    @Test("A descriptor that is not watched any more calls nobody, though its event came with another")
    func unwatchedInTheSameBatch() throws {
        let loop = try EventLoop()
        let wakers = [try Waker(), try Waker()]
        let quiet = [try Waker(), try Waker()]
        var registrations: [EventLoop.Registration] = []
        var called = 0
        for waker in wakers {
            registrations.append(
                try loop.watch(waker.descriptor, for: .readable) { _ in
                    called += 1
                    // The first callback stops watching both descriptors, and others get their numbers.
                    for (other, registration) in zip(wakers, registrations) {
                        loop.unwatch(registration, other.descriptor)
                    }
                    for waker in quiet {
                        do {
                            _ = try loop.watch(waker.descriptor, for: .readable) { _ in
                                Issue.record("a descriptor without an event is called")
                            }
                        } catch { Issue.record(error) }
                    }
                    _ = loop.schedule(at: MonotonicClock.now + .milliseconds(5)) { loop.stop() }
                }
            )
        }
        for waker in wakers { waker.wake() }
        try loop.run()
        #expect(called == 1)
    }

    @Test("A signal arrives as a number in the loop, and interrupts nobody")
    func signals() throws {
        let loop = try EventLoop()
        var received: [Int32] = []
        try loop.handleSignals([SIGUSR1]) { number in
            received.append(number)
            loop.stop()
        }
        // Sent to this thread, in which the signal is blocked, so that other threads of the test runner do not receive
        // it.
        _ = pthread_kill(pthread_self(), SIGUSR1)
        try loop.run()
        #expect(received == [SIGUSR1])
    }

    @Test("A waker's wait ends at its deadline when nobody wakes it, and at once when somebody did before")
    func waitUntilDeadline() throws {
        let waker = try Waker()
        let start = MonotonicClock.nanoseconds
        waker.wait(until: start + 20_000_000)
        #expect(MonotonicClock.nanoseconds - start >= 20_000_000)
        waker.wake()
        waker.wake()
        waker.wait(until: nil)
        let again = MonotonicClock.nanoseconds
        waker.wait(until: again + 5_000_000)
        #expect(MonotonicClock.nanoseconds - again >= 5_000_000)
    }
}
