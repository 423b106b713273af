// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothHost
    import BluetoothPackets
    import CLinux
    import ClockSupport
    import Glibc
    import TestSupport
    import Testing

    @testable import BluetoothAdapters
    @testable import LinuxIO

    /// Advertising over a socket pair instead of the kernel, in virtual time.
    @Suite(.timeLimit(.minutes(5))) struct KernelAdvertiserTests {
        /// Controller that completes every command.
        private final class Controller {
            let kernel: ManagementKernel
            let advertiser: KernelAdvertiser
            /// Times at which advertising was enabled.
            private(set) var enabled: [Duration] = []
            /// Status with which it answers that command.
            var status = HCIStatus.success
            private let end: Int32

            init() throws {
                kernel = try ManagementKernel()
                var ends: [Int32] = [-1, -1]
                let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
                try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
                end = ends[1]
                let (commands, centrals) = (ends[0], eventfd(0, Int32(EFD_NONBLOCK)))
                CallScript.use { site in
                    switch (site.kind, site.call) {
                    case (.hci, .socket): .result(commands)
                    case (.listener, .socket): .result(centrals)
                    case (.hci, .setsockopt), (.hci, .bind), (.listener, .bind), (.listener, .listen): .result(0)
                    default: nil
                    }
                }
                defer { CallScript.use(nil) }
                advertiser = try KernelAdvertiser(kernel.adapter)
            }

            deinit {
                advertiser.close()
                close(end)
            }

            func run(until isDone: () -> Bool) throws {
                let isOver = try kernel.loop.run(turn: .milliseconds(100)) {
                    answer()
                    return isDone()
                }
                try #require(isOver, "\(enabled)")
            }

            private func answer() {
                var packet = [UInt8](repeating: 0, count: 512)
                while recv(end, &packet, packet.count, Int32(MSG_DONTWAIT)) > 3 {
                    let opcode = HCIOpcode(rawValue: UInt16(packet[1]) | UInt16(packet[2]) << 8)
                    if opcode == .readLocalSupportedCommands {
                        // Octets 25 and 26: the legacy advertising commands (Core 6.0, Vol 4, Part E, 6.27).
                        var supported = [UInt8](repeating: 0, count: 64)
                        supported[25] = 0xFF
                        supported[26] = 0xFF
                        complete(opcode, [0] + supported)
                    } else if opcode == .leSetAdvertisingEnable, packet[4] == 1 {
                        enabled.append(MonotonicClock.now)
                        complete(opcode, [status.rawValue])
                    } else {
                        complete(opcode, [0])
                    }
                }
            }

            func complete(_ opcode: HCIOpcode, _ returned: [UInt8]) {
                let code = [UInt8(truncatingIfNeeded: opcode.rawValue), UInt8(opcode.rawValue >> 8)]
                let packet = [0x04, 0x0E, UInt8(3 + returned.count), 1] + code + returned
                #expect(write(end, packet, packet.count) == packet.count)
            }
        }

        @Test("Advertising is enabled each minute, while all connections are in use, and soon after another program")
        func resumption() throws {
            try SystemTime.$ofTask.withValue(VirtualClock()) {
                let controller = try Controller()
                let content = Advertiser.Content(AdvertisingParameters(kind: .connectable, interval: 0x20), data: [])
                var isStarted = false
                controller.advertiser.start(content, onConnection: { _ in }) { isStarted = (try? $0.get()) != nil }
                try controller.run { isStarted }
                controller.status = .connectionLimitExceeded
                try controller.run { controller.enabled.count == 2 }
                controller.status = .success
                try controller.run { controller.enabled.count == 3 }
                controller.complete(.leSetAdvertisingEnable, [0])
                try controller.run { controller.enabled.count == 4 }
                let pauses = zip(controller.enabled, controller.enabled.dropFirst()).map { $1 - $0 }
                #expect(pauses[0] >= .seconds(60) && pauses[0] < .seconds(62))
                #expect(pauses[1] >= .seconds(60) && pauses[1] < .seconds(62))
                #expect(pauses[2] >= .seconds(1) && pauses[2] < .seconds(3))
            }
        }
    }
#endif
