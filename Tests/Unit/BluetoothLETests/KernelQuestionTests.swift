// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO
import Testing

@testable import BluetoothAdapters

/// Questions and key events of the kernel while no pairing is in progress.
@Suite(.timeLimit(.minutes(10))) struct KernelQuestionTests {
    private static let central: [UInt8] = [0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 2]
    private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)

    /// Makes the kernel ask for a confirmation and a passkey, and display a passkey.
    private func ask(_ kernel: ManagementKernel) {
        kernel.tell(0x0F, Self.central + [1, 0, 0, 0, 0])
        kernel.tell(0x10, Self.central)
        kernel.tell(0x17, Self.central + [7, 0, 0, 0, 0])
    }

    /// Simulates the connection of a central.
    private func connect(_ kernel: ManagementKernel) {
        kernel.tell(0x0B, Self.central + [0, 0, 0, 0, 0, 0])
    }

    @Test("T3: while pairing is disabled, the kernel's questions about a central and its passkeys are rejected")
    func unasked() throws {
        let kernel = try ManagementKernel()
        kernel.adapter.isServing = true
        connect(kernel)
        ask(kernel)
        try kernel.run { kernel.commands.count == 3 }
        let refusals: [ManagementOpcode] = [.userConfirmationNegativeReply, .userPasskeyNegativeReply, .disconnect]
        #expect(kernel.commands.map(\.opcode) == refusals)
        #expect(kernel.commands.allSatisfy { $0.parameters.starts(with: Self.central) })
    }

    @Test(
        "T3: after pairing is disabled, questions about its central are rejected; those about other programs' devices are ignored"
    )
    func behind() throws {
        let kernel = try ManagementKernel()
        kernel.adapter.isServing = true
        let offer = PairableOptions(.displayYesNo, required: .encrypted, limit: .seconds(300))
        let window = kernel.adapter.makePairableMode(offer)
        window.open()
        try kernel.run { kernel.count(.setBondable) == 1 }
        connect(kernel)
        window.close()
        try kernel.run { kernel.count(.setBondable) == 2 }
        let before = kernel.commands.count
        ask(kernel)
        try kernel.run { kernel.commands.count == before + 3 }
        kernel.adapter.isServing = false
        kernel.tell(0x0C, Self.central + [3])
        connect(kernel)
        ask(kernel)
        kernel.tell(0x0B, [1] + Self.central.dropFirst() + [0, 0, 0, 0, 0, 0])
        try kernel.run { kernel.adapter.isConnected }
        kernel.answer()
        #expect(kernel.commands.count == before + 3)
    }

    @Test("Keys that the kernel refuses are said of a link with their device, until it has taken them")
    func refusedKeys() throws {
        let kernel = try ManagementKernel()
        let value = (1...16).map { UInt8($0) }
        let key = LongTermKey(value, isAuthenticated: false, isSecureConnections: true, role: .central)
        let made = Bond(
            identityAddress: Self.device,
            localAddress: kernel.adapter.address,
            longTermKeys: [key].compactMap(\.self)
        )
        let bond = try #require(made)
        for opcode in [ManagementOpcode.loadLongTermKeys, .loadIdentityResolvingKeys] {
            kernel.refusals = [opcode: .invalidParameters]
            kernel.adapter.use([bond])
            try kernel.run { kernel.adapter.keyFailure(of: Self.device) != nil }
            let refusal = LinkFailure.refused("\(opcode)", "\(ManagementStatus.invalidParameters)")
            #expect(kernel.adapter.keyFailure(of: Self.device) == refusal)
            let other = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F6), .random)
            #expect(kernel.adapter.keyFailure(of: other) == nil)
            kernel.refusals = [:]
            kernel.adapter.use([bond])
            try kernel.run { kernel.adapter.keyFailure(of: Self.device) == nil }
        }
    }
}
