// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import Glibc
    import LinuxIO
    import SystemPackage
    import TestSupport
    import Testing

    /// Replacements for features that a kernel lacks, each tested separately.
    ///
    /// The calls of this thread, and of the threads that it starts, fail as on such a kernel.
    @Suite("On a kernel that lacks something", .timeLimit(.minutes(10)))
    struct OldKernelTests {
        /// Runs `body` while calls at one call site fail.
        private func without(
            _ site: CallSite,
            _ error: Errno = .noFunction,
            _ body: () throws -> Void
        ) throws {
            defer { CallScript.use(nil) }
            CallScript.use { found in
                found.kind == site.kind && found.call == site.call
                    && (site.option == nil || site.option == found.option)
                    ? .error(error) : nil
            }
            try body()
        }

        @Test("Without pidfd_open the end of a program comes through the loop, and how it ended is known")
        func childEnd() throws {
            for error in [Errno.noFunction, .notPermitted] {
                try without(CallSite(.file, .pidfdOpen), error) {
                    let child = try ChildProcess("false", environment: [], replacing: "BLEWEDGE_")
                    let loop = try EventLoop()
                    let registration = try loop.watch(child.descriptor, for: .readable) { _ in loop.stop() }
                    try loop.run()
                    loop.unwatch(registration, child.descriptor)
                    #expect(child.takeEnd() == .exited(1))
                }
            }
        }

        @Test("Without pidfd_open a program that does not end by itself is no end, is stopped, and waited for")
        func childStopped() throws {
            try without(CallSite(.file, .pidfdOpen)) {
                let child = try ChildProcess("sleep", arguments: ["600"], environment: [], replacing: "BLEWEDGE_")
                // The descriptor of a running program is not readable.
                let loop = try EventLoop()
                var isEarly = true
                let registration = try loop.watch(child.descriptor, for: .readable) { _ in loop.stop() }
                _ = loop.schedule(at: MonotonicClock.now + .milliseconds(20)) {
                    isEarly = false
                    child.stop()
                }
                try loop.run()
                loop.unwatch(registration, child.descriptor)
                #expect(!isEarly)
                #expect(try child.waitForEnd() == .killed(SIGKILL))
            }
        }

        @Test("No other error of pidfd_open is taken for its absence")
        func otherErrors() throws {
            try without(CallSite(.file, .pidfdOpen), .tooManyOpenFiles) {
                #expect(throws: Errno.tooManyOpenFiles) {
                    _ = try ChildProcess("true", environment: [], replacing: "BLEWEDGE_")
                }
            }
            try without(CallSite(.loop, .timerfdCreate), .tooManyOpenFiles) {
                #expect(throws: Errno.tooManyOpenFiles) { _ = try EventLoop() }
            }
            try without(CallSite(.loop, .eventfd), .tooManyOpenFiles) {
                #expect(throws: Errno.tooManyOpenFiles) { _ = try Waker() }
            }
        }

        @Test("Without timerfd timers fire in their order and not before their time, beside what is ready")
        func timers() throws {
            try without(CallSite(.loop, .timerfdCreate)) {
                let loop = try EventLoop()
                let waker = try Waker()
                let now = MonotonicClock.now
                var (fired, turns): ([Int], Int) = ([], 0)
                // Always readable, so that no wait reaches its time-out.
                waker.wake()
                let registration = try loop.watch(waker.descriptor, for: .readable) { _ in
                    turns += 1
                    if fired.count == 1 { waker.reset() }
                    // Long after the first timer was due.
                    if fired.isEmpty, MonotonicClock.now > now + .seconds(120) { loop.stop() }
                }
                for (number, delay) in [(3, 30), (1, 10), (2, 20)] {
                    _ = loop.schedule(at: now + .milliseconds(delay)) {
                        #expect(MonotonicClock.now >= now + .milliseconds(delay))
                        fired.append(number)
                        if fired.count == 3 { loop.stop() }
                    }
                }
                try loop.run()
                loop.unwatch(registration, waker.descriptor)
                #expect(fired == [1, 2, 3] && turns > 0)
            }
        }

        @Test("Without eventfd a waker wakes, calls count as one, and the time of a wait is kept")
        func waker() throws {
            try without(CallSite(.loop, .eventfd)) {
                let waker = try Waker()
                for _ in 0..<100_000 { waker.wake() }
                waker.wait(until: nil)
                let start = MonotonicClock.nanoseconds
                waker.wait(until: start + 20_000_000)
                #expect(MonotonicClock.nanoseconds - start >= 20_000_000)
            }
        }

        @Test("Without signalfd a signal arrives as a number in the loop, each time")
        func signals() async {
            await #expect(processExitsWith: .success) {
                CallScript.use { $0.call == .signalfd ? .error(.noFunction) : nil }
                let loop = try EventLoop()
                var received: [Int32] = []
                try loop.handleSignals([SIGUSR1, SIGUSR2]) { number in
                    received.append(number)
                    if received.count == 1 { kill(getpid(), SIGUSR2) } else { loop.stop() }
                }
                // Any of the threads may receive it.
                kill(getpid(), SIGUSR1)
                try loop.run()
                #expect(received == [SIGUSR1, SIGUSR2])
            }
        }

        @Test(
            "A kernel that cannot filter system calls says so, and that is no error",
            arguments: [EINVAL, ENOSYS]
        )
        func filter(_ code: Int32) async {
            await #expect(processExitsWith: .success) { [code = code as Int32] in
                CallScript.use { $0.call == .prctl ? .error(Errno(rawValue: code)) : nil }
                let isInstalled = try SystemCallFilter.install(allowsInternet: false)
                #expect(!isInstalled)
            }
        }

        @Test("A capture begins on a kernel that gives packets no times")
        func times() throws {
            defer { CallScript.use(nil) }
            CallScript.use { site in
                switch (site.kind, site.call) {
                case (.hci, .socket): .result(socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
                case (.hci, .bind): .result(0)
                case (.hci, .setsockopt) where site.option == SO_TIMESTAMP: .error(.protocolNotAvailable)
                default: nil
                }
            }
            _ = try MonitorSocket(receiveBuffer: 4096)
        }
    }
#endif
