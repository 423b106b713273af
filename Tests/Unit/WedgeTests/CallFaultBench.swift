// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothAdapters
    import BluetoothHost
    import BluetoothPackets
    import Configuration
    import Control
    import Daemon
    import Devices
    import Glibc
    import Keystrokes
    import LinuxIO
    import SystemPackage
    import TestSupport
    import Texts
    import Typing

    /// Daemon on a `KernelStandIn`, with functions to check that it is connected, types and answers.
    final class CallFaultBench {
        /// Event that causes calls at a call site.
        enum Occasion { case traffic, linkLoss, adapterLoss, keyboardLoss, choice }

        private let directory: TestDirectory
        let loop: EventLoop
        let kernel: KernelStandIn
        let machine: StandInMachine
        let daemon: Daemon
        private let path: String
        /// States since the start.
        private(set) var states: [Session.State] = []
        /// Signals received since the start, on a kernel that lacks a feature.
        private(set) var signals: [Int32] = []
        let choices: ChoiceStore
        private var client: Int32 = -1

        init(_ selector: AdapterSelector = .any, lacking absence: KernelAbsence? = nil) throws {
            directory = try TestDirectory()
            kernel = KernelStandIn(lacking: absence)
            kernel.begin()
            loop = try EventLoop.ofCommand()
            // Before any thread is created, as in a command.
            var received: (Int32) -> Void = { _ in }
            if absence != nil { try loop.handleSignals([SIGUSR2]) { received($0) } }
            machine = try StandInMachine(kernel)
            let paths = DaemonPaths(
                configuration: FilePath(directory("config")),
                state: FilePath(directory("state")),
                runtime: FilePath(directory("run"))
            )
            path = paths.controlSocket.string
            choices = ChoiceStore(paths.choice)
            try choices.write(SelectedDevice(KernelStandIn.device, name: nil))
            let settings = KeyboardSettings(
                adapter: .any,
                device: nil,
                profiles: [.linble],
                typing: TypingSettings(
                    table: try CompiledTable(ByteTable(.linble), layout: .us),
                    pacer: Pacer(try Pace(stall: 0, queue: .large)),
                    maximumAge: nil,
                    capsLock: .ignore,
                    verifies: false
                )
            )
            let options = Daemon.Options(
                paths: paths,
                followsChoice: true,
                terminal: nil,
                allowsKeys: true,
                labels: DaemonLabels(profile: "linble", layout: "us", table: "linble", program: "test")
            )
            daemon = try Daemon(settings, options, through: AdapterCore(loop, .kernel(selector)))
            daemon.onEvent = { [unowned self] event, _ in
                if case .state(let state, _, _) = event { states.append(state) }
            }
            received = { [unowned self] number in signals.append(number) }
            daemon.start { _ in }
        }

        /// Handles both sides until a condition is met or the time is over; returns true if it is met.
        func until(_ limit: Duration, _ condition: () -> Bool) throws -> Bool {
            try loop.run(within: limit, turn: .milliseconds(2)) {
                machine.turn()
                return condition()
            }
        }

        /// Causes the event.
        func bring(_ occasion: Occasion) throws {
            switch occasion {
            case .traffic:
                machine.notify("7\r")
                try? daemon.service.device.send([0x31])
                ask()
            case .linkLoss: machine.dropLink()
            case .adapterLoss: machine.dropAdapter(backAs: machine.index ^ 1)
            case .keyboardLoss:
                machine.dropKeyboard()
                machine.notify("7\r")
            case .choice:
                var isOver = false
                let device = DeviceSelector.address(KernelStandIn.device.address)
                let request = ControlRequest.use(device, confirmed: true, security: GATTLinkSecurity.Level.none)
                daemon.handle(request) { _ in isOver = true }
                _ = try until(.seconds(20)) { isOver }
            }
        }

        /// Returns true if the daemon is connected, types and answers within the time.
        func isSteady(within limit: Duration) throws -> Bool {
            let deadline = MonotonicClock.now + limit
            while MonotonicClock.now < deadline {
                let rest = deadline - MonotonicClock.now
                guard try until(rest, { [self] in daemon.service.device.state == .connected && machine.isSubscribed })
                else {
                    break
                }
                let (typed, patience) = (machine.barcodes, min(rest, .milliseconds(600)))
                machine.notify("7\r")
                guard try until(patience, { [self] in machine.barcodes > typed && machine.heldKeys.isEmpty }) else {
                    continue
                }
                ask()
                var answer = 0
                let isAnswered = try until(patience) { [self] in
                    answer += read()
                    return answer > 0
                }
                hangUp()
                // Lets the daemon close the client's connection.
                _ = try until(.milliseconds(20)) { false }
                if isAnswered, daemon.service.device.state == .connected { return true }
            }
            return false
        }

        /// The number of open descriptors of this process.
        var descriptors: Int { FileSystem.names(in: "/proc/self/fd").count }

        /// Returns the number of open descriptors after the connections of closed clients have been closed.
        func settledDescriptors() throws -> Int {
            var least = descriptors
            _ = try until(.milliseconds(500)) { [self] in
                least = min(least, descriptors)
                return false
            }
            return least
        }

        /// Stops the daemon.
        func end() throws -> Bool {
            hangUp()
            var isOver = false
            daemon.stop { isOver = true }
            defer { CallScript.use(nil) }
            return try until(.seconds(20)) { isOver }
        }

        // MARK: A client with its own system calls

        private func ask() {
            hangUp()
            client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            _ = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(client, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            let line = Array((ControlRequest.status.line + "\n").utf8)
            _ = Glibc.send(client, line, line.count, Int32(MSG_NOSIGNAL))
        }

        private func read() -> Int {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            return max(0, recv(client, &buffer, buffer.count, Int32(MSG_DONTWAIT)))
        }

        private func hangUp() {
            if client >= 0 { close(client) }
            client = -1
        }
    }
#endif
