// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import Glibc
    import Synchronization
    package import SystemPackage

    /// A stand-in for the kernel at named call sites, for tests: it is in no release build.
    ///
    /// It holds for the thread that has asked for it and those that this one starts, so that tests beside it have the
    /// kernel's own answers.
    package enum CallScript {
        /// What the program is told in the kernel's place.
        package enum Answer: Sendable {
            /// The call's result.
            case result(Int32)
            /// The call fails.
            case error(Errno)
        }

        /// Answers a call in the kernel's place; nil leaves it to the kernel.
        package typealias Handler = @Sendable (CallSite) -> Answer?

        private static let handlers = Mutex<[UInt: Handler]>([:])
        private static let count = Atomic<Int>(0)

        /// Has this thread's calls answered by `handler`, and those of the threads that it starts; nil ends that.
        package static func use(_ handler: Handler?) {
            handlers.withLock { handlers in
                handlers[SystemThread.current] = handler
                count.store(handlers.count, ordering: .relaxed)
            }
        }

        /// The handler of the calling thread.
        static var current: Handler? {
            guard count.load(ordering: .relaxed) > 0 else { return nil }
            return handlers.withLock { $0[SystemThread.current] }
        }

        /// Makes a call, or answers it.
        static func run<Result: FixedWidthInteger>(_ site: CallSite?, _ call: () -> Result) -> Result {
            guard let site, let answer = current?(site) else { return call() }
            switch answer {
            case .result(let result): return Result(truncatingIfNeeded: result)
            case .error(let error):
                errno = error.rawValue
                return Result(truncatingIfNeeded: -1)
            }
        }
    }
#endif
