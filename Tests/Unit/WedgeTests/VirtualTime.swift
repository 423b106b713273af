// SPDX-License-Identifier: GPL-2.0-or-later

import ClockSupport
import LinuxIO
import Testing

/// Gives each test of a suite a time of its own, which passes only while the test and its threads sleep.
///
/// For tests in whose loops and threads all comes to pass that they wait for, without another process or a task. In a release
/// build they wait.
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
