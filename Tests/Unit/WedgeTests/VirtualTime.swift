// SPDX-License-Identifier: GPL-2.0-or-later

import ClockSupport
import LinuxIO
import Testing

/// Gives each test of a suite its own virtual time, which advances only while the test and its threads sleep.
///
/// Use it for tests that depend only on their own loops and threads, and not on other processes or tasks. In a release
/// build, these tests use real time.
struct VirtualTime: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        #if DEBUG
            try await SystemTime.$ofTask.withValue(VirtualClock(), operation: function)
        #else
            try await function()
        #endif
    }
}

extension Trait where Self == VirtualTime {
    static var virtualTime: VirtualTime { VirtualTime() }
}
