// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothHost
    import BluetoothPackets
    import ClockSupport
    import Glibc
    import LinuxIO
    import SystemPackage
    import TestSupport
    import Testing

    @testable import BluetoothAdapters

    /// HCI and L2CAP sockets of a `ManagementKernel`, over socket pairs, in virtual time; used on one thread.
    final class KernelSockets: @unchecked Sendable {
        let kernel: ManagementKernel
        /// Received commands as text, hexadecimal, without the packet indicator.
        var log: [String] = []
        /// Times at which advertising was enabled.
        private(set) var enabled: [Duration] = []
        /// Statuses of commands that are refused.
        var statuses: [HCIOpcode: HCIStatus] = [:]
        /// Commands that are not answered.
        var unanswered: Set<HCIOpcode> = []
        /// Return parameters of Read Local Supported Commands.
        ///
        /// By default, octets 25 and 26 contain the legacy advertising commands (Core 6.0, Vol 4, Part E, 6.27).
        var supported: [UInt8] =
            [0] + [UInt8](repeating: 0, count: 25) + [0xFF, 0xFF] + [UInt8](repeating: 0, count: 37)
        /// Calls on HCI and L2CAP sockets, with the numbers of options.
        private(set) var calls: [String] = []
        /// True if connections are started, but never established.
        var isDeaf = false
        private var ends: [Int32] = []
        /// Remote ends of the L2CAP sockets, oldest first.
        private(set) var links: [Int32] = []
        /// Pipe with a byte for each central that waits to be accepted: the read end and the write end.
        private var arrivals: [Int32] = [-1, -1]

        /// Runs `body` with a controller whose sockets are opened without errors, except at the sites in `errors`.
        static func run(
            address: [UInt8] = [0x42, 0, 1, 0xAA, 0, 0],
            errors: [CallSite: Errno] = [:],
            _ body: (KernelSockets) throws -> Void
        ) throws {
            try SystemTime.$ofTask.withValue(VirtualClock()) {
                let kernel = try KernelSockets(address)
                defer { CallScript.use(nil) }
                kernel.script(errors)
                try body(kernel)
                kernel.kernel.adapter.close()
            }
        }

        private init(_ address: [UInt8]) throws {
            kernel = try ManagementKernel(address: address)
            try #require(pipe(&arrivals) == 0)
            _ = fcntl(arrivals[0], F_SETFL, O_NONBLOCK)
        }

        deinit {
            for end in ends + arrivals { close(end) }
        }

        /// Sets the errors of system calls.
        func script(_ errors: [CallSite: Errno]) {
            CallScript.use { [unowned self] site in
                if let error = errors.first(where: { $0.key.kind == site.kind && $0.key.call == site.call })?.value {
                    return .error(error)
                }
                if [.hci, .link, .listener].contains(site.kind) {
                    calls.append("\(site)" + (site.option.map { " \($0)" } ?? ""))
                }
                switch (site.kind, site.call) {
                case (.hci, .socket): return pair()
                case (.link, .socket): return link()
                case (.listener, .socket): return .result(dup(arrivals[0]))
                case (.listener, .accept):
                    var byte: UInt8 = 0
                    return read(arrivals[0], &byte, 1) == 1 ? pair() : .error(.wouldBlock)
                case (.hci, .setsockopt), (.hci, .bind), (.listener, .bind), (.listener, .listen), (.link, .setsockopt),
                    (.link, .bind), (.link, .connect):
                    return .result(0)
                default: return nil
                }
            }
        }

        private func pair() -> CallScript.Answer {
            var pair: [Int32] = [-1, -1]
            let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { return .error(.tooManyOpenFiles) }
            ends.append(pair[1])
            return .result(pair[0])
        }

        private func link() -> CallScript.Answer {
            let answer = pair()
            guard case .result(let number) = answer, let end = ends.last else { return answer }
            links.append(end)
            // A full socket is not writable, like a socket that is not connected.
            if isDeaf { fill(number) }
            return answer
        }

        private func fill(_ number: Int32) {
            let packet = [UInt8](repeating: 0, count: 16_384)
            while send(number, packet, packet.count, Int32(MSG_NOSIGNAL)) > 0 {}
        }

        /// Number of sockets that the adapter has open.
        var openSockets: Int {
            ends.count { end in
                // A full socket has packets to read after its other end was closed.
                if isDeaf, links.contains(end) { return false }
                var byte: UInt8 = 0
                return recv(end, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK)) != 0
            }
        }

        /// Makes a central connect.
        func arrive() {
            _ = write(arrivals[1], "x", 1)
        }

        /// Answers commands until a condition is met.
        func run(turn: Duration = .milliseconds(100), until isDone: () -> Bool) throws {
            let isOver = try kernel.loop.run(within: .seconds(300), turn: turn) {
                answer()
                return isDone()
            }
            try #require(isOver, "\(log)")
        }

        private func answer() {
            kernel.answer()
            for end in ends where !links.contains(end) {
                var packet = [UInt8](repeating: 0, count: 512)
                while true {
                    let count = recv(end, &packet, packet.count, Int32(MSG_DONTWAIT))
                    guard count > 3 else { break }
                    let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
                    log.append(Hexadecimal.text(packet[1..<count]))
                    if opcode == .leSetAdvertisingEnable, packet[4] == 1 { enabled.append(MonotonicClock.now) }
                    if unanswered.contains(opcode) { continue }
                    let isSupported = opcode == .readLocalSupportedCommands && statuses[opcode] == nil
                    let returned = isSupported ? supported : [statuses[opcode]?.rawValue ?? 0]
                    let answer = Self.complete(opcode, returned)
                    _ = send(end, answer, answer.count, Int32(MSG_NOSIGNAL))
                }
            }
        }

        /// Sends Command Complete to all raw sockets, as after a command of another program.
        func complete(_ opcode: HCIOpcode, _ returned: [UInt8]) { tell(Self.complete(opcode, returned)) }

        private static func complete(_ opcode: HCIOpcode, _ returned: [UInt8]) -> [UInt8] {
            let code = [UInt8(truncatingIfNeeded: opcode.rawValue), UInt8(opcode.rawValue >> 8)]
            return [0x04, 0x0E, UInt8(3 + returned.count), 1] + code + returned
        }

        /// Sends an HCI packet to the newest raw socket, which is that for reports while a scan runs.
        func report(_ packet: [UInt8]) {
            if let end = ends.last { _ = send(end, packet, packet.count, Int32(MSG_NOSIGNAL)) }
        }

        /// Sends an HCI packet to all raw sockets.
        func tell(_ packet: [UInt8]) {
            for end in ends where !links.contains(end) { _ = send(end, packet, packet.count, Int32(MSG_NOSIGNAL)) }
        }
    }
#endif
