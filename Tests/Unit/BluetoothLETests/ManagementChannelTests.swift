// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothHost
    import BluetoothPackets
    import ClockSupport
    import Glibc
    import LinuxIO
    import Synchronization
    import SystemPackage
    import TestSupport
    import Testing

    @testable import BluetoothAdapters

    /// Management channel over a socket pair, in virtual time.
    @Suite(.timeLimit(.minutes(5))) struct ManagementChannelTests {
        private final class Bench {
            let loop: EventLoop
            var channel: ManagementChannel?
            let end: Int32
            /// Events, replies and failures, with the time in seconds.
            private(set) var notes: [String] = []
            private let start = MonotonicClock.now

            static func run(_ body: (Bench) throws -> Void) throws {
                try SystemTime.$ofTask.withValue(VirtualClock()) {
                    defer { CallScript.use(nil) }
                    try body(Bench())
                }
            }

            private init() throws {
                let ends = try ManagementChannelTests.pair()
                end = ends.peer
                loop = try EventLoop()
                let socket = ManagementSocket(opened: Descriptor(owning: ends.own, .management))
                let channel = try ManagementChannel(socket, on: loop)
                channel.onEvent = { [unowned self] in note("event of hci\($0.index.rawValue)") }
                channel.onFailure = { [unowned self] in note("failure \($0.rawValue)") }
                self.channel = channel
            }

            deinit { close(end) }

            private func note(_ text: String) {
                notes.append("\((MonotonicClock.now - start).components.seconds) \(text)")
            }

            func send(_ command: ManagementCommand, patience: Duration? = nil) {
                channel?.send(command, patience: patience) { [unowned self] reply in
                    switch reply {
                    case .status(let status, let parameters):
                        note("\(command.opcode.rawValue): \(status.rawValue) \(Hexadecimal.text(parameters))")
                    case .timedOut: note("\(command.opcode.rawValue): timed out")
                    }
                }
            }

            /// Sends a packet, given in hexadecimal.
            func tell(_ text: String) {
                let packet = Hexadecimal.bytes(text.filter { $0 != " " }) ?? []
                #expect(Glibc.send(end, packet, packet.count, Int32(MSG_NOSIGNAL)) == packet.count)
            }

            /// Runs the loop for two minutes.
            func wait() throws {
                let limit = MonotonicClock.now + .seconds(120)
                #expect(try loop.run(within: .seconds(300), turn: .seconds(1)) { MonotonicClock.now >= limit })
            }
        }

        private static func pair() throws -> (own: Int32, peer: Int32) {
            var ends: [Int32] = [-1, -1]
            let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
            return (ends[0], ends[1])
        }

        private static let hci1 = ControllerIndex(rawValue: 1)

        @Test("Each reply reaches the command with its number and adapter, once; events reach the handler")
        func replies() throws {
            try Bench.run { bench in
                bench.send(.readIndexList)
                bench.send(.setPowered(Self.hci1, true))
                bench.send(.setLowEnergy(Self.hci1, true), patience: .seconds(60))
                // The reply to another adapter's command, a cut packet, and Index Added of hci3.
                bench.tell("0100 0000 0700 0500 00 00000000")
                bench.tell("0100 01")
                bench.tell("0400 0300 0000")
                // Command Status, then Command Complete twice.
                bench.tell("0200 0100 0300 0500 0A")
                for _ in 0..<2 { bench.tell("0100 FFFF 0500 0300 00 0000") }
                #expect(bench.notes.isEmpty)
                try bench.wait()
                #expect(bench.notes == ["0 event of hci3", "0 5: 10 ", "0 3: 0 0000", "60 13: timed out"])
            }
        }

        @Test("A command waits 12 s for its reply, or as long as it is told; one that is not sent fails without a wait")
        func timeouts() throws {
            for error in [nil, Errno.ioError, .wouldBlock] {
                try Bench.run { bench in
                    CallScript.use { $0.call == .write && $0.kind == .management ? error.map { .error($0) } : nil }
                    bench.send(.readIndexList)
                    bench.send(.readSupportedCommands, patience: .seconds(90))
                    #expect(bench.notes.isEmpty)
                    try bench.wait()
                    let seconds = error == nil ? [12, 90] : [0, 0]
                    #expect(bench.notes == ["\(seconds[0]) 3: timed out", "\(seconds[1]) 2: timed out"])
                }
            }
        }

        @Test("The channel fails at once, or after 16 temporary errors in a row, and its commands with it")
        func failures() throws {
            for (error, count) in [(Errno.ioError, 1), (.noMemory, 16)] {
                try Bench.run { bench in
                    let calls = Atomic(0)
                    bench.send(.readIndexList)
                    bench.send(.readSupportedCommands)
                    bench.tell("0400 0300 0000")
                    CallScript.use { site in
                        guard site.kind == .management, site.call == .recvmsg else { return nil }
                        // A channel that goes on reading gets its packet at last, so that it does not keep the loop busy.
                        return calls.add(1, ordering: .relaxed).newValue > 100 ? nil : .error(error)
                    }
                    try bench.wait()
                    #expect(bench.notes == ["0 3: timed out", "0 2: timed out", "0 failure \(error.rawValue)"])
                    #expect(calls.load(ordering: .relaxed) == count)
                }
            }
        }

        @Test("A packet that is read ends a row of temporary errors")
        func recoveries() throws {
            try Bench.run { bench in
                let calls = Atomic(0)
                CallScript.use { site in
                    guard site.kind == .management, site.call == .recvmsg else { return nil }
                    let number = calls.add(1, ordering: .relaxed).newValue
                    return number.isMultiple(of: 16) ? nil : .error(.noMemory)
                }
                for _ in 0..<3 {
                    bench.tell("0400 0300 0000")
                    try bench.wait()
                }
                #expect(bench.notes.count == 3 && bench.notes.allSatisfy { $0.hasSuffix("event of hci3") })
            }
        }

        @Test("A channel that is closed or freed calls no handler")
        func closed() throws {
            for isFreed in [false, true] {
                try Bench.run { bench in
                    bench.send(.readIndexList)
                    bench.tell("0400 0300 0000")
                    if isFreed { bench.channel = nil } else { bench.channel?.close() }
                    try bench.wait()
                    #expect(bench.notes.isEmpty)
                }
            }
        }

        /// Runs `body` with a management socket that has these replies to read; returns the commands that it sent.
        private static func commands(_ replies: [String], _ body: () throws -> Void) throws -> [String] {
            let ends = try pair()
            defer { close(ends.peer) }
            for reply in replies {
                let packet = Hexadecimal.bytes(reply) ?? []
                #expect(send(ends.peer, packet, packet.count, 0) == packet.count)
            }
            CallScript.use { site in
                guard site.kind == .management else { return nil }
                return site.call == .socket ? .result(ends.own) : site.call == .bind ? .result(0) : nil
            }
            defer { CallScript.use(nil) }
            try SystemTime.$ofTask.withValue(VirtualClock(), operation: body)
            var sent: [String] = []
            var buffer = [UInt8](repeating: 0, count: 64)
            while case let count = recv(ends.peer, &buffer, buffer.count, 0), count > 0 {
                sent.append(Hexadecimal.text(buffer[..<count]))
            }
            return sent
        }

        /// Returns Command Complete, or Command Status if the status is not zero, in hexadecimal.
        private static func reply(_ opcode: UInt8, _ index: UInt16, status: UInt8 = 0, _ parameters: [UInt8] = [])
            -> String
        {
            let length = UInt16(3 + parameters.count)
            let header = ByteWriter.bytes((status == 0 ? 1 : 2) as UInt16, index, length, UInt16(opcode), status)
            return Hexadecimal.text(header + parameters)
        }

        private static let list = "0300FFFF0000"
        private static let every: UInt16 = 0xFFFF

        private func failure(_ body: () throws(AdapterError) -> Void) -> AdapterError? {
            do throws(AdapterError) {
                try body()
                return nil
            } catch {
                return error
            }
        }

        @Test("A survey asks once for the commands and events of the kernel; each other reply is its own error")
        func survey() throws {
            var found: SupportedManagement?
            let sent = try Self.commands([Self.reply(2, Self.every, [1, 0, 1, 0, 3, 0, 0x13, 0])]) {
                found = try ManagementSurvey.take()
            }
            #expect(sent == ["0200FFFF0000"] && found?.commands == [.readIndexList] && found?.events == [0x13])
            let cases: [(replies: [String], AdapterError)] = [
                ([], .silent(.readSupportedCommands)),
                (
                    [Self.reply(2, Self.every, status: 1)],
                    .refused("\(ManagementOpcode.readSupportedCommands)", "\(ManagementStatus.unknownCommand)")
                ),
            ]
            for (replies, error) in cases {
                _ = try Self.commands(replies) {
                    let found = failure { () throws(AdapterError) in _ = try ManagementSurvey.take() }
                    #expect(found == error)
                }
            }
            _ = try Self.commands([Self.reply(2, Self.every, [1])]) {
                let found = failure { () throws(AdapterError) in _ = try ManagementSurvey.take() }
                guard case .refused("an answer of the kernel", _)? = found else {
                    Issue.record("\(String(describing: found))")
                    return
                }
            }
        }

        /// Returns the parameters of Read Controller Information for an adapter with this address.
        private static func information(_ address: UInt8) -> [UInt8] {
            let bytes: [UInt8] = [address, 0, 0, 0, 0, 0, 0x0C, 2, 0, 0, 0x0A, 0, 0, 1, 2, 0, 0]
            return bytes + [UInt8](repeating: 0, count: 280 - bytes.count)
        }

        private static let three: [UInt8] = [3, 0, 2, 0, 0, 0, 1, 0]

        @Test("Adapters are asked for one after the other in order; one that was removed meanwhile is left out")
        func adapters() throws {
            var found: [AdapterEnumerator.Entry] = []
            let replies = [
                Self.reply(3, Self.every, Self.three), Self.reply(4, 0, Self.information(7)),
                Self.reply(4, 1, status: 0x11), Self.reply(4, 2, Self.information(9)),
            ]
            let sent = try Self.commands(replies) { found = try AdapterEnumerator.take() }
            #expect(sent == [Self.list, "040000000000", "040001000000", "040002000000"])
            #expect(found.map(\.index.rawValue) == [0, 2] && found.map(\.information.address.rawValue) == [7, 9])
            #expect(
                try Self.commands([Self.reply(3, Self.every, [0, 0])]) { found = try AdapterEnumerator.take() } == [
                    Self.list
                ]
            )
            #expect(found.isEmpty)
        }

        @Test("A question about the adapters that is not answered, refused, or answered wrongly is an error")
        func adapterFailures() throws {
            let cases: [(replies: [String], AdapterError)] = [
                ([], .silent(.readIndexList)),
                ([Self.reply(3, Self.every, Self.three)], .silent(.readControllerInformation)),
                (
                    [Self.reply(3, Self.every, status: 0x14)],
                    .refused("\(ManagementOpcode.readIndexList)", "\(ManagementStatus.permissionDenied)")
                ),
            ]
            for (replies, error) in cases {
                _ = try Self.commands(replies) {
                    let found = failure { () throws(AdapterError) in _ = try AdapterEnumerator.take() }
                    #expect(found == error)
                }
            }
            for replies in [
                [Self.reply(3, Self.every, [1])], [Self.reply(3, Self.every, Self.three), Self.reply(4, 0, [1])],
            ] {
                _ = try Self.commands(replies) {
                    let found = failure { () throws(AdapterError) in _ = try AdapterEnumerator.take() }
                    guard case .refused("an answer of the kernel", _)? = found else {
                        Issue.record("\(String(describing: found))")
                        return
                    }
                }
            }
            defer { CallScript.use(nil) }
            let errors: [(Errno, survey: AdapterError, AdapterError)] = [
                (.addressFamilyNotSupported, .noBluetoothInKernel, .noBluetoothInKernel),
                (
                    .ioError, .system("ask the kernel what it has", .ioError),
                    .system("ask the kernel for its adapters", .ioError)
                ),
            ]
            for (code, survey, census) in errors {
                CallScript.use { $0.kind == .management && $0.call == .socket ? .error(code) : nil }
                let found = failure { () throws(AdapterError) in _ = try ManagementSurvey.take() }
                #expect(found == survey)
                let other = failure { () throws(AdapterError) in _ = try AdapterEnumerator.take() }
                #expect(other == census)
            }
        }

        @Test("A kernel adapter is present if the kernel lists it, and a controller at a path if the path exists")
        func presence() throws {
            let kernel: [(AdapterSelector, isPresent: Bool)] = [
                (.any, true), (.index(ControllerIndex(rawValue: 0)), true), (.index(Self.hci1), false),
                (.address(BluetoothAddress(rawValue: 7)), true), (.address(BluetoothAddress(rawValue: 8)), false),
            ]
            let one = [Self.reply(3, Self.every, [1, 0, 0, 0]), Self.reply(4, 0, Self.information(7))]
            for (selector, isPresent) in kernel {
                _ = try Self.commands(one) { #expect(AdapterTransport.kernel(selector).isPresent == isPresent) }
            }
            for replies in [[Self.reply(3, Self.every, [0, 0])], []] {
                _ = try Self.commands(replies) { #expect(!AdapterTransport.kernel(.any).isPresent) }
            }
            let directory = try TestDirectory()
            try directory.write("", to: "line")
            let others: [(AdapterTransport, isPresent: Bool)] = [
                (.h4(.unixSocket(directory("line"))), true), (.h4(.unixSocket(directory("none"))), false),
                (.h4(.serialLine(directory("line"), speed: 115_200)), true),
                (.h4(.serialLine(directory("none"), speed: 115_200)), false),
                (.h4(.tcp(host: "localhost", port: 1)), true),
                (.userChannel(ControllerIndex(rawValue: 0xFFFE)), false),
            ]
            for (transport, isPresent) in others { #expect(transport.isPresent == isPresent, "\(transport)") }
        }
    }
#endif
