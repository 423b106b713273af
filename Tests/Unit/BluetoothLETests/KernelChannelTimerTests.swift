// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothHost
    import ClockSupport
    import Glibc
    import SystemPackage
    import Testing

    @testable import BluetoothAdapters
    @testable import BluetoothLE
    @testable import LinuxIO

    /// Timers of a channel over a socket pair.
    ///
    /// Each test runs in its own process, because the virtual clock applies to the whole process.
    @Suite(
        "The timers of a kernel channel",
        .timeLimit(.minutes(10)),
        .enabled(if: ChannelFault.running == .absent, "a faulty kernel's peer has to answer a request first")
    )
    struct KernelChannelTimerTests {
        /// Channel whose socket buffer is full, and whose next writes fail with ENOBUFS.
        private final class Bench {
            let loop: EventLoop
            let channel: KernelATTChannel
            private let peer: Int32

            init() throws {
                VirtualClock.begin()
                loop = try EventLoop()
                var ends: [Int32] = [-1, -1]
                let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
                try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
                let packet = [UInt8](repeating: 0, count: 16_384)
                while Glibc.send(ends[0], packet, packet.count, 0) > 0 {}
                peer = ends[1]
                let socket = L2CAPSocket(accepted: Descriptor(owning: ends[0], .link), receiveBuffer: 1 << 16)
                let central = L2CAPListener.Central(socket: socket, address: 1, isRandom: false)
                channel = try KernelATTChannel(accepted: central, on: loop)
                CallScript.use { site in
                    switch (site.kind, site.call) {
                    case (.link, .write): .error(.noBufferSpace)
                    // BT_SECURITY, which a socket pair does not support.
                    case (.link, .setsockopt): .result(0)
                    default: nil
                    }
                }
            }

            /// Reads the data that the peer has received, so that the socket has room.
            func makeRoom() {
                var buffer = [UInt8](repeating: 0, count: 16_384)
                while recv(peer, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 {}
            }

            func run(for time: Duration) throws {
                _ = loop.schedule(at: MonotonicClock.now + time) { [loop] in loop.stop() }
                try loop.run()
            }
        }

        @Test("A link that was secured while a PDU waited to be sent again is not ended by the time-out of securing")
        func secured() async {
            await #expect(processExitsWith: .success) {
                let bench = try Bench()
                var (isSecured, failure) = (false, LinkFailure?.none)
                bench.channel.onClosed = { failure = $0 }
                bench.channel.onWritable = { bench.makeRoom() }
                let isSent = try bench.channel.send([0x52, 0x03, 0x00, 0x41])
                bench.channel.secure(.none) { if case .success = $0 { isSecured = true } }
                try bench.run(for: .seconds(30))
                #expect(!isSent && isSecured && failure == nil)
            }
        }

        @Test("A link that is not secured in time is given up, though a PDU waits to be sent again")
        func unsecured() async {
            await #expect(processExitsWith: .success) {
                let bench = try Bench()
                var failures: [LinkFailure] = []
                bench.channel.secure(.encrypted) { if case .failure(let failure) = $0 { failures.append(failure) } }
                let isSent = try bench.channel.send([0x52, 0x03, 0x00, 0x41])
                try bench.run(for: .seconds(30))
                #expect(!isSent && failures == [.notSecured])
            }
        }
    }
#endif
