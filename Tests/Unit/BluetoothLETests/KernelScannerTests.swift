// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothHost
    import BluetoothPackets
    import LinuxIO
    import SystemPackage
    import Testing

    @testable import BluetoothAdapters

    /// Scans over socket pairs instead of the kernel, in virtual time.
    @Suite("Scans through the kernel", .timeLimit(.minutes(5))) struct KernelScannerTests {
        private static let disable = "0C20020000"
        private static let enable = "0C20020100"
        private static let ask = "021000"

        /// Starts a scan, and waits until it runs.
        private func scan(_ sockets: KernelSockets, _ parameters: ScanParameters) throws -> any DeviceScanner {
            let scanner = try sockets.kernel.adapter.makeScanner()
            var isStarted = false
            scanner.onStarted = { isStarted = true }
            scanner.start(parameters, devices: DeviceTable())
            try sockets.run(turn: .milliseconds(5)) { isStarted }
            return scanner
        }

        @Test(
            "A passive scan is set up, reports devices, and is switched off before its end is told"
        )
        func passive() throws {
            try KernelSockets.run { sockets in
                let scanner = try scan(sockets, .background)
                #expect(sockets.log == [Self.ask, Self.disable, "0B200700600030000000", Self.enable])
                // Two raw sockets: HCI_FILTER on both, and SO_RCVBUFFORCE on that for reports.
                let raw = ["hci.socket", "hci.setsockopt 2", "hci.bind"]
                let reports = ["hci.socket", "hci.setsockopt 2", "hci.setsockopt 33", "hci.bind"]
                #expect(Array(sockets.calls.prefix(7)) == raw + reports)
                var told: [String] = []
                scanner.onUpdate = { told.append("\($0.device.address.address)") }
                // ADV_IND of a random address, without data, -60 dBm.
                sockets.report([0x04, 0x3E, 12, 0x02, 1, 0, 1, 1, 2, 3, 4, 5, 0xC6, 0, 0xC4])
                try sockets.run(turn: .milliseconds(5)) { !told.isEmpty }
                #expect(told.first == "C6:05:04:03:02:01" && scanner.devices.devices.count == 1)
                sockets.log = []
                told = []
                scanner.stop { told.append("stopped") }
                #expect(told.isEmpty)
                try sockets.run(turn: .milliseconds(5)) { told.last == "stopped" }
                #expect(sockets.log == [Self.disable, Self.ask] && sockets.kernel.commands.isEmpty)
                #expect(sockets.openSockets == 2)
                scanner.close()
                scanner.stop { told.append("closed") }
                #expect(told.last == "closed")
            }
        }

        @Test(
            "An active scan is ended by the kernel if it discovers too, and by us if it refuses",
            arguments: [true, false]
        )
        func active(isEndedByKernel: Bool) throws {
            try KernelSockets.run { sockets in
                let scanner = try scan(sockets, .discovery)
                #expect(sockets.log[2] == "0B200701120012000000")
                sockets.log = []
                if !isEndedByKernel { sockets.kernel.refusals[.stopDiscovery] = .rejected }
                var isStopped = false
                scanner.stop { isStopped = true }
                try sockets.run(turn: .milliseconds(5)) { sockets.kernel.log == ["0024 00"] }
                try sockets.kernel.run(for: .milliseconds(50))
                if isEndedByKernel {
                    #expect(!isStopped)
                    sockets.kernel.tell(0x13, [6, 0])
                }
                try sockets.run(turn: .milliseconds(5)) { isStopped }
                let expected = isEndedByKernel ? [Self.ask] : [Self.ask, Self.disable, Self.ask]
                #expect(sockets.log == expected)
            }
        }

        @Test("Each failure of the controller or of a socket ends the scan with its cause, and closes the sockets")
        func failures() throws {
            let read = HCIOpcode.readLocalSupportedCommands
            let cases: [(ScanError, (KernelSockets) -> Void)] = [
                (.unsupported, { $0.supported[27] = 0 }), (.controller(.noAnswer(read)), { $0.supported = [0, 1] }),
                (.controller(.refused(read, .unknownHCICommand)), { $0.statuses = [read: .unknownHCICommand] }),
                (.controller(.noAnswer(read)), { $0.unanswered = [read] }),
            ]
            for (error, prepare) in cases {
                try KernelSockets.run { sockets in
                    prepare(sockets)
                    let found = try failure(sockets)
                    #expect(found == error)
                }
            }
            let sites: [(CallSite, Errno, ScanError)] = [
                (CallSite(.hci, .write), .notPermitted, .notPermitted(missing: Capability.missing)),
                (CallSite(.hci, .write), .ioError, .adapterGone),
                (CallSite(.hci, .write), .noMemory, .system("send an HCI command", .noMemory)),
                (CallSite(.hci, .recvmsg), .ioError, .adapterGone),
                (CallSite(.hci, .socket), .noMemory, .system("open a raw HCI socket on hci0", .noMemory)),
                (CallSite(.hci, .bind), .notPermitted, .notPermitted(missing: Capability.missing)),
            ]
            for (site, code, error) in sites {
                try KernelSockets.run(errors: [site: code]) { sockets in
                    let found = try failure(sockets)
                    #expect(found == error, "\(site)")
                }
            }
        }

        private func failure(_ sockets: KernelSockets) throws -> ScanError? {
            do throws(ScanError) {
                let scanner = try sockets.kernel.adapter.makeScanner()
                var errors: [ScanError] = []
                scanner.onFailure = { errors.append($0) }
                scanner.start(.background, devices: DeviceTable())
                do { try sockets.run { !errors.isEmpty } } catch { return nil }
                return errors.count == 1 ? errors[0] : nil
            } catch {
                return error
            }
        }
    }
#endif
