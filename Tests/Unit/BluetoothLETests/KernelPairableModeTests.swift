// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO
import Testing

@testable import BluetoothAdapters

@Suite("Pairing as the peripheral through the kernel", .timeLimit(.minutes(10)))
struct KernelPairableModeTests {
    private static let central: [UInt8] = [0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 2]
    private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)

    /// Opens a pairable mode, for which the kernel is ready.
    private func open(_ kernel: ManagementKernel, limit: Duration = .seconds(300)) throws -> any PairableMode {
        let window = kernel.adapter.makePairableMode(
            PairableOptions(.displayYesNo, required: .encrypted, limit: limit)
        )
        window.onNews = { [unowned kernel] news in kernel.news.append(news) }
        window.open()
        return window
    }

    /// Makes the central request pairing, and waits until the user is asked to compare a number.
    private func ask(_ kernel: ManagementKernel) throws {
        try kernel.run { kernel.count(.setBondable) == 1 }
        // The answer to the last command precedes the question.
        kernel.tell(0x0F, Self.central + [0, 42, 0, 0, 0])
        try kernel.run { !kernel.news.isEmpty }
        #expect(kernel.news == [.ask(.compare(42), of: Self.device)])
    }

    @Test("The kernel's questions reach the user, his answers the kernel, and its key the owner of the window")
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

    @Test("A central that leaves settles its question; the limit ends the window and what is under way")
    func ends() throws {
        let kernel = try ManagementKernel()
        var window: (any PairableMode)? = try open(kernel)
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

    @Test("A window that nobody keeps is closed, and leaves neither keys nor a kernel that takes more")
    func dropped() throws {
        let kernel = try ManagementKernel()
        var window: (any PairableMode)? = try open(kernel)
        try ask(kernel)
        withExtendedLifetime(window) {}
        window = nil
        kernel.answer()
        #expect(kernel.commands.suffix(2).map(\.opcode) == [.unpairDevice, .setBondable])
        #expect(kernel.commands.last?.parameters == [0] && kernel.adapter.window == nil)
    }
}
