// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothHost
    import ClockSupport
    import LinuxIO
    import Testing

    @testable import BluetoothAdapters

    /// Data that a controller delivers before or after the event of the encryption, in virtual time.
    @Suite("Early data on a link of our own host", .timeLimit(.minutes(5)))
    struct HostChannelEarlyPacketsTests {
        private enum Entry: Equatable {
            case secured, notSecured, closed
            case value(UInt8)
        }

        /// Link to a bonded peripheral, whose Encryption Change event is held back.
        private final class Link {
            let bench: PairingBench
            let link: ATTLink
            private let handle: UInt16
            private(set) var log: [Entry] = []
            /// Number of injected notifications; their values count from 0.
            private(set) var sent: UInt8 = 0

            /// Connects a bonded central; without `isKnown`, the peripheral has lost its key.
            init(isKnown: Bool = true) throws {
                bench = try PairingBench()
                try bench.open()
                _ = try bench.pair(1).get()
                if !isKnown { try bench.restart(0) }
                link = try bench.connect(1)
                handle = try #require(bench.adapters[1].host.connections.first).handle
                link.onValue = { [unowned self] _, bytes in log.append(.value(bytes[0])) }
                link.onEvent = { [unowned self] event in if case .closed = event { log.append(.closed) } }
            }

            /// Calls `body` with the Encryption Change event when it is due.
            func secure(early: Duration = .zero, _ body: @escaping ([UInt8]) -> Void) {
                bench.early.onEncryption = body
                link.secure(.encrypted, early: early) { [unowned self] result in
                    if case .success = result { log.append(.secured) } else { log.append(.notSecured) }
                }
            }

            /// Delivers a notification with the next number.
            func notify() {
                let (low, high) = (UInt8(truncatingIfNeeded: handle), UInt8(truncatingIfNeeded: handle >> 8))
                bench.early.deliver([2, low, high | 0x20, 8, 0, 4, 0, 4, 0, 0x1B, 0x42, 0x00, sent])
                sent += 1
            }

            /// Delivers an Exchange MTU Request for 185 bytes.
            func exchangeMTU() {
                let (low, high) = (UInt8(truncatingIfNeeded: handle), UInt8(truncatingIfNeeded: handle >> 8))
                bench.early.deliver([2, low, high | 0x20, 7, 0, 3, 0, 4, 0, 0x02, 0xB9, 0x00])
            }

            /// Delivers the event of a disconnection by the peripheral.
            func disconnect() {
                let (low, high) = (UInt8(truncatingIfNeeded: handle), UInt8(truncatingIfNeeded: handle >> 8))
                bench.early.deliver([4, 5, 4, 0, low, high, 0x13])
            }

            /// Notifies at these times before and after the event, in ms, and runs until that is over.
            func play(early: Duration, before: [Int] = [100, 50, 30, 5, 0], after: [Int] = [0, 5, 30, 100]) throws {
                var isOver = false
                let loop = bench.loop
                func at(_ time: Duration, _ handler: @escaping () -> Void) {
                    _ = loop.schedule(at: time, handler: handler)
                }
                secure(early: early) { [unowned self] event in
                    let time = MonotonicClock.now + .milliseconds(200)
                    for offset in before where offset > 0 { at(time - .milliseconds(offset)) { self.notify() } }
                    at(time) {
                        for offset in before where offset == 0 { self.notify() }
                        self.bench.early.deliver(event)
                        for offset in after where offset == 0 { self.notify() }
                    }
                    for offset in after where offset > 0 { at(time + .milliseconds(offset)) { self.notify() } }
                    at(time + .milliseconds(200)) { isOver = true }
                }
                try bench.run { isOver }
                #expect(Int(sent) == before.count + after.count)
            }

            /// Number of values that were delivered or refused.
            var accounted: Int {
                Int(link.refusedPackets) + log.count { if case .value = $0 { true } else { false } }
            }
        }

        private func with(isKnown: Bool = true, _ body: (Link) throws -> Void) throws {
            try SystemTime.$ofTask.withValue(VirtualClock()) { try body(try Link(isKnown: isKnown)) }
        }

        @Test("By default, only data after the encryption is delivered, and all other data is refused and counted")
        func afterOnly() throws {
            try with { link in
                try link.play(early: .zero)
                #expect(link.log == [.secured, .value(5), .value(6), .value(7), .value(8)])
                #expect(link.link.refusedPackets == 5 && link.accounted == Int(link.sent))
                #expect(link.link.earlyValues.refused == 5 && link.link.earlyValues.accepted == 0)
                #expect(link.link.earlyValues.longest == .milliseconds(100))
            }
        }

        @Test(
            "Data that came at most the allowed time before the encryption is delivered after the completion, in order",
            arguments: [(50, 1), (49, 2), (30, 2), (4, 4), (100, 0), (99, 1)]
        )
        func early(limit: Int, refused: UInt8) throws {
            try with { link in
                try link.play(early: .milliseconds(limit))
                #expect(link.log == [.secured] + (refused..<9).map { .value($0) })
                #expect(link.link.refusedPackets == UInt64(refused) && link.accounted == Int(link.sent))
                #expect(link.link.earlyValues.accepted == UInt64(5 - refused))
            }
        }

        @Test("A device that asks for the MTU before the encryption gets its response")
        func exchange() throws {
            try with { link in
                var event: [UInt8] = []
                link.secure { event = $0 }
                try link.bench.run { !event.isEmpty }
                link.exchangeMTU()
                link.notify()
                #expect(link.link.mtu == 23)
                link.bench.early.deliver(event)
                try link.bench.run { link.link.mtu == 185 }
                #expect(link.log == [.secured] && link.link.refusedPackets == 1)
            }
        }

        @Test("Of more than 64 early packets the oldest are refused, and all are counted")
        func flood() throws {
            try with { link in
                try link.play(early: .milliseconds(50), before: Array(repeating: 20, count: 70), after: [0])
                #expect(link.log == [.secured] + (6...70).map { .value($0) })
                #expect(link.link.refusedPackets == 6 && link.accounted == 71)
            }
        }

        @Test("If the peripheral has lost its key, early data is refused and counted")
        func failedEncryption() throws {
            try with(isKnown: false) { link in
                try link.play(early: .milliseconds(50), after: [])
                #expect(link.log.first == .notSecured && !link.log.contains(.secured))
                #expect(link.link.refusedPackets == 5 && link.accounted == 5)
                #expect(link.link.earlyValues.refused == 5 && link.link.earlyValues.longest == nil)
            }
        }

        @Test("Without an end of the encryption, early data is refused after 10 s")
        func noEnd() throws {
            try with { link in
                link.secure(early: .seconds(60)) { _ in for _ in 0..<3 { link.notify() } }
                try link.bench.run { !link.log.isEmpty }
                #expect(link.log == [.notSecured])
                #expect(link.link.refusedPackets == 3 && link.accounted == 3)
            }
        }

        @Test("Early data of a link that ends during the encryption is refused and counted", arguments: [true, false])
        func endedLink(isByUs: Bool) throws {
            try with { link in
                var isOver = false
                link.secure(early: .milliseconds(50)) { _ in
                    for _ in 0..<3 { link.notify() }
                    if isByUs { link.link.close() } else { link.disconnect() }
                    isOver = true
                }
                try link.bench.run { isOver }
                #expect(link.log == (isByUs ? [] : [.closed]))
                #expect(link.link.refusedPackets == 3 && link.accounted == 3)
            }
        }
    }
#endif
