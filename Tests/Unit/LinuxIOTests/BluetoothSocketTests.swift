// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import Glibc
    import Synchronization
    import SystemPackage
    import TestSupport
    import Testing

    @testable import LinuxIO

    /// System calls of each Bluetooth socket, answered by the test.
    @Suite("Bluetooth sockets", .timeLimit(.minutes(5)))
    struct BluetoothSocketTests {
        /// Lets sockets be ends of datagram socket pairs, and returns the calls of `body` and the other ends.
        ///
        /// A call has the number of its option, and `*` while the capabilities are effective.
        private static func calls(_ body: () throws -> Void) rethrows -> (calls: [String], ends: [Int32]) {
            let state = Mutex((calls: [String](), ends: [Int32]()))
            CallScript.use { site in
                let isRaised = Capability.networkAdministration.isEffective
                return state.withLock { state in
                    state.calls.append(
                        "\(site)" + (site.option.map { " \($0)" } ?? "") + (isRaised ? "*" : "")
                    )
                    switch site.call {
                    case .socket:
                        var ends: [Int32] = [-1, -1]
                        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
                        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return .error(.tooManyOpenFiles) }
                        state.ends.append(ends[1])
                        return .result(ends[0])
                    case .bind, .listen, .connect: return .result(0)
                    case .setsockopt where site.option == 2: return .result(0)
                    default: return nil
                    }
                }
            }
            defer { CallScript.use(nil) }
            try body()
            return state.withLock { $0 }
        }

        @Test("Capabilities are effective for these calls only", .enabled(if: Capability.missing.isEmpty))
        func capabilities() async {
            await #expect(processExitsWith: .success) {
                try Capability.holdBack()
                #expect(!Capability.networkAdministration.isEffective && Capability.networkAdministration.isPermitted)
                #expect(Capability.missing.isEmpty)
                let calls = try BluetoothSocketTests.calls {
                    let socket = try HCISocket(controller: 0, events: [0x3E], receiveBuffer: 4096)
                    _ = try socket.send([1, 2, 0x10, 0])
                    _ = try HCIUserChannel(controller: 0)
                    _ = try ManagementSocket().send([1])
                    _ = try MonitorSocket(receiveBuffer: 4096)
                    _ = try L2CAPSocket(local: 1, receiveBuffer: 4096).connect(to: 2, isRandom: true)
                    _ = try L2CAPListener(local: 1)
                    // An error does not leave them effective.
                    CallScript.use { $0.call == .write ? .error(.ioError) : nil }
                    #expect(throws: Errno.ioError) { _ = try socket.send([1]) }
                }
                // SO_RCVBUFFORCE is 33, SO_TIMESTAMP 29, SO_RXQ_OVFL 40, and HCI_FILTER 2.
                #expect(
                    calls.calls == [
                        "hci.socket", "hci.setsockopt 2*", "hci.setsockopt 33*", "hci.bind", "hci.write*",
                        "hci.socket", "hci.bind*",
                        "management.socket", "management.bind*", "management.write",
                        "hci.socket", "hci.setsockopt 33*", "hci.setsockopt 29", "hci.bind*",
                        "link.socket", "link.setsockopt 33*", "link.setsockopt 40", "link.bind", "link.connect",
                        "listener.socket", "listener.bind", "listener.listen",
                    ]
                )
                #expect(!Capability.networkAdministration.isEffective)
            }
        }

        @Test("A filter has the packet type of events and one bit for each event, of their lowest six bits")
        func filter() {
            let filter = HCISocket.Filter(events: [0x05, 0x0E, 0x3E, 0x45])
            #expect(filter.packetTypes == 1 << 4 && filter.events == (1 << 5 | 1 << 14, 1 << 30))
            #expect(filter.opcode == 0 && MemoryLayout<HCISocket.Filter>.size == 16)
        }

        @Test("An address has its bytes in the order of the kernel, the fixed channel, and the type")
        func address() {
            let address = L2CAPSocket.address(0xF0F1_F2F3_F4F5, type: 2)
            let bytes = withUnsafeBytes(of: address) { Array($0.prefix(13)) }
            #expect(bytes == [31, 0, 0, 0, 0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 4, 0, 2])
        }

        @Test("A packet of the monitor channel has the kernel's time, and is marked if it was truncated")
        func monitor() throws {
            var socket: MonitorSocket?
            let ends = try Self.calls { socket = try MonitorSocket(receiveBuffer: 4096) }.ends
            let end = try #require(ends.first)
            defer { close(end) }
            let before = WallClock.microseconds
            var buffer = [UInt8](repeating: 0, count: 4)
            for length in [3, 5] { #expect(send(end, [UInt8](repeating: 7, count: length), length, 0) == length) }
            // Read a second after the kernel has received the packets, or so it seems.
            var received: [MonitorSocket.Reception] = []
            while case .done(let one)? = try socket?.receive(into: &buffer) { received.append(one) }
            #expect(received.map(\.packet.count) == [3, 4] && received.map(\.packet.isTruncated) == [false, true])
            #expect(received.allSatisfy { $0.time >= before && $0.time <= WallClock.microseconds })
            #expect(MonitorSocket.TimestampMessage().microseconds == nil)
            var message = MonitorSocket.TimestampMessage()
            (message.length, message.level, message.type) = (32, SOL_SOCKET, 29)
            (message.seconds, message.fraction) = (1_700_000_000, 654_321)
            #expect(message.microseconds == 1_700_000_000_654_321)
            for change in [\MonitorSocket.TimestampMessage.level, \.type] {
                var other = message
                other[keyPath: change] += 1
                #expect(other.microseconds == nil)
            }
            message.length = 24
            #expect(message.microseconds == nil)
        }

        @Test("Security is read and raised through BT_SECURITY, and a kernel's peer is accepted with its address")
        func security() throws {
            let state = Mutex<[String]>([])
            defer { CallScript.use(nil) }
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
            defer { close(ends[1]) }
            CallScript.use { site in
                state.withLock { $0.append("\(site) \(site.option ?? 0)") }
                return .result(0)
            }
            let socket = L2CAPSocket(accepted: Descriptor(owning: ends[0], .link), receiveBuffer: 4096)
            let security = try socket.security()
            #expect(security.level == 0 && security.keySize == 0)
            try socket.raiseSecurity(to: 3)
            #expect(
                state.withLock { $0 } == [
                    "link.setsockopt 33", "link.setsockopt 40", "link.getsockopt 4", "link.setsockopt 4",
                ]
            )
        }
    }
#endif
