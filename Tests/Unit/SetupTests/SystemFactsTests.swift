// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothAdapters
    import BluetoothHost
    import BluetoothPackets
    import Control
    import Daemon
    import Devices
    import Keystrokes
    import LinuxIO
    import Setup
    import SystemPackage
    import TestSupport
    import Testing
    import Texts
    import TextsSupport

    /// The doctor's facts about a machine whose kernel refuses some calls.
    @Suite("The facts that the doctor collects")
    struct SystemFactsTests {
        private static func collect(
            _ home: TestDirectory,
            daemon: SystemFacts.Daemon = .none,
            adapter: AdapterTransport? = nil,
            layout: String? = nil,
            refusing sites: [CallSite: Errno] = [:]
        ) throws -> SystemFacts {
            let folder = FilePath(home.path)
            let paths = DaemonPaths(configuration: folder, state: folder, runtime: folder)
            CallScript.use { site in
                sites[CallSite(site.kind, site.call)].map { .error($0) }
            }
            defer { CallScript.use(nil) }
            return SystemFacts(at: [paths], adapter: adapter, layout: layout, daemon: daemon)
        }

        @Test("Without Bluetooth sockets or epoll, the adapters are not read, and no error of reading is reported")
        func noRadio() throws {
            let home = try TestDirectory()
            for (error, sockets) in [
                (Errno.addressFamilyNotSupported, SystemFacts.Sockets.unknown), (.protocolNotSupported, .unknown),
                (.permissionDenied, .refused("\(Errno.permissionDenied)")),
            ] {
                let facts = try Self.collect(
                    home,
                    refusing: [CallSite(.hci, .socket): error, CallSite(.management, .socket): error]
                )
                #expect(facts.sockets == sockets && facts.adapters.isEmpty && facts.adapterFault == nil)
                #expect(facts.takenControllers.isEmpty && facts.serialControllers.isEmpty)
            }
        }

        @Test("The keyboard device is missing, not permitted or refused, according to the kernel's error")
        func uinput() throws {
            let home = try TestDirectory()
            for (error, state) in [
                (Errno.noSuchFileOrDirectory, SystemFacts.UInput.missing(ModuleState("uinput"))),
                (.operationNotSupportedByDevice, .missing(ModuleState("uinput"))),
                (.noSuchAddressOrDevice, .missing(ModuleState("uinput"))), (.permissionDenied, .notPermitted),
                (.notPermitted, .notPermitted), (.tooManyOpenFiles, .refused("\(Errno.tooManyOpenFiles)")),
            ] {
                let facts = try Self.collect(home, refusing: [CallSite(.keyboard, .open): error])
                #expect(facts.uinput == state, "\(error)")
            }
        }

        @Test("The configuration, the selected device and the options are those of the daemon's directories")
        func files() throws {
            let home = try TestDirectory()
            let text = """
                adapter = "memory:scale"
                to = "stdout"
                layout = "jp"
                queue = 64

                """
            try home.write(text, to: "blewedge.toml")
            try home.write("address = F0:F1:F2:F3:F4:F5\ntype = random\nname = \"SCANNER-1\"\n", to: "selection")
            // An installed service of this machine has directories of its own.
            guard SystemFacts.installedService == nil else { return }
            var facts = try Self.collect(home)
            #expect(facts.configuration == .correct && facts.layout == "jp" && facts.queue == .small)
            #expect(facts.choice == .chosen("SCANNER-1") && facts.legacyBond == nil)
            #expect(!facts.usesKeyboard && !facts.usesKernelController && !facts.usesKernelChannels)
            #expect(facts.missingCapabilities.isEmpty && !facts.watchesBeacons && facts.selector == .any)
            #expect(facts.kernelVersion == .running && facts.kernelVersion != nil && facts.service == nil)
            #expect(facts.hasManager == (ServiceManager.ofThisMachine != nil) && facts.unreadableEventNode == nil)
            // Options replace the configuration.
            let adapter = try AdapterTransport("hci1")
            facts = try Self.collect(home, adapter: adapter, layout: "de")
            #expect(facts.layout == "de" && facts.selector == .index(ControllerIndex(rawValue: 1)))
            #expect(facts.usesKernelController && facts.usesKernelChannels && !facts.usesKeyboard)
            #expect(facts.missingCapabilities == Capability.missing)
            // So does a running daemon.
            var status = SystemFacts.Status(state: .connected, pid: 1)
            (status.layout, status.transport, status.device) = ("fr", adapter, "SCANNER-2")
            facts = try Self.collect(home, daemon: .running(status))
            #expect(facts.daemon == .running(status) && facts.layout == "fr" && facts.choice == .chosen("SCANNER-2"))
            #expect(facts.selector == .index(ControllerIndex(rawValue: 1)) && facts.usesKeyboard)
            status.device = nil
            #expect(try Self.collect(home, daemon: .running(status)).choice == .none)
            status.choiceFault = "no room"
            let place = home("selection")
            #expect(
                try Self.collect(home, daemon: .running(status)).choice == .unreadable(path: place, reason: "no room")
            )
            (status.hasOtherOutput, status.choiceFault) = (true, nil)
            #expect(try !Self.collect(home, daemon: .running(status)).usesKeyboard)
        }

        @Test("A wrong configuration is named with its line; one that may not be read counts as correct")
        func wrongFiles() throws {
            let home = try TestDirectory()
            try home.write("layout = \"us\"\nqueue = 65\n", to: "blewedge.toml")
            try home.write("no device\n", to: "selection")
            guard SystemFacts.installedService == nil else { return }
            let facts = try Self.collect(home)
            guard case .wrong(home("blewedge.toml"), let reason) = facts.configuration,
                case .unreadable(home("selection"), let cause) = facts.choice
            else {
                Issue.record("\(facts.configuration) \(facts.choice)")
                return
            }
            #expect(reason.english.contains("line 2") && !reason.english.contains("\n"), "\(reason.english)")
            #expect(cause.english.contains("line 1") && facts.layout == "us" && facts.queue == .large)
            for text in ["table = \"\(home("none"))\"\n", "[beacons]\nregions = \"\(home("none"))\"\n"] {
                try home.write(text, to: "blewedge.toml")
                if case .wrong = try Self.collect(home).configuration { continue }
                Issue.record("\(text)")
            }
            // The configuration is a file, whose opening is refused.
            try home.write("queue = 65\n", to: "blewedge.toml")
            let hidden = try Self.collect(home, refusing: [CallSite(.file, .open): .permissionDenied])
            #expect(hidden.configuration == .correct)
        }
    }
#endif
