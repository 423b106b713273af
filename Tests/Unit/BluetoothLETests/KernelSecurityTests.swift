// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import Testing

struct KernelSecurityTests {
    @Test("T4: the kernel is asked for Secure Connections where authentication is demanded, and its HIGH is not that")
    func levels() {
        // BT_SECURITY_SDP, LOW, MEDIUM, HIGH and FIPS.
        let levels = (0...4 as ClosedRange<UInt8>).map { GATTLinkSecurity.Level(kernelLevel: $0) }
        #expect(levels == [.none, .none, .encrypted, .encrypted, .authenticated])
        #expect(GATTLinkSecurity.Level.allCases.map(\.kernelLevel) == [1, 2, 4])
    }
}
