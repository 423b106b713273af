// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothPackets
    import Glibc
    import SystemPackage
    import TestSupport
    import Testing

    @testable import BluetoothAdapters
    @testable import LinuxIO

    /// Sockets of the user channel and of the monitor channel, whose other ends are the test's.
    @Suite("The kernel's other HCI channels", .timeLimit(.minutes(5)))
    struct UserChannelTests {
        /// Lets the next HCI socket be an end of a socket pair, and returns the other end.
        private func pair(_ type: __socket_type) throws -> Int32 {
            var ends: [Int32] = [-1, -1]
            let flags = Int32(type.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            try #require(socketpair(AF_UNIX, flags, 0, &ends) == 0)
            let own = ends[0]
            CallScript.use { site in
                switch (site.kind, site.call) {
                case (.hci, .socket): .result(own)
                case (.hci, .bind): .result(0)
                default: nil
                }
            }
            return ends[1]
        }

        @Test("Packets pass the user channel both ways, and its end is told once")
        func userChannel() throws {
            defer { CallScript.use(nil) }
            let loop = try EventLoop()
            let end = try pair(SOCK_SEQPACKET)
            let transport = try UserChannelTransport(controller: ControllerIndex(rawValue: 3), on: loop)
            var told: [String] = []
            transport.onReceive = { told.append(Hexadecimal.text([UInt8](copying: $0))) }
            transport.onClosed = { told.append($0) }
            transport.send([1, 3, 0x0C, 0])
            var buffer = [UInt8](repeating: 0, count: 64)
            #expect(try loop.run { recv(end, &buffer, 64, Int32(MSG_DONTWAIT)) == 4 })
            #expect(Array(buffer.prefix(4)) == [1, 3, 0x0C, 0])
            for packet: [UInt8] in [[4, 0x0E, 4, 1, 3, 0x0C, 0], [2, 0]] { _ = send(end, packet, packet.count, 0) }
            #expect(try loop.run { told.count == 2 })
            close(end)
            #expect(try loop.run { told.count == 3 })
            #expect(told == ["040E0401030C00", "0200", "the adapter was lost"])
            transport.close()
        }

        @Test("An adapter that cannot be taken is reported with its cause")
        func refusals() {
            let cases: [(Errno, AdapterError)] = [
                (
                    .resourceBusy,
                    .controller(
                        "hci3 is in use: the user channel needs it down (`hciconfig hci3 down`), and for one program"
                    )
                ),
                (.operationNotSupportedByDevice, .noAdapter),
                (.notPermitted, .notPermitted(missing: Capability.missing)),
                (.addressFamilyNotSupported, .noBluetoothInKernel),
                (.noMemory, .system("take hci3 over the user channel", .noMemory)),
                (.ioError, .system("take hci3 over the user channel", .ioError)),
            ]
            defer { CallScript.use(nil) }
            for (code, error) in cases {
                CallScript.use { $0.kind == .hci && $0.call == .socket ? .error(code) : nil }
                #expect(throws: error) {
                    _ = try UserChannelTransport(controller: ControllerIndex(rawValue: 3), on: EventLoop())
                }
            }
        }

        @Test("A capture has the followed controller's packets of the monitor channel, also those before it was known")
        func capture() throws {
            defer { CallScript.use(nil) }
            let directory = try TestDirectory()
            let loop = try EventLoop()
            let end = try pair(SOCK_DGRAM)
            let capture = try TrafficCapture(to: directory("capture"), on: loop)
            try capture.listen()
            let before = WallClock.microseconds
            // Opcode 2 is a command, 3 an event, 4 and 5 data; the indices are 0 and 1.
            func monitor(_ opcode: UInt8, _ index: UInt8, _ payload: [UInt8]) {
                let packet = [opcode, 0, index, 0, UInt8(payload.count), 0] + payload
                #expect(send(end, packet, packet.count, 0) == packet.count)
            }
            monitor(2, 1, [3, 0x0C, 0])
            monitor(2, 0, [3, 0x0C, 0])
            monitor(3, 1, [0x0E, 4, 1, 3, 0x0C, 0])
            _ = send(end, [1, 2, 3] as [UInt8], 3, 0)
            var isRead = false
            _ = loop.schedule(at: MonotonicClock.now + .milliseconds(20)) { isRead = true }
            #expect(try loop.run { isRead })
            capture.follow(ControllerIndex(rawValue: 1))
            monitor(4, 1, [0x40, 0x20, 1, 0, 9])
            monitor(5, 0, [0x40, 0x20, 1, 0, 8])
            capture.finish()
            var reader = BtsnoopReader()
            reader.append(try FileSystem.contents(of: directory("capture"), limit: 1 << 16))
            var records: [BtsnoopRecord] = []
            while let record = try reader.next() { records.append(record) }
            #expect(records.map(\.opcode.rawValue) == [2, 3, 4] && records.allSatisfy { $0.index.rawValue == 1 })
            #expect(records.map(\.payload) == [[3, 0x0C, 0], [0x0E, 4, 1, 3, 0x0C, 0], [0x40, 0x20, 1, 0, 9]])
            #expect(records.map(\.originalLength) == [3, 6, 5] && records.allSatisfy { $0.drops == 0 })
            #expect(records.allSatisfy { $0.time >= before && $0.time <= WallClock.microseconds })
            close(end)
            CallScript.use { $0.kind == .hci && $0.call == .socket ? .error(.notPermitted) : nil }
            let refused = try TrafficCapture(to: directory("refused"), on: loop)
            #expect(throws: TrafficCapture.Failure.cannotListen(.notPermitted)) { try refused.listen() }
            #expect(throws: TrafficCapture.Failure.cannotOpen(directory.path, .isDirectory)) {
                _ = try TrafficCapture(to: directory.path, on: loop)
            }
        }
    }
#endif
