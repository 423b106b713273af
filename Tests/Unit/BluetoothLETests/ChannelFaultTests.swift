// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import Testing

@testable import BluetoothAdapters

@Suite("The double free of a channel")
struct ChannelFaultTests {
    @Test(
        "kernels that were examined have it or not, other releases of 6.1 may",
        arguments: [
            ("6.1.0-50-amd64", "Debian 6.1.176-1", .absent), ("6.1.0-54-amd64", "Debian 6.1.190-1", .absent),
            ("6.1.0-55-amd64", "Debian 6.1.192-1", .present), ("6.1.0-56-amd64", "Debian 6.1.192-2", .present),
            ("6.1.0-57-arm64", "Debian 6.1.193-1", .unknown), ("6.1.0-1036-oem", "#36-Ubuntu", .unknown),
            ("6.1.190", "", .absent), ("6.1.191", "", .present), ("6.1.192", "", .present), ("6.1.193", "", .unknown),
            ("5.10.0-46-amd64", "Debian 5.10.262-1", .absent), ("6.12.118+deb13-amd64", "Debian 6.12.118-1", .absent),
            ("7.1.192", "", .absent), ("6.11.192", "", .absent),
        ] as [(String, String, ChannelFault)]
    )
    func versions(release: String, build: String, fault: ChannelFault) {
        #expect(ChannelFault(KernelVersion(release: release, build: build)) == fault)
        #expect(ChannelFault(nil) == .absent)
    }

    @Test("the question asks for services from the last handle on, and its response or any error answers it")
    func question() {
        #expect(ChannelFault.question == [0x10, 0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x28])
        let answers: [[UInt8]] = [[0x01, 0x10, 0xFF, 0xFF, 0x0A], [0x01, 0x07, 0x1A, 0x00, 0x0A], [0x11, 0x06]]
        let others: [[UInt8]] = [[], [0x1B, 0x03, 0x00, 0x41], [0x10, 0xFF], [0x03, 0xF7, 0x00]]
        for pdu in answers + others {
            let isAnswer = ChannelFault.isAnswer(pdu.span)
            #expect(isAnswer == answers.contains(pdu))
        }
    }
}
