// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import Testing

@Suite("A back-off")
struct BackoffTests {
    @Test("Each pause is twice the one before, up to the longest, and the first again after a reset")
    func pauses() {
        var backoff = Backoff(.seconds(3)...Duration.seconds(60))
        for _ in 0..<2 {
            #expect(backoff.pause == .seconds(3))
            #expect((0..<7).map { _ in backoff.next() } == [3, 6, 12, 24, 48, 60, 60].map { .seconds($0) })
            backoff.reset()
        }
    }
}
