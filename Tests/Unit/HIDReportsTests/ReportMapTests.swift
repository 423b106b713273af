// SPDX-License-Identifier: GPL-2.0-or-later

import HIDReports
import Testing

@Suite struct ReportMapTests {
    @Test func emptyMapIsRefused() {
        #expect(throws: ReportMapError(offset: 0, reason: .empty)) { try ReportMap([]) }
    }
}
