// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import LinuxIO
import Testing

@testable import BluetoothAdapters

@Suite("The link")
struct ATTLinkTests {
    @Test("An indication is confirmed once, also when whoever takes its value closes the link at once")
    func confirmation() throws {
        let loop = try EventLoop()
        for closes in [false, true] {
            let channel = FakeChannel(Script.device, loop) { _ in nil }
            let link = ATTLink(channel, on: loop)
            var values: [[UInt8]] = []
            link.onValue = { [unowned link] _, value in
                values.append([UInt8](copying: value))
                if closes { link.close() }
            }
            channel.deliver([0x1D, 0x03, 0x00, 0x41])
            #expect(channel.sent == [[0x1E]])
            #expect(values == [[0x41]])
            #expect(channel.isClosed == closes)
        }
    }

    @Test("A link that is let go of by whoever takes its value takes the rest of the PDU first")
    func release() throws {
        let loop = try EventLoop()
        let channel = FakeChannel(Script.device, loop) { _ in nil }
        var link: ATTLink? = ATTLink(channel, on: loop)
        link?.onValue = { _, _ in link = nil }
        channel.deliver([0x1D, 0x03, 0x00, 0x41])
        #expect(channel.sent == [[0x1E]])
        #expect(link == nil && channel.isClosed)
    }
}
