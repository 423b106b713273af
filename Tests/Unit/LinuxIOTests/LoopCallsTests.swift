// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import ClockSupport
    import Glibc
    import Synchronization
    import SystemPackage
    import TestSupport
    import Testing

    @testable import LinuxIO

    /// System calls of event loops: a descriptor that is not read, or is still watched, would keep a loop awake.
    @Suite("System calls of the event loop", .timeLimit(.minutes(5)))
    struct LoopCallsTests {
        /// Records the calls of `body` on loops; at each `epoll_wait`, `onWait` gets the number of these so far.
        private func calls(onWait: @escaping @Sendable (Int) -> Void, _ body: () throws -> Void) rethrows -> [String] {
            let state = Mutex((calls: [String](), waits: 0))
            CallScript.use { site in
                guard site.kind == .loop else { return nil }
                let waits = state.withLock { state in
                    state.calls.append(site.call.rawValue)
                    if site.call == .epollWait { state.waits += 1 }
                    return state.waits
                }
                if site.call == .epollWait { onWait(waits) }
                return nil
            }
            defer { CallScript.use(nil) }
            try body()
            return state.withLock { $0.calls }
        }

        @Test("A timer that has fired leaves the loop asleep")
        func timer() throws {
            let waker = try Waker()
            let calls = try calls(onWait: { if $0 > 1 { waker.wake() } }) {
                let loop = try EventLoop()
                var wakes = 0
                _ = try loop.watch(waker.descriptor, for: .readable) { _ in
                    waker.reset()
                    wakes += 1
                    if wakes == 2 { loop.stop() }
                }
                _ = loop.schedule(at: .zero) {}
                try loop.run()
            }
            #expect(
                calls == [
                    "epoll_create1", "timerfd_create", "epoll_ctl_add", "epoll_ctl_add", "epoll_wait", "read",
                    "epoll_wait", "epoll_wait",
                ]
            )
        }

        @Test("Once the waiting lines are written, a writable stream does not wake the loop")
        func writer() throws {
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            defer { for end in ends { close(end) } }
            let waker = try Waker()
            let read = ends[0]
            let calls = try calls(onWait: { count in
                var buffer = [UInt8](repeating: 0, count: 1 << 20)
                if count == 1 { _ = Glibc.read(read, &buffer, buffer.count) }
                if count > 1 { waker.wake() }
            }) {
                let loop = try EventLoop()
                let writer = try LineWriter(number: ends[1]) { "\($0)" }
                writer.join(loop)
                for _ in 0..<20 { writer.write(String(repeating: "x", count: 4096)) }
                var wakes = 0
                _ = try loop.watch(waker.descriptor, for: .readable) { _ in
                    waker.reset()
                    wakes += 1
                    if wakes == 2 { loop.stop() }
                }
                try loop.run()
            }
            #expect(calls.suffix(3) == ["epoll_wait", "epoll_wait", "epoll_wait"])
            #expect(calls.count { $0 == "epoll_ctl_add" } == 3)
        }

        @Test("A loop tolerates 15 failures in a row, and then passes the error on")
        func faults() throws {
            let failures = Mutex(0)
            CallScript.use {
                $0.call == .epollWait
                    ? failures.withLock {
                        $0 += 1; return .error(.noMemory)
                    } : nil
            }
            defer { CallScript.use(nil) }
            let loop = try EventLoop()
            #expect(throws: Errno.noMemory) { try loop.run() }
            #expect(failures.withLock { $0 } == 16)
        }

        @Test("Work of a loop's thread is done on it in order, also after its end, when it is done at once")
        func executor() throws {
            let executor = try LoopExecutor(name: "a name longer than fifteen bytes")
            let told = Mutex<[String]>([])
            let done = try Waker()
            executor.submit { told.withLock { $0.append("1 \(executor.isCurrent)") } }
            executor.submit {
                let name = FileSystem.line(of: "/proc/thread-self/comm") ?? ""
                told.withLock { $0.append(name) }
                _ = executor.loop
                executor.stop()
                executor.submit {
                    told.withLock { $0.append("last") }
                    done.wake()
                }
            }
            done.wait(until: nil)
            #expect(!executor.isCurrent)
            #expect(told.withLock { $0 } == ["1 true", "a name longer t", "last"])
        }

        @Test("Real clocks have the kernel's time, and dates are written in these forms")
        func clocks() {
            func now(_ clock: clockid_t) -> Int64 {
                var time = timespec()
                clock_gettime(clock, &time)
                return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
            }
            let before = (now(CLOCK_BOOTTIME), now(CLOCK_REALTIME) / 1000, Int(now(CLOCK_REALTIME) / 1_000_000_000))
            let found = (MonotonicClock.nanoseconds, WallClock.microseconds, WallClock.seconds)
            let after = (now(CLOCK_BOOTTIME), now(CLOCK_REALTIME) / 1000, Int(now(CLOCK_REALTIME) / 1_000_000_000))
            #expect((before.0...after.0).contains(found.0) && (before.1...after.1).contains(found.1))
            #expect(((before.2 - 1)...after.2).contains(found.2))
            #expect(WallClock.universal(1_700_000_000) == "2023-11-14T22:13:20Z")
            #expect(WallClock.universal(microseconds: 1_700_000_000_000_042) == "2023-11-14T22:13:20.000042Z")
            #expect(WallClock.universal(microseconds: -1) == "1969-12-31T23:59:59.999999Z")
            #expect(WallClock.universal(microseconds: -1_000_000) == "1969-12-31T23:59:59.000000Z")
            SystemTime.$ofTask.withValue(VirtualClock(at: 5_000_000_000, wallSeconds: 1_000)) {
                #expect(WallClock.seconds == 1_000 && WallClock.microseconds == 1_000_000_000)
                #expect(WallClock.seconds(at: .seconds(3)) == 998 && WallClock.seconds(at: .seconds(6)) == 1_001)
            }
            let rounded: [(Duration, Int64)] = [
                (.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.milliseconds(1) + .nanoseconds(1), 2),
                (.seconds(-1), -1000),
            ]
            #expect(rounded.allSatisfy { $0.rounded(to: .milliseconds(1)) == $1 })
        }

        @Test("A date is written in the local time zone")
        func local() async {
            await #expect(processExitsWith: .success) {
                setenv("TZ", "JST-9", 1)
                tzset()
                #expect(WallClock.local(1_700_000_000) == "2023/11/15 07:13:20")
            }
        }
    }
#endif
