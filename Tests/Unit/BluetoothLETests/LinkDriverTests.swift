// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@testable import BluetoothAdapters

/// Link driver with a simulated adapter and an event loop on the test's thread.
@Suite(.timeLimit(.minutes(10))) struct LinkDriverTests {
    private static let exchange: [UInt8] = [0x02, 0x05, 0x02]
    private static let refusal: [UInt8] = [0x01, 0x02, 0x00, 0x00, 0x06]

    private final class Bench {
        let loop: EventLoop
        let adapter: FakeAdapter
        let driver: LinkDriver
        private(set) var events: [LinkDriver.Event] = []

        init() throws {
            loop = try EventLoop()
            adapter = FakeAdapter(loop)
            adapter.answers = Script.answers
            driver = LinkDriver(on: RadioArbiter(on: loop, using: adapter))
            driver.onEvent = { [unowned self] event in events.append(event) }
        }

        var failures: [LinkFailure] {
            events.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
        }

        var ready: Int {
            events.count { if case .ready = $0 { true } else { false } }
        }

        /// Returns true if an MTU request was sent over the channel with that number.
        func isAsked(_ number: Int) -> Bool {
            adapter.channels.count > number && !adapter.channels[number].sent.isEmpty
        }
    }

    @Test(
        "A link is connected, then asked for its MTU, then ready; a refused exchange leaves 23 bytes",
        arguments: [100, 23]
    )
    func ready(mtu: UInt16) throws {
        let bench = try Bench()
        if mtu == 23 { bench.adapter.answers[Self.exchange] = Self.refusal }
        bench.driver.open(Script.device, .once(.seconds(5)))
        #expect(try bench.loop.run { bench.ready == 1 })
        guard case .connected(let link) = bench.events.first else { throw NotConnected() }
        #expect(bench.events.count == 2 && link === bench.driver.link && link.mtu == mtu)
        #expect(bench.adapter.channels[0].sent == [Self.exchange])
    }

    @Test("A connection that was not established is made again, within the time of the first")
    func notEstablished() throws {
        let bench = try Bench()
        bench.adapter.answers[Self.exchange] = nil
        bench.driver.open(Script.device, .once(.seconds(5)))
        #expect(try bench.loop.run { bench.isAsked(0) })
        bench.adapter.channels[0].droppedPackets = 3
        bench.adapter.answers[Self.exchange] = Self.refusal
        bench.adapter.channels[0].lose(.notEstablished)
        #expect(try bench.loop.run { bench.ready == 1 })
        #expect(bench.failures.isEmpty && bench.adapter.channels.count == 2 && bench.driver.droppedPackets == 3)
        // The MTU exchange is repeated on the second connection.
        #expect(bench.adapter.channels[1].sent == [Self.exchange])

        let late = try Bench()
        late.adapter.answers[Self.exchange] = nil
        late.driver.open(Script.device, .once(.milliseconds(20)))
        #expect(try late.loop.run { late.isAsked(0) })
        let limit = MonotonicClock.now + .milliseconds(20)
        #expect(try late.loop.run { MonotonicClock.now > limit })
        late.adapter.channels[0].lose(.notEstablished)
        #expect(late.failures == [.notEstablished] && late.adapter.begun == 1)
    }

    @Test("A device that hangs up at the MTU exchange is not asked for it the next time, once; another device is")
    func hangsUp() throws {
        let bench = try Bench()
        let other = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F6), .random)
        bench.adapter.answers[Self.exchange] = nil
        bench.driver.open(Script.device, .once(.seconds(5)))
        #expect(try bench.loop.run { bench.isAsked(0) })
        bench.adapter.channels[0].lose(.closedByPeer)
        #expect(bench.failures == [.closedByPeer] && bench.driver.leavesMTU)
        bench.driver.open(Script.device, .once(.seconds(5)))
        #expect(try bench.loop.run { bench.ready == 1 })
        #expect(bench.adapter.channels[1].sent.isEmpty && !bench.driver.leavesMTU)
        bench.adapter.channels[1].lose(.closedByPeer)
        bench.driver.open(Script.device, .once(.seconds(5)))
        #expect(try bench.loop.run { bench.isAsked(2) })
        bench.adapter.channels[2].lose(.closedByPeer)
        bench.driver.open(other, .once(.seconds(5)))
        #expect(try bench.loop.run { bench.isAsked(3) })
    }

    @Test("A link that ends at the MTU exchange for another reason is asked for it the next time")
    func endsOtherwise() throws {
        let bench = try Bench()
        bench.adapter.answers[Self.exchange] = nil
        bench.driver.open(Script.device, .once(.seconds(5)))
        #expect(try bench.loop.run { bench.isAsked(0) })
        bench.adapter.channels[0].lose(.system(.timedOut))
        #expect(bench.failures == [.system(.timedOut)] && !bench.driver.leavesMTU)
    }

    @Test("A link that cannot be secured is asked for nothing")
    func notSecured() throws {
        let bench = try Bench()
        bench.driver.open(Script.device, .once(.seconds(5)), requiring: .encrypted)
        #expect(
            try bench.loop.run {
                if case .notSecured = bench.events.last { true } else { false }
            }
        )
        #expect(bench.events.count == 2 && bench.adapter.channels[0].sent.isEmpty)
    }

    @Test("Closing ends an attempt, or the link, once the controller has; nothing is told of it")
    func closes() throws {
        let bench = try Bench()
        bench.adapter.attempts = [nil]
        bench.driver.open(Script.device, .forever)
        var closed = 0
        bench.driver.close { closed += 1 }
        #expect(try bench.loop.run { closed == 1 })
        #expect(bench.adapter.cancelled == 1 && bench.events.isEmpty)
        bench.driver.open(Script.device, .forever)
        #expect(try bench.loop.run { bench.ready == 1 })
        bench.driver.close { closed += 1 }
        #expect(bench.driver.link == nil && bench.adapter.channels[0].isClosed)
        #expect(try bench.loop.run { closed == 2 })
        #expect(bench.adapter.disconnected == [Script.device, Script.device] && bench.failures.isEmpty)
        bench.driver.close { closed += 1 }
        #expect(closed == 2)
        #expect(try bench.loop.run { closed == 3 })
    }

    private struct NotConnected: Error {}
}
