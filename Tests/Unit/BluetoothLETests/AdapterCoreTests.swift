// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import ClockSupport
    import LinuxIO
    import TestSupport
    import Testing

    @testable import BluetoothAdapters

    extension FakeAdapter {
        func renew(completion: @escaping (Bool) -> Void) {
            if let onRenew { onRenew(completion) } else { completion(false) }
        }
    }

    /// Attempts to open an adapter, in virtual time.
    @Suite(.timeLimit(.minutes(5))) struct AdapterCoreTests {
        private final class Bench {
            enum Attempt { case success, failure(AdapterError), error(AdapterError), pending }

            let loop: EventLoop
            let adapter: FakeAdapter
            private(set) var core: AdapterCore
            /// Events with the time in seconds and the state.
            private(set) var notes: [String] = []
            /// Results of the attempts to open the adapter; the last one is repeated.
            var attempts: [Attempt] = [.success]
            private(set) var openings = 0
            /// Completion handler of an attempt that is pending.
            var completion: ((Result<any LowEnergyAdapter, AdapterError>) -> Void)?

            static func run(exclusive name: String? = nil, _ body: (Bench) throws -> Void) throws {
                try SystemTime.$ofTask.withValue(VirtualClock(at: 1)) { try body(Bench(name)) }
            }

            private init(_ name: String?) throws {
                loop = try EventLoop()
                adapter = FakeAdapter(loop)
                core = AdapterCore(loop) { _, _ in }
                core = AdapterCore(loop, watching: ScanWatch(), RadioArbiter.Limits(), exclusive: name) {
                    [unowned self] _, completion throws(AdapterError) in
                    openings += 1
                    switch attempts.count > 1 ? attempts.removeFirst() : attempts[0] {
                    case .success: completion(.success(adapter))
                    case .failure(let error): completion(.failure(error))
                    case .error(let error): throw error
                    case .pending: self.completion = completion
                    }
                }
                core.onEvent = { [unowned self] in note($0) }
            }

            private func note(_ event: AdapterCore.Event) {
                let text =
                    switch event {
                    case .ready: "ready"
                    case .failed(let error): "\(error)"
                    case .lost(let loss): "lost: \(loss.cause)"
                    }
                notes.append("\(MonotonicClock.now.components.seconds) \(text), \(core.state)")
            }

            /// Runs the loop for some seconds.
            func wait(_ seconds: Int) throws {
                let limit = MonotonicClock.now + .seconds(seconds)
                #expect(try loop.run(within: .seconds(300), turn: .seconds(1)) { MonotonicClock.now >= limit })
            }
        }

        @Test("An attempt follows 3 s after each failure and each loss, until the core is stopped")
        func attempts() throws {
            try Bench.run { bench in
                #expect(bench.core.state == .unknown && bench.core.adapter == nil && !bench.core.isOpening)
                bench.attempts = [.failure(.noAdapter), .error(.blocked("fake0", isHard: true)), .pending]
                bench.core.start()
                bench.core.start()
                try bench.wait(4)
                #expect(bench.core.radio.absence == BluetoothError(.blocked("fake0", isHard: true)))
                try bench.wait(4)
                #expect(bench.openings == 3 && bench.core.isOpening && bench.core.adapter == nil)
                bench.completion?(.success(bench.adapter))
                #expect(!bench.core.isOpening && bench.core.adapter === bench.adapter)
                bench.attempts = [.success]
                bench.adapter.onLoss?(.switchedOff("fake0"))
                #expect(bench.adapter.onLoss == nil && bench.core.adapter == nil)
                try bench.wait(4)
                bench.core.radio.onAdapterGone?()
                bench.core.radio.onAdapterGone?()
                try bench.wait(4)
                bench.adapter.onLoss?(.removed("fake0"))
                bench.core.stop()
                try bench.wait(10)
                #expect(
                    bench.notes == [
                        "0 noAdapter, unsupported", "3 blocked(\"fake0\", isHard: true), poweredOff",
                        "8 ready, poweredOn", "8 lost: fake0 was switched off, poweredOff", "11 ready, poweredOn",
                        "12 lost: the adapter was lost, resetting", "15 ready, poweredOn",
                        "16 lost: fake0 was removed, resetting",
                    ]
                )
                #expect(bench.openings == 5)
            }
        }

        @Test("An adapter that is not admitted is not opened if its name is known, and otherwise closed again")
        func admission() throws {
            for name in [nil, "fake0"] {
                try Bench.run(exclusive: name) { bench in
                    var asked: [String] = []
                    bench.core.isAdmitted = { name in
                        asked.append(name)
                        return asked.count > 2
                    }
                    bench.core.start()
                    try bench.wait(7)
                    #expect(bench.notes == ["6 ready, poweredOn"])
                    #expect(asked == Array(repeating: "fake0", count: name == nil ? 3 : 4))
                    #expect(bench.openings == (name == nil ? 3 : 1) && bench.adapter.closings == (name == nil ? 2 : 0))
                }
            }
        }

        @Test("An abandoned adapter is used once it is renewed; a loss meanwhile is reported after that")
        func abandoned() throws {
            for (isRestarted, isLost) in [(false, false), (true, false), (true, true)] {
                try Bench.run { bench in
                    var finish: ((Bool) -> Void)?
                    bench.adapter.onRenew = { finish = $0 }
                    bench.core.isAbandoned = { true }
                    bench.core.start()
                    try bench.wait(1)
                    #expect(bench.core.isOpening && bench.core.adapter == nil && bench.notes.isEmpty)
                    if isLost { bench.adapter.onLoss?(.removed("fake0")) }
                    finish?(isRestarted)
                    #expect(!bench.core.isOpening && bench.core.radio.counts.restarts == (isRestarted ? 1 : 0))
                    let lost = isLost ? ["1 lost: fake0 was removed, resetting"] : []
                    #expect(bench.notes == ["1 ready, poweredOn"] + lost)
                }
            }
            try Bench.run { bench in
                bench.adapter.onRenew = { _ in Issue.record("renewed") }
                bench.core.isAbandoned = { false }
                bench.core.start()
                #expect(bench.notes == ["0 ready, poweredOn"])
            }
        }

        @Test("A core that is stopped uses no adapter, and closes the one that was being opened or renewed")
        func stopped() throws {
            for isRenewing in [false, true] {
                try Bench.run { bench in
                    var finish: ((Bool) -> Void)?
                    bench.adapter.onRenew = { finish = $0 }
                    bench.core.isAbandoned = { true }
                    bench.attempts = [isRenewing ? .success : .pending]
                    bench.core.start()
                    var isReleased = false
                    bench.core.release { isReleased = true }
                    #expect(isReleased && bench.adapter.closings == 0)
                    if isRenewing { finish?(true) } else { bench.completion?(.success(bench.adapter)) }
                    try bench.wait(10)
                    #expect(bench.adapter.closings == 1 && bench.openings == 1 && bench.notes.isEmpty)
                }
            }
            try Bench.run { bench in
                bench.core.start()
                var isReleased = false
                bench.core.release { isReleased = true }
                #expect(isReleased && bench.adapter.closings == 1)
            }
        }
    }
#endif
