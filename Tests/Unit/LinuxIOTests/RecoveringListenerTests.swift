// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import LinuxIO
    import Synchronization
    import SystemPackage
    import TestSupport
    import Testing

    @Suite("A listener that recovers", .timeLimit(.minutes(10)))
    struct RecoveringListenerTests {
        /// Remaining failures per call site; used by one thread only.
        private final class Script: Sendable {
            let failures: Mutex<[CallSite.Call: Int]>

            init(_ failures: [CallSite.Call: Int]) { self.failures = Mutex(failures) }

            func answer(_ site: CallSite) -> CallScript.Answer? {
                failures.withLock { failures in
                    guard let count = failures[site.call], count > 0 else { return nil }
                    failures[site.call] = count - 1
                    return .error(.tooManyOpenFiles)
                }
            }
        }

        @Test("A client that waits is accepted, however often accepting and waiting have failed before")
        func recovers() throws {
            defer { CallScript.use(nil) }
            let directory = try TestDirectory()
            let loop = try EventLoop()
            var accepted = 0
            let listener = try RecoveringListener(
                at: directory("socket"),
                mode: 0o600,
                pause: .milliseconds(1),
                on: loop
            ) { _ in
                accepted += 1
                loop.stop()
            }
            let script = Script([.accept: 2, .epollAdd: 3])
            CallScript.use { script.answer($0) }
            let client = try LocalStream(connectingTo: directory("socket"))
            _ = loop.schedule(at: MonotonicClock.now + .seconds(120)) { loop.stop() }
            try loop.run()
            #expect(accepted == 1)
            #expect(script.failures.withLock { $0.values.allSatisfy { $0 == 0 } })
            withExtendedLifetime(listener) {}
            withExtendedLifetime(client) {}
        }

        @Test("A client that cannot be taken costs only itself, and the pause keeps the loop asleep")
        func lostClient() throws {
            let directory = try TestDirectory()
            let loop = try EventLoop()
            var times: [Duration] = []
            let listener = try RecoveringListener(
                at: directory("socket"),
                mode: 0o600,
                pause: .milliseconds(20),
                on: loop
            ) { _ throws(Errno) in
                times.append(MonotonicClock.now)
                guard times.count > 1 else { throw .tooManyOpenFiles }
                loop.stop()
            }
            let first = try LocalStream(connectingTo: directory("socket"))
            let second = try LocalStream(connectingTo: directory("socket"))
            _ = loop.schedule(at: MonotonicClock.now + .seconds(120)) { loop.stop() }
            try loop.run()
            try #require(times.count == 2)
            #expect(times[1] - times[0] >= .milliseconds(20))
            withExtendedLifetime(listener) {}
            withExtendedLifetime(first) {}
            withExtendedLifetime(second) {}
        }
    }
#endif
