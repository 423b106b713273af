// SPDX-License-Identifier: GPL-2.0-or-later

import SoakSupport
import Testing

/// Runs in a separate process, because its time is virtual.
@Suite("A day of virtual time", .timeLimit(.minutes(10)))
struct SoakTests {
    @Test("In a day of faults, no byte is uncounted, doubled, reordered or joined")
    func day() async {
        await #expect(processExitsWith: .success) {
            var plan = SoakPlan()
            (plan.days, plan.barcodes, plan.losses, plan.replugs, plan.passersBy) = (1, 1500, 40, 5, 500)
            for check in try Soak(plan).run().checks { #expect(check.isRight, "\(check.name)") }
        }
    }
}
