// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import ClockSupport
import LinuxIO
import SystemPackage
import TestSupport
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

    /// Link that has sent a read request, and the events that it reports.
    private final class Reading {
        let loop: EventLoop
        let channel: FakeChannel
        let link: ATTLink
        var events: [String] = []

        init(sendFault: LinkFailure? = nil, isWritable: Bool = true) throws {
            loop = try EventLoop()
            channel = FakeChannel(Script.device, loop) { _ in nil }
            (channel.sendFault, channel.isWritable) = (sendFault, isWritable)
            link = ATTLink(channel, on: loop)
            link.onEvent = { [unowned self] event in
                switch event {
                case .procedure(let event): events.append("\(event)")
                case .closed(let failure): events.append("closed \(failure)")
                }
            }
            _ = try link.perform { client, now throws(GATTError) in try client.read(AttributeHandle(3), now: now) }
        }
    }

    @Test("A request that cannot be sent closes the link with that error; one without room is sent later, once")
    func sending() throws {
        let failed = try Reading(sendFault: .system(.connectionReset))
        #expect(failed.events == ["closed \(LinkFailure.system(.connectionReset))"] && failed.channel.isClosed)
        let late = try Reading(isWritable: false)
        #expect(late.channel.sent.isEmpty && late.events.isEmpty)
        late.channel.isWritable = true
        for _ in 0..<2 { late.channel.onWritable?() }
        #expect(late.channel.sent == [[0x0A, 0x03, 0x00]])
        late.channel.deliver([0x0B, 0x41])
        #expect(late.events.count == 1 && !late.channel.isClosed, "\(late.events)")
        late.channel.lose(.closedByPeer)
        #expect(late.events.last == "closed \(LinkFailure.closedByPeer)" && late.events.count == 2)
    }

    #if DEBUG
        @Test("Core 6.0, Vol 3, Part F, 3.3.3: a request that is not answered in 30 s fails and closes the link")
        func timeout() throws {
            try SystemTime.$ofTask.withValue(VirtualClock()) {
                for isAnswered in [true, false] {
                    let start = MonotonicClock.now
                    let reading = try Reading()
                    if isAnswered { reading.channel.deliver([0x0B, 0x41]) }
                    #expect(try reading.loop.run { MonotonicClock.now >= start + .seconds(29) })
                    #expect(reading.events.count == (isAnswered ? 1 : 0))
                    #expect(try reading.loop.run { MonotonicClock.now >= start + .seconds(31) })
                    let closed = "closed \(LinkFailure.bearer(.transactionTimeout(.readRequest)))"
                    #expect(reading.events.contains(closed) == !isAnswered, "\(reading.events)")
                    #expect(reading.channel.isClosed == !isAnswered)
                }
            }
        }
    #endif
}
