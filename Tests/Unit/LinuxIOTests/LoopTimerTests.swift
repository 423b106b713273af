// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import Testing

@Suite("A timer of the event loop that is set at most once at a time", .timeLimit(.minutes(10)))
struct LoopTimerTests {
    /// Runs a loop for 20 ms, and returns the recorded notes.
    private func notes(_ body: (EventLoop, @escaping (String) -> Void) throws -> Void) throws -> [String] {
        let loop = try EventLoop()
        var notes: [String] = []
        try body(loop) { notes.append($0) }
        _ = loop.schedule(at: MonotonicClock.now + .milliseconds(20)) { loop.stop() }
        try loop.run()
        return notes
    }

    @Test("It calls the handler that was set last, and no other")
    func replaced() throws {
        let timer = LoopTimer()
        let notes = try notes { loop, note in
            timer.set(on: loop, after: .milliseconds(1)) { note("first") }
            timer.set(on: loop, after: .milliseconds(2)) { note("second") }
            #expect(timer.isSet)
        }
        #expect(notes == ["second"] && !timer.isSet)
    }

    @Test("A timer that is cancelled, set to no deadline, or freed does not fire")
    func cancelled() throws {
        let (cancelled, cleared) = (LoopTimer(), LoopTimer())
        var freed: LoopTimer? = LoopTimer()
        let notes = try notes { loop, note in
            for timer in [cancelled, cleared, freed] { timer?.set(on: loop, at: .zero) { note("fired") } }
            cancelled.cancel()
            cleared.set(on: loop, at: nil) { note("fired") }
            freed = nil
            #expect(!cancelled.isSet && !cleared.isSet)
        }
        #expect(notes.isEmpty)
    }

    @Test("It is not set when its handler runs, which may set it again or free it")
    func fired() throws {
        var timer: LoopTimer? = LoopTimer()
        let notes = try notes { loop, note in
            timer?.set(on: loop, at: .zero) {
                note("first, set: \(timer?.isSet == true)")
                timer?.set(on: loop, at: .zero) {
                    timer = nil
                    note("second")
                }
                note("set: \(timer?.isSet == true)")
            }
        }
        #expect(notes == ["first, set: false", "set: true", "second"])
    }
}
