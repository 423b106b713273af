// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothHost
    import BluetoothPackets
    import Glibc
    import SystemPackage
    import Testing

    @testable import BluetoothAdapters
    @testable import LinuxIO

    /// Advertising over socket pairs instead of the kernel, in virtual time.
    @Suite(.timeLimit(.minutes(5))) struct KernelAdvertiserTests {
        private static let advertisement = Advertisement(data: [2, 1, 6], interval: .milliseconds(20))

        /// Starts to advertise, and returns the result.
        private func advertise(
            _ advertisement: Advertisement = advertisement,
            on controller: KernelSockets
        ) throws -> Result<Void, AdapterError>? {
            var result: Result<Void, AdapterError>?
            controller.kernel.adapter.advertise(advertisement, onConnection: { _ in }, completion: { result = $0 })
            #expect(result == nil || controller.openSockets == 0)
            try controller.run { result != nil }
            return result
        }

        private func failure(on controller: KernelSockets) throws -> AdapterError? {
            if case .failure(let error)? = try advertise(on: controller) { error } else { nil }
        }

        @Test("Advertising is enabled each minute, while all connections are in use, and soon after another program")
        func resumption() throws {
            try KernelSockets.run { controller in
                _ = try advertise(on: controller)
                controller.statuses[.leSetAdvertisingEnable] = .connectionLimitExceeded
                try controller.run { controller.enabled.count == 2 }
                controller.statuses = [:]
                try controller.run { controller.enabled.count == 3 }
                controller.complete(.leSetAdvertisingEnable, [0])
                try controller.run { controller.enabled.count == 4 }
                let pauses = zip(controller.enabled, controller.enabled.dropFirst()).map { $1 - $0 }
                #expect(pauses[0] >= .seconds(60) && pauses[0] < .seconds(62))
                #expect(pauses[1] >= .seconds(60) && pauses[1] < .seconds(62))
                #expect(pauses[2] >= .seconds(1) && pauses[2] < .seconds(3))
            }
        }

        @Test("Advertising is enabled when the machine wakes, and when a connection begins or ends")
        func events() throws {
            try KernelSockets.run { controller in
                _ = try advertise(on: controller)
                let central: [UInt8] = [1, 2, 3, 4, 5, 6, 1]
                let events: [(UInt8, [UInt8])] = [
                    (0x2E, [1] + central), (0x0B, central + [UInt8](repeating: 0, count: 6)), (0x0C, central + [3]),
                ]
                for (count, (code, parameters)) in events.enumerated() {
                    controller.kernel.tell(code, parameters)
                    try controller.run(turn: .milliseconds(2)) { controller.enabled.count == count + 2 }
                }
                #expect(controller.enabled.last.map { $0 < .seconds(5) } == true)
            }
        }

        @Test("The controller gets the kind, interval, own address, data and scan response, then no advertising")
        func commands() throws {
            // Min and max interval (100 ms), type, own address type, peer address and type, channels, filter.
            func parameters(_ kind: String, own: String) -> String {
                "06200FA000A000" + kind + own + "00000000000000" + "0700"
            }
            func data(_ command: String, _ bytes: String) -> String {
                command + "2020" + bytes + String(repeating: "0", count: 64 - bytes.count)
            }
            let cases: [(Advertisement, address: UInt8, [String])] = [
                (
                    Advertisement(data: [2, 1, 6]), 1,
                    [parameters("00", own: "00"), data("08", "03020106"), data("09", "00")]
                ),
                (
                    Advertisement(data: [2, 1, 6], scanResponse: [2, 10, 4], isConnectable: false), 0,
                    [parameters("02", own: "01"), data("08", "03020106"), data("09", "03020A04")]
                ),
                (
                    Advertisement(data: [], isConnectable: false), 1,
                    [parameters("03", own: "00"), data("08", "00")]
                ),
            ]
            for (advertisement, address, commands) in cases {
                try KernelSockets.run(address: [address, 0, 0, 0, 0, 0]) { controller in
                    let adapter = controller.kernel.adapter
                    guard case .success? = try advertise(advertisement, on: controller) else {
                        Issue.record("\(controller.log)")
                        return
                    }
                    #expect(controller.log == ["021000", "0A200100"] + commands + ["0A200101"])
                    #expect(adapter.isServing && controller.openSockets == 1)
                    controller.log = []
                    var stops = 0
                    adapter.stopAdvertising { stops += 1 }
                    #expect(stops == 0 && !adapter.isServing)
                    try controller.run { stops == 1 }
                    #expect(controller.log == ["0A200100"] && controller.openSockets == 0 && adapter.advertiser == nil)
                    adapter.stopAdvertising { stops += 1 }
                    #expect(stops == 2)
                }
            }
        }

        @Test("An advertisement replaces the one before, also while that one is being stopped")
        func replaced() throws {
            try KernelSockets.run { controller in
                let adapter = controller.kernel.adapter
                _ = try advertise(on: controller)
                controller.log = []
                _ = try advertise(Advertisement(data: [2, 1, 4]), on: controller)
                #expect(controller.log.count == 5 && controller.openSockets == 1)
                var isStopped = false
                adapter.stopAdvertising { isStopped = true }
                _ = try advertise(on: controller)
                #expect(isStopped && controller.openSockets == 1 && adapter.isServing)
                // An advertiser without a procedure is stopped at once.
                adapter.stopAdvertising {}
                try controller.run { controller.openSockets == 0 }
                adapter.advertise(Self.advertisement, onConnection: { _ in }, completion: { _ in })
                isStopped = false
                adapter.stopAdvertising { isStopped = true }
                #expect(isStopped)
                try controller.run { controller.openSockets == 0 }
            }
        }

        @Test("A start that is stopped before its end is not reported, neither after an answer nor after a failure")
        func stoppedStart() throws {
            for fails in [false, true] {
                try KernelSockets.run { controller in
                    let adapter = controller.kernel.adapter
                    var (results, stops) = (0, 0)
                    controller.unanswered = [.leSetAdvertisingParameters]
                    adapter.advertise(Self.advertisement, onConnection: { _ in }, completion: { _ in results += 1 })
                    try controller.run(turn: .milliseconds(2)) { controller.log.last?.hasPrefix("0620") == true }
                    adapter.stopAdvertising { stops += 1 }
                    #expect(stops == 0)
                    controller.unanswered = []
                    if fails { controller.script([CallSite(.hci, .recvmsg): .ioError]) }
                    controller.complete(.leSetAdvertisingParameters, [0])
                    try controller.run { stops == 1 }
                    #expect(results == 0 && controller.openSockets == 0)
                    #expect(adapter.advertiser == nil && !adapter.isServing)
                    // Advertising is never left enabled.
                    #expect(controller.enabled.isEmpty || controller.log.last == "0A200100")
                }
            }
        }

        @Test("Each central is passed on as a channel; a channel that nobody wants is closed")
        func centrals() throws {
            try KernelSockets.run { controller in
                let adapter = controller.kernel.adapter
                var channels: [any ATTChannel] = []
                adapter.advertise(Self.advertisement, onConnection: { channels.append($0) }, completion: { _ in })
                try controller.run { controller.enabled.count == 1 }
                controller.arrive()
                try controller.run { channels.count == 1 }
                controller.arrive()
                try controller.run { channels.count == 2 }
                #expect(controller.openSockets == 3)
                // Until the controller has stopped, a central can still connect.
                controller.unanswered = [.leSetAdvertisingEnable]
                adapter.stopAdvertising {}
                controller.arrive()
                try controller.run(turn: .milliseconds(2)) { controller.log.last == "0A200100" }
                #expect(channels.count == 2 && controller.openSockets == 3)
                channels.removeAll()
                #expect(controller.openSockets == 1)
            }
        }

        @Test("An advertiser that is closed for one central accepts no other that waits")
        func closedForCentral() throws {
            try KernelSockets.run { controller in
                let adapter = controller.kernel.adapter
                var count = 0
                let accept = { (_: any ATTChannel) in
                    count += 1
                    adapter.advertiser?.close()
                }
                adapter.advertise(Self.advertisement, onConnection: accept, completion: { _ in })
                try controller.run { controller.enabled.count == 1 }
                for _ in 0..<2 { controller.arrive() }
                try controller.run { count == 1 }
                #expect(controller.calls.count { $0 == "listener.accept" } == 1)
                #expect(adapter.advertiser?.isSpent == true)
            }
        }

        @Test("Each failure of the controller or of a socket is reported with its cause, and closes the sockets")
        func failures() throws {
            typealias Prepare = (KernelSockets) -> Void
            let read = HCIOpcode.readLocalSupportedCommands
            let cases: [(AdapterError, Prepare)] = [
                (
                    .refused("advertising", "the controller knows no advertising commands"),
                    {
                        $0.supported[26] = 0; $0.supported[27] = 0
                    }
                ),
                (.refused("\(read)", "an answer that cannot be read"), { $0.supported = [0, 1] }),
                (.refused("\(read)", "\(HCIStatus.unknownHCICommand)"), { $0.statuses = [read: .unknownHCICommand] }),
                (.refused("\(read)", "no answer"), { $0.unanswered = [read] }),
                (
                    .refused(
                        "advertising",
                        "\(Advertiser.Failure.refused(.leSetAdvertisingEnable, .connectionLimitExceeded))"
                    ),
                    { $0.statuses = [.leSetAdvertisingEnable: .connectionLimitExceeded] }
                ),
                (
                    .refused("advertising", "\(Advertiser.Failure.noAnswer(.leSetAdvertisingParameters))"),
                    { $0.unanswered = [.leSetAdvertisingParameters] }
                ),
            ]
            for (error, prepare) in cases {
                try KernelSockets.run { controller in
                    prepare(controller)
                    let found = try failure(on: controller)
                    #expect(found == error)
                    let adapter = controller.kernel.adapter
                    #expect(controller.openSockets == 0 && adapter.advertiser == nil && !adapter.isServing)
                }
            }
            let opening = "open the sockets for advertising on hci0"
            let sites: [(CallSite, Errno, AdapterError)] = [
                (CallSite(.listener, .bind), .addressInUse, .system(opening, .addressInUse)),
                (CallSite(.hci, .socket), .notPermitted, .notPermitted(missing: Capability.missing)),
                (CallSite(.hci, .write), .ioError, .system("send an HCI command", .ioError)),
                (CallSite(.hci, .write), .notPermitted, .notPermitted(missing: Capability.missing)),
                (CallSite(.hci, .recvmsg), .ioError, .system("read from hci0", .ioError)),
            ]
            for (site, code, error) in sites {
                try KernelSockets.run(errors: [site: code]) { controller in
                    let found = try failure(on: controller)
                    #expect(found == error, "\(site)")
                    #expect(controller.openSockets == 0 && controller.kernel.adapter.advertiser == nil)
                }
            }
            try KernelSockets.run { controller in
                _ = try advertise(on: controller)
                controller.script([CallSite(.listener, .accept): .ioError])
                controller.arrive()
                try controller.run { controller.kernel.adapter.advertiser?.isSpent == true }
            }
        }
    }
#endif
