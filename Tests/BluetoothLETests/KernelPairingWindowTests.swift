// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import Testing

@testable import BluetoothLE

/// The kernel's end of a management socket, which says yes to every command.
private final class ManagementKernel {
    let loop: EventLoop
    let adapter: KernelAdapter
    private let end: Int32
    /// The commands that came, with their parameters.
    private(set) var commands: [(opcode: ManagementOpcode, parameters: [UInt8])] = []
    var news: [PairingWindowNews] = []

    init() throws {
        loop = try EventLoop()
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        end = ends[1]
        let channel = try ManagementChannel(ManagementSocket(opened: Descriptor(owning: ends[0])), on: loop)
        // An adapter with Low Energy and Secure Connections that is powered.
        var bytes: [UInt8] = [0x42, 0, 1, 0xAA, 0, 0, 0x0C, 0x02, 0x00, 0x00, 0x0A, 0, 0, 0x01, 0x02, 0, 0]
        bytes += [UInt8](repeating: 0, count: 280 - bytes.count)
        let information = try ControllerInformation(returnParameters: bytes.span)
        let index = ControllerIndex(rawValue: 0)
        adapter = KernelAdapter(index: index, information: information, management: channel, loop: loop)
    }

    deinit {
        adapter.close()
        close(end)
    }

    /// Answers until something is so.
    func run(until isDone: () -> Bool) throws {
        let limit = MonotonicClock.now + .seconds(30)
        while !isDone() {
            try #require(MonotonicClock.now < limit, "\(commands), \(news)")
            answer()
            let turn = loop.schedule(at: MonotonicClock.now + .milliseconds(1)) { [loop] in loop.stop() }
            try loop.run()
            loop.cancel(turn)
        }
    }

    /// Reads and answers what has come.
    func answer() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(end, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count >= 6 else { return }
            let opcode = Array(buffer[0..<2])
            let number = UInt16(opcode[0]) | UInt16(opcode[1]) << 8
            commands.append((ManagementOpcode(rawValue: number), Array(buffer[6..<count])))
            tell(0x01, opcode + [0])
        }
    }

    /// Sends an event of the adapter.
    func tell(_ code: UInt8, _ parameters: [UInt8]) {
        let packet = [code, 0, 0, 0, UInt8(parameters.count), 0] + parameters
        #expect(write(end, packet, packet.count) == packet.count)
    }

    func count(_ opcode: ManagementOpcode) -> Int { commands.count { $0.opcode == opcode } }
}

@Suite("Pairing as the peripheral through the kernel", .timeLimit(.minutes(10)))
struct KernelPairingWindowTests {
    private static let central: [UInt8] = [0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 2]
    private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)

    /// An open window, for which the kernel is ready.
    private func open(_ kernel: ManagementKernel, limit: Duration = .seconds(300)) throws -> any PairingWindow {
        let window = kernel.adapter.makePairingWindow(
            PairingOffer(.displayYesNo, required: .encrypted, limit: limit)
        )
        window.onNews = { [unowned kernel] news in kernel.news.append(news) }
        window.open()
        return window
    }

    /// The central asks, and the user is asked.
    private func ask(_ kernel: ManagementKernel) throws {
        try kernel.run { kernel.count(.setBondable) == 1 }
        // The answer to the last command comes before the question.
        kernel.tell(0x0F, Self.central + [0, 42, 0, 0, 0])
        try kernel.run { !kernel.news.isEmpty }
        #expect(kernel.news == [.ask(.compare(42), of: Self.device)])
    }

    @Test("X-8: the kernel's questions reach the user, his answers the kernel, and its key the owner of the window")
    func bond() throws {
        let kernel = try ManagementKernel()
        let window = try open(kernel)
        try ask(kernel)
        window.answer(true)
        try kernel.run { kernel.count(.userConfirmationReply) == 1 }
        let key: [UInt8] = [1] + Self.central + [3, 0, 16, 0, 0] + [UInt8](repeating: 0, count: 8) + Array(1...16)
        kernel.tell(0x0A, key)
        try kernel.run { kernel.news.count == 2 && kernel.count(.setBondable) == 2 }
        guard case .ended(let bond?) = kernel.news.last else {
            Issue.record("\(kernel.news)")
            return
        }
        #expect(bond.identityAddress == Self.device && bond.security.level == .authenticated)
        #expect(kernel.commands.last?.parameters == [0] && kernel.adapter.window == nil)
        withExtendedLifetime(window) {}
    }

    @Test("X-8: a central that leaves settles its question; the limit ends the window and what is under way")
    func ends() throws {
        let kernel = try ManagementKernel()
        var window: (any PairingWindow)? = try open(kernel)
        try ask(kernel)
        kernel.tell(0x0C, Self.central + [3])
        try kernel.run { kernel.news.count == 2 }
        #expect(kernel.news.last == .failed(Self.device, .notReached(.disconnected)))
        window = try open(kernel, limit: .zero)
        try kernel.run { kernel.news.last == .ended(nil) }
        #expect(kernel.adapter.window == nil)
        withExtendedLifetime(window) {}
        window = nil
    }

    @Test("X-8: a window that nobody keeps is closed, and leaves neither keys nor a kernel that takes more")
    func dropped() throws {
        let kernel = try ManagementKernel()
        var window: (any PairingWindow)? = try open(kernel)
        try ask(kernel)
        withExtendedLifetime(window) {}
        window = nil
        kernel.answer()
        #expect(kernel.commands.suffix(2).map(\.opcode) == [.unpairDevice, .setBondable])
        #expect(kernel.commands.last?.parameters == [0] && kernel.adapter.window == nil)
    }
}
