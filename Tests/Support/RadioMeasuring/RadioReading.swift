// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
public import BluetoothHost
import BluetoothPackets
import Glibc
import LinuxIO
import SystemPackage

/// Path of advertising reports from the socket to the selected device, as on the radio thread: the event loop, the
/// scanner of the kernel's adapters, and its table.
///
/// The raw HCI sockets and the management channel are replaced by pairs of packet sockets, and the controller answers
/// every command with success. For the Benchmarks package.
public final class RadioReading {
    /// Error if the controller does not start scanning.
    public struct Failure: Error {}

    /// Socket for writing packets of reports, one packet per write; it blocks while its buffer is full.
    ///
    /// It is closed when this object is released.
    public let sender: Int32

    let loop: EventLoop
    let scanner: AdapterScanner
    private let adapter: KernelAdapter
    private let controller: Controller
    /// Peer of the management channel, which never sends.
    private let kernel: Descriptor
    private var updates = 0

    /// Devices known to the scanner, and its counters.
    public var devices: DeviceTable { scanner.devices }

    /// Starts scanning for the devices of this table.
    public init(_ devices: DeviceTable) throws {
        loop = try EventLoop()
        let (reports, sender) = try Self.pair()
        let (commands, controllerEnd) = try Self.pair()
        let (management, kernelEnd) = try Self.pair()
        self.sender = sender
        kernel = Descriptor(owning: kernelEnd)
        let information = [UInt8](repeating: 0, count: 280)
        adapter = KernelAdapter(
            index: ControllerIndex(rawValue: 0),
            information: try ControllerInformation(returnParameters: information.span),
            management: try ManagementChannel(ManagementSocket(opened: Descriptor(owning: management)), on: loop),
            loop: loop
        )
        scanner = try AdapterScanner(
            adapter,
            commands: HCISocket(opened: Descriptor(owning: commands)),
            reports: HCISocket(opened: Descriptor(owning: reports)),
            on: loop
        )
        controller = try Controller(controllerEnd, loop)
        var isScanning = false
        scanner.onStarted = { [loop] in
            isScanning = true
            loop.stop()
        }
        scanner.onFailure = { [loop] _ in loop.stop() }
        scanner.start(ScanParameters(), devices: devices)
        try loop.run()
        guard isScanning else { throw Failure() }
        scanner.onUpdate = { [unowned self] _ in
            updates += 1
            loop.stop()
        }
    }

    deinit {
        scanner.close()
        adapter.close()
        close(sender)
    }

    /// Runs the loop until one of the wanted devices is received; returns the processor time of the calling thread in
    /// nanoseconds.
    public func untilHeard() throws -> Int64 {
        let (start, before) = (Self.processorTime, updates)
        try loop.run()
        guard updates > before else { throw Failure() }
        return Self.processorTime - start
    }

    private static var processorTime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Creates a pair of sockets: a non-blocking reader and a blocking sender.
    private static func pair() throws -> (reader: Int32, sender: Int32) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0,
            fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0
        else { throw Errno(rawValue: errno) }
        return (ends[0], ends[1])
    }

    /// Controller that supports every command and answers each with success.
    private final class Controller {
        private let socket: HCISocket
        private var buffer = [UInt8](repeating: 0, count: 300)
        private var registration: EventLoop.Registration?

        init(_ number: Int32, _ loop: EventLoop) throws {
            socket = HCISocket(opened: Descriptor(owning: number))
            registration = try loop.watch(socket.descriptor, for: .readable) { [unowned self] _ in answer() }
        }

        private func answer() {
            guard case .done(let packet)? = try? socket.descriptor.receive(into: &buffer), packet.count > 3 else {
                return
            }
            let opcode = [buffer[1], buffer[2]]
            // Read Local Supported Commands returns 64 more bytes, with a bit for each command.
            let returned: [UInt8] = [0] + (opcode == [0x02, 0x10] ? [UInt8](repeating: 0xFF, count: 64) : [])
            _ = try? socket.send([0x04, 0x0E, UInt8(3 + returned.count), 1] + opcode + returned)
        }
    }
}
