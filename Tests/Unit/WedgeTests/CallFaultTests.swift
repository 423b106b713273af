// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import ClockSupport
    import Daemon
    import Glibc
    import LinuxIO
    import SystemPackage
    import TestSupport
    import Testing

    /// Lets a system call of the daemon fail, once or five times in a row, at each call site.
    ///
    /// Each part runs in its own process, because the replaced calls, the clock and the descriptors belong to the
    /// process.
    @Suite("A system call that fails", .timeLimit(.minutes(10)), .enabled(if: Capability.missing.isEmpty))
    struct CallFaultTests {
        private typealias Occasion = CallFaultBench.Occasion

        private static let errors: [Errno] = [
            .noBufferSpace, .ioError, .operationNotSupportedByDevice, .notPermitted, .interrupted, .wouldBlock,
            .noMemory,
            .tooManyOpenFiles, .networkDown, .connectionReset, .socketNotConnected, .timedOut, .noSpace, .resourceBusy,
        ]

        /// Call sites, each with the event that causes calls there.
        private static let sites: [(site: CallSite, occasion: Occasion)] =
            [
                (.hci, .linkLoss, [.socket, .setsockopt, .bind, .write, .recvmsg, .recvmmsg]),
                (.management, .adapterLoss, [.socket, .bind, .write, .recvmsg]),
                (.link, .linkLoss, [.socket, .setsockopt, .bind, .connect, .getsockopt, .write, .recvmsg]),
                (.keyboard, .keyboardLoss, [.open, .ioctl]), (.keyboard, .traffic, [.write]),
                (.listener, .traffic, [.accept]), (.client, .traffic, [.getsockopt, .read, .send]),
                (.loop, .traffic, [.epollAdd, .epollWait]), (.loop, .linkLoss, [.epollModify]),
                (.loop, .choice, [.read]),
                (.file, .choice, [.open, .read, .write, .fsync, .rename]),
            ]
            .flatMap { (kind: CallKind, occasion: Occasion, calls: [CallSite.Call]) in
                calls.map { (CallSite(kind, $0), occasion) }
            }

        /// Lets a call site fail with each of the errors, `times` times in a row; returns a line for each unexpected
        /// result.
        private static func faults(_ place: Int, _ errors: [Errno], times: Int) throws -> [String] {
            var lines: [String] = []
            var slowest = Duration.zero
            for error in errors {
                let (fault, time) = try outcome(sites[place].site, sites[place].occasion, error, times)
                slowest = max(slowest, time)
                if let fault { lines.append("\(sites[place].site), errno \(error.rawValue): \(fault)") }
            }
            print(
                "\(sites[place].site), \(errors.count) errors, \(times) in a row: steady again after \(slowest) at most"
            )
            return lines
        }

        /// Lets a call site fail with an error; returns a description of an unexpected result, and the time since the
        /// last failure.
        ///
        /// The daemon must recover within 5 s after one failure; five failures in a row may lead to the longest pause
        /// between attempts.
        private static func outcome(
            _ site: CallSite,
            _ occasion: Occasion,
            _ error: Errno,
            _ times: Int
        ) throws -> (fault: String?, time: Duration) {
            let limit = times == 1 ? Duration.seconds(5) : .seconds(70)
            let bench = try CallFaultBench()
            guard try bench.isSteady(within: .seconds(30)) else { return ("the daemon does not begin", .zero) }
            let before = try bench.settledDescriptors()
            bench.kernel.fail(site, with: error, times: times)
            for _ in 0..<times where bench.kernel.hits.count < times {
                try bench.bring(occasion)
                _ = try bench.until(.seconds(times == 1 ? 10 : 40)) { bench.kernel.hits.count == times }
            }
            let hits = bench.kernel.hits
            bench.kernel.relent()
            guard let last = hits.last else { return ("the place was not come to", .zero) }
            guard try bench.isSteady(within: limit) else {
                return ("\(bench.daemon.service.device.state) \(limit) after \(hits.count) failures", limit)
            }
            let time = MonotonicClock.now - last
            if !(try bench.until(.seconds(2)) { bench.descriptors == before }) {
                return ("\(before) descriptors before, \(bench.descriptors) after", time)
            }
            if !bench.machine.heldKeys.isEmpty { return ("keys \(bench.machine.heldKeys) are held", time) }
            return (try bench.end() ? nil : "the daemon does not end", time)
        }

        /// Errors used in a run; a long run uses all of them.
        private static var chosenErrors: [Errno] {
            Array(errors.prefix(RunCount.from("BLEWEDGE_CALL_FAULT_ERRORS", usual: 2)))
        }

        @Test(
            "A call fails once: connected, typing and answering within 5 s, descriptors and keys as before",
            arguments: sites.indices
        )
        func once(_ place: Int) async {
            await #expect(processExitsWith: .success) { [place = place as Int] in
                VirtualClock.begin()
                let lines = try CallFaultTests.faults(place, CallFaultTests.chosenErrors, times: 1)
                #expect(lines.isEmpty, "\(lines.joined(separator: "\n"))")
            }
        }

        @Test(
            "A call fails five times in a row, and the daemon gets over it as well",
            .enabled(if: RunCount.from("BLEWEDGE_CALL_FAULT_ROWS", usual: 0) > 0),
            arguments: sites.indices
        )
        func fiveTimes(_ place: Int) async {
            await #expect(processExitsWith: .success) { [place = place as Int] in
                let errors = CallFaultTests.errors.prefix(RunCount.from("BLEWEDGE_CALL_FAULT_ROWS", usual: 0))
                VirtualClock.begin()
                let lines = try CallFaultTests.faults(place, Array(errors), times: 5)
                #expect(lines.isEmpty, "\(lines.joined(separator: "\n"))")
            }
        }
    }
#endif
