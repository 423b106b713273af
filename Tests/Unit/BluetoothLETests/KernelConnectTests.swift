// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothHost
    import BluetoothPackets
    import Glibc
    import LinuxIO
    import SystemPackage
    import Testing

    @testable import BluetoothAdapters

    /// Connections over socket pairs instead of the kernel, in virtual time.
    @Suite("Connections through the kernel", .timeLimit(.minutes(5))) struct KernelConnectTests {
        private typealias Outcome = Result<any ATTChannel, LinkFailure>
        private static let peer: [UInt8] = [0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 2]
        private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
        /// LE Connection Complete with handle 0x002A, as the central.
        private static let complete: [UInt8] =
            [0x04, 0x3E, 0x13, 0x01, 0, 0x2A, 0, 0, 1] + peer.dropLast() + [0x18, 0, 0, 0, 0x90, 1, 0]

        /// Number of raw sockets of one attempt.
        private static let rawSockets = 2

        private func connect(
            _ sockets: KernelSockets,
            timeout: Duration = .seconds(10),
            _ completion: @escaping (Outcome) -> Void
        ) throws -> any ConnectionAttempt {
            try sockets.kernel.adapter.connect(to: Self.device, timeout: timeout, completion: completion)
        }

        private func channel(_ sockets: KernelSockets) throws -> any ATTChannel {
            var outcome: Outcome?
            let attempt = try connect(sockets) { outcome = $0 }
            #expect(outcome == nil)
            try sockets.run(turn: .milliseconds(2)) { outcome != nil }
            withExtendedLifetime(attempt) {}
            return try #require(try outcome?.get())
        }

        @Test("A connection loads its parameters, makes these system calls, and closes its raw sockets when it is made")
        func calls() throws {
            try KernelSockets.run { sockets in
                let channel = try channel(sockets)
                #expect(sockets.kernel.log == ["0035 0100F5F4F3F2F1F0020C00180000009001"])
                // HCI_FILTER, SO_RCVBUFFORCE, SO_RXQ_OVFL and SO_ERROR.
                let raw = ["hci.socket", "hci.setsockopt 2", "hci.bind"]
                let link = ["socket", "setsockopt 33", "setsockopt 40", "bind", "connect", "getsockopt 4"].map {
                    "link." + $0
                }
                #expect(sockets.calls == raw + raw + link)
                #expect(channel.device == Self.device && sockets.openSockets == 1)
                channel.close()
                #expect(sockets.kernel.adapter.controllerCounts == ControllerCounts())
            }
        }

        @Test("A channel sends, receives, waits for room, and reports the peer's end once")
        func traffic() throws {
            try KernelSockets.run { sockets in
                let channel = try channel(sockets)
                var told: [String] = []
                channel.onReceive = { told.append(Hexadecimal.text([UInt8](copying: $0))) }
                channel.onWritable = { told.append("writable") }
                channel.onClosed = { told.append("\($0 == .closedByPeer)") }
                var sent = 0
                while try channel.send([0x52, 3, 0, UInt8(truncatingIfNeeded: sent)]) { sent += 1 }
                let end = sockets.links[0]
                for value: [UInt8] in [[0x1B, 3, 0, 0x41], [0x1B, 3, 0]] { _ = send(end, value, value.count, 0) }
                try sockets.run(turn: .milliseconds(2)) { told.count == 2 }
                var buffer = [UInt8](repeating: 0, count: 64)
                for number in 0..<sent {
                    #expect(
                        recv(end, &buffer, 64, Int32(MSG_DONTWAIT)) == 4
                            && buffer[3] == UInt8(truncatingIfNeeded: number)
                    )
                }
                try sockets.run(turn: .milliseconds(2)) { told.count == 3 }
                try sockets.kernel.run(for: .seconds(1))
                shutdown(end, Int32(SHUT_WR))
                try sockets.run(turn: .milliseconds(2)) { told.count == 4 }
                #expect(told == ["1B030041", "1B0300", "writable", "true"] && sockets.openSockets <= 1)
                #expect(try !channel.send([1]))
            }
        }

        @Test(
            "A pending error of the socket ends the attempt with its cause",
            arguments: [
                (Errno.connectionRefused, LinkFailure.system(.timedOut)), (.nowInProgress, .system(.timedOut)),
                (.connectionReset, .system(.connectionReset)), (.noRouteToHost, .system(.noRouteToHost)),
            ]
        )
        func pendingError(_ error: Errno, _ failure: LinkFailure) throws {
            try KernelSockets.run(errors: [CallSite(.link, .getsockopt): error]) { sockets in
                var failures: [LinkFailure] = []
                let attempt = try connect(sockets) { if case .failure(let failure) = $0 { failures.append(failure) } }
                try sockets.run { !failures.isEmpty }
                #expect(failures == [failure])
                withExtendedLifetime(attempt) {}
            }
        }

        @Test(
            "A socket that cannot be opened, bound or connected is an error, and leaves no raw sockets open",
            arguments: [
                CallSite.Call.socket, .bind, .connect,
            ]
        )
        func refused(_ call: CallSite.Call) throws {
            try KernelSockets.run(errors: [CallSite(.link, call): .ioError]) { sockets in
                #expect(throws: LinkFailure.system(.ioError)) { _ = try connect(sockets) { _ in } }
                #expect(sockets.openSockets == 0)
            }
        }

        @Test("While the kernel does not connect, its discovery is ended every 3 s; after the first sign no more")
        func stalled() throws {
            try KernelSockets.run { sockets in
                sockets.isDeaf = true
                var stalls: [Duration] = []
                sockets.kernel.adapter.onStalledConnection = { stalls.append(MonotonicClock.now) }
                let start = MonotonicClock.now
                let attempt = try connect(sockets, timeout: .seconds(60)) { _ in }
                try sockets.run { stalls.count == 2 }
                #expect(stalls.map { ($0 - start).components.seconds } == [3, 6])
                #expect(sockets.kernel.log.dropFirst() == ["0024 00", "0024 00"])
                sockets.complete(.leSetScanEnable, [0])
                try sockets.run { MonotonicClock.now - start > .seconds(20) }
                #expect(stalls.count == 2)
                // Only the search for late links still reads its socket: the packet, and that there is no other.
                func reads() -> Int { sockets.calls.count { $0 == "hci.recvmsg" } }
                let before = reads()
                sockets.complete(.leSetScanEnable, [0])
                try sockets.kernel.run(for: .seconds(1))
                #expect(reads() == before + 2)
                attempt.cancel()
                #expect(sockets.openSockets < Self.rawSockets + 1)
            }
        }

        @Test(
            "A late link of a given up attempt is ended within a second, unless the kernel knows it",
            arguments: [true, false]
        )
        func orphaned(isKnown: Bool) throws {
            try KernelSockets.run { sockets in
                sockets.isDeaf = true
                let adapter = sockets.kernel.adapter
                var failures: [LinkFailure] = []
                let attempt = try connect(sockets, timeout: .seconds(5)) { result in
                    if case .failure(let failure) = result { failures.append(failure) }
                }
                let start = MonotonicClock.now
                try sockets.run { !failures.isEmpty }
                #expect(failures == [.timedOut(.seconds(5))] && MonotonicClock.now - start < .seconds(6))
                sockets.tell(Self.complete)
                if isKnown { sockets.kernel.tell(0x0B, Self.peer + [UInt8](repeating: 0, count: 6)) }
                let end = MonotonicClock.now + .seconds(4)
                try sockets.run { MonotonicClock.now > end }
                // HCI Disconnect of the handle, or the management command of the same name.
                #expect(sockets.log == (isKnown ? [] : ["0604032A0013"]))
                #expect(sockets.kernel.log.dropFirst() == (isKnown ? ["0024 00", "0014 F5F4F3F2F1F002"] : ["0024 00"]))
                #expect(adapter.controllerCounts.crossedLinks == (isKnown ? 0 : 1))
                withExtendedLifetime(attempt) {}
            }
        }

        @Test(
            "A cancelled attempt reports nothing; its late links are looked for during 5 s, for at most four attempts"
        )
        func cancelled() throws {
            try KernelSockets.run { sockets in
                sockets.isDeaf = true
                var outcomes = 0
                for _ in 1...5 { try connect(sockets) { _ in outcomes += 1 }.cancel() }
                #expect(sockets.openSockets == 4 && sockets.calls.count { $0 == "hci.socket" } == 9)
                let start = MonotonicClock.now
                try sockets.run { sockets.openSockets == 0 }
                #expect(MonotonicClock.now - start >= .seconds(5) && MonotonicClock.now - start < .seconds(6))
                #expect(outcomes == 0 && sockets.kernel.adapter.controllerCounts.crossedLinks == 0)
                // The loss of the adapter ends the search.
                for _ in 1...4 { try connect(sockets) { _ in outcomes += 1 }.cancel() }
                #expect(sockets.openSockets == 4)
                sockets.kernel.tell(0x05, [])
                try sockets.run(turn: .milliseconds(2)) { sockets.openSockets == 0 }
            }
        }

        @Test("A device whose keys the kernel refused is not connected")
        func keys() throws {
            try KernelSockets.run { sockets in
                let kernel = sockets.kernel
                kernel.refusals[.loadLongTermKeys] = .invalidParameters
                let key = LongTermKey(
                    (1...16).map { UInt8($0) },
                    isAuthenticated: false,
                    isSecureConnections: true,
                    role: .central
                )
                let bond = Bond(
                    identityAddress: Self.device,
                    localAddress: kernel.adapter.address,
                    longTermKeys: [key].compactMap(\.self)
                )
                kernel.adapter.use([try #require(bond)])
                try kernel.run { kernel.adapter.keyFailure(of: Self.device) != nil }
                var failures: [LinkFailure?] = []
                let attempt = try connect(sockets) { result in
                    if case .failure(let failure) = result { failures.append(failure) }
                }
                try sockets.run { !failures.isEmpty }
                #expect(failures == [kernel.adapter.keyFailure(of: Self.device)])
                withExtendedLifetime(attempt) {}
            }
        }
    }

    /// A thread that answers a management socket that the program opens on its own loop.
    @Suite("Surveys of the management channel", .timeLimit(.minutes(5))) struct ManagementSurveyTests {
        /// Answers the commands of the next management socket: parameters after the status, or a status that is not
        /// success.
        private func answering<Value>(
            _ answers: @escaping @Sendable (_ opcode: UInt8, _ index: UInt8) -> (status: UInt8, parameters: [UInt8])?,
            _ body: () throws -> Value
        ) throws -> Value {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
            let (own, end) = (ends[0], ends[1])
            _ = fcntl(own, F_SETFL, O_NONBLOCK)
            defer { CallScript.use(nil) }
            CallScript.use { site in
                switch (site.kind, site.call) {
                case (.management, .socket): .result(own)
                case (.management, .bind): .result(0)
                default: nil
                }
            }
            let thread = try SystemThread(name: "kernel") {
                var buffer = [UInt8](repeating: 0, count: 512)
                while recv(end, &buffer, buffer.count, 0) >= 6 {
                    guard let (status, parameters) = answers(buffer[0], buffer[2]) else { break }
                    let body = [buffer[0], buffer[1], status] + parameters
                    let packet =
                        [1, 0, buffer[2], buffer[3], UInt8(body.count & 0xFF), UInt8(body.count >> 8)] + body
                    _ = send(end, packet, packet.count, Int32(MSG_NOSIGNAL))
                }
                close(end)
            }
            let result = Result { try body() }
            thread.join()
            return try result.get()
        }

        private static func information(_ index: UInt8) -> [UInt8] {
            [0x42 + index, 0, 1, 0xAA, 0, 0, 0x0C, 0x02, 0, 0, 0x0A, 0, 0, 1, 2, 0, 0]
                + [UInt8](repeating: 0, count: 263)
        }

        @Test("The adapters are listed by number; one that was removed meanwhile is left out")
        func adapters() throws {
            let entries = try answering { opcode, index in
                switch (opcode, index) {
                case (3, 0xFF): (0, [3, 0, 7, 0, 5, 0, 2, 0])
                case (4, 5): (0x11, [])
                case (4, _): (0, Self.information(index))
                default: (1, [])
                }
            } _: {
                try AdapterEnumerator.take()
            }
            #expect(entries.map(\.index.rawValue) == [2, 7])
            #expect(entries.map(\.information.address.rawValue) == [0xAA01_0044, 0xAA01_0049])
        }

        @Test("A refusal and a malformed answer are errors with their cause")
        func refusals() throws {
            func fault(_ list: UInt8) throws -> AdapterError? {
                try answering { opcode, _ in
                    opcode == 3 ? (list, list == 0 ? [1, 0, 0, 0] : []) : (0, [1])
                } _: {
                    do throws(AdapterError) {
                        _ = try AdapterEnumerator.take()
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            let refused = ("\(ManagementOpcode.readIndexList)", "\(ManagementStatus.permissionDenied)")
            #expect(try fault(0x14) == .refused(refused.0, refused.1))
            guard case .refused("an answer of the kernel", _)? = try fault(0) else {
                Issue.record("a malformed answer is taken")
                return
            }
        }

        @Test(
            "A selected controller is present if the kernel lists it",
            arguments: [
                (AdapterSelector.any, true), (.index(ControllerIndex(rawValue: 2)), true),
                (.index(ControllerIndex(rawValue: 3)), false),
                (.address(BluetoothAddress(rawValue: 0xAA01_0044)), true),
                (.address(BluetoothAddress(rawValue: 0xAA01_0043)), false),
            ]
        )
        func presence(_ selector: AdapterSelector, _ isPresent: Bool) throws {
            let found = try answering { opcode, index in
                opcode == 3 ? (0, [1, 0, 2, 0]) : (0, Self.information(index))
            } _: {
                AdapterTransport.kernel(selector).isPresent
            }
            #expect(found == isPresent)
        }

        @Test("Without a controller none is present, not even any; paths are present if they exist")
        func absence() throws {
            let none = try answering { _, _ in
                (0, [0, 0])
            } _: {
                AdapterTransport.kernel(.any).isPresent
            }
            #expect(!none)
            #expect(!AdapterTransport.userChannel(ControllerIndex(rawValue: 99)).isPresent)
            #expect(AdapterTransport.h4(.unixSocket("/dev/null")).isPresent)
            #expect(!AdapterTransport.h4(.serialLine("/dev/none", speed: 9600)).isPresent)
        }

        @Test("The kernel's commands and events are known from its answer, and its refusal is an error")
        func supported() throws {
            let supported = try answering { _, _ in
                (0, [2, 0, 1, 0, 5, 0, 0x14, 0, 0x0B, 0])
            } _: {
                try ManagementSurvey.take()
            }
            let reader: [UInt8] = [2, 0, 1, 0, 5, 0, 0x14, 0, 0x0B, 0]
            let expected = try SupportedManagement(returnParameters: reader.span)
            #expect(supported == expected)
            #expect(
                throws: AdapterError.refused(
                    "\(ManagementOpcode.readSupportedCommands)",
                    "\(ManagementStatus.unknownCommand)"
                )
            ) {
                try answering { _, _ in
                    (1, [])
                } _: {
                    _ = try ManagementSurvey.take()
                }
            }
            #expect(throws: AdapterError.noBluetoothInKernel) {
                defer { CallScript.use(nil) }
                CallScript.use { $0.call == .socket ? .error(.addressFamilyNotSupported) : nil }
                _ = try ManagementSurvey.take()
            }
        }
    }
#endif
