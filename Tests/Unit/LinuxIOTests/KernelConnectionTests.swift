// SPDX-License-Identifier: GPL-2.0-or-later

import Testing

@testable import LinuxIO

@Suite("Connections of the kernel's controllers")
struct KernelConnectionTests {
    /// Returns an entry of the kernel's connection list: handle, address, type, direction, state, link mode.
    private func entry(_ address: UInt8, type: UInt8, state: UInt8) -> [UInt8] {
        [0x40, 0] + [address, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0] + [type, 1, state, 0, 0, 0, 0, 0]
    }

    @Test("CB-14: established Low Energy connections are read, and no others")
    func entries() {
        // 0x80 is LE_LINK, and 1 is ACL_LINK; 1 is BT_CONNECTED, and 5 is BT_CONNECT.
        let list: [UInt8] =
            [3, 0, 4, 0] + entry(1, type: 0x80, state: 1) + entry(2, type: 1, state: 1)
            + entry(3, type: 0x80, state: 5) + entry(4, type: 0x80, state: 1)
        let found = KernelConnection.parse(list.span)
        #expect(found == [1, 4].map { KernelConnection(controller: 3, device: 0xF0F1_F2F3_F400 + $0) })
    }

    @Test("A list that claims more entries than it has is read up to its end")
    func truncation() {
        let list: [UInt8] = [0, 0, 0xFF, 0xFF] + entry(1, type: 0x80, state: 1) + entry(2, type: 0x80, state: 1)
        let cut = Array(list.dropLast())
        let found = KernelConnection.parse(cut.span)
        #expect(found.count == 1)
        for length in 0..<20 {
            let cut = Array(list.prefix(length))
            let found = KernelConnection.parse(cut.span)
            #expect(found.isEmpty)
        }
    }
}
