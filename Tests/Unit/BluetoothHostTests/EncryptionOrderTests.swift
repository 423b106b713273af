// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

@testable import BluetoothHost

/// Controllers that report encryption before they have accepted the key.
@Suite struct EncryptionOrderTests {
    /// Returns a connection with a bond, whose controller has not answered the encryption command.
    private func begun(_ role: ConnectionRole, isSent: Bool = true) throws -> ModelController {
        var controller = ModelController()
        controller.lowEnergyFeatures = [3, 0]
        controller.unanswered = [.leEnableEncryption, .leLongTermKeyRequestReply]
        controller.pump()
        let own = try #require(controller.host.ownAddress)
        let key = try #require(
            LongTermKey([UInt8](1...16), isAuthenticated: true, isSecureConnections: true, role: .central)
        )
        let bond = Bond(
            identityAddress: LowEnergyHostTests.peer,
            localAddress: own.address,
            longTermKeys: [key]
        )
        controller.host.bonds = [try #require(bond)]
        if role == .central {
            controller.host.connect(to: LowEnergyHostTests.peer, timeout: .seconds(10), now: .zero)
            controller.pump()
        }
        controller.connect(0x40, role: role, peer: LowEnergyHostTests.peer)
        controller.commands = []
        switch role {
        case .central:
            let isBegun = controller.host.encrypt(0x40)
            #expect(isBegun)
        case .peripheral:
            let request: [UInt8] = [4, 0x3E, 13, 0x05, 0x40, 0] + [UInt8](repeating: 0, count: 10)
            controller.host.receive(request.span, now: .zero)
        }
        if isSent { controller.pump() }
        #expect(controller.host.isEncrypting(0x40))
        return controller
    }

    private func change(_ controller: inout ModelController) {
        controller.host.receive(([4, 0x08, 4, 0, 0x40, 0, 1] as [UInt8]).span, now: controller.now)
    }

    private func answer(_ controller: inout ModelController, _ role: ConnectionRole, status: UInt8) {
        let opcode: UInt8 = role == .central ? 0x19 : 0x1A
        let event: [UInt8] =
            role == .central
            ? [4, 0x0F, 4, status, 1, opcode, 0x20] : [4, 0x0E, 6, 1, opcode, 0x20, status, 0x40, 0]
        controller.send(event)
    }

    @Test(
        "T4: a link is not secure before the controller has taken its key, and is then",
        arguments: [ConnectionRole.central, .peripheral]
    )
    func early(_ role: ConnectionRole) throws {
        for status in [0, 0x0C] as [UInt8] {
            var controller = try begun(role)
            change(&controller)
            controller.pump()
            #expect(controller.host.security(of: 0x40).level == .none)
            #expect(!controller.events.contains { if case .security = $0 { true } else { false } })
            answer(&controller, role, status: status)
            #expect(controller.host.security(of: 0x40).level == (status == 0 ? .authenticated : .none))
            #expect(!controller.host.isEncrypting(0x40))
        }
    }

    @Test("T4: an encryption that is told before the key was sent is of no key of ours; the one behind it counts")
    func unsent() throws {
        var controller = try begun(.central, isSent: false)
        change(&controller)
        #expect(controller.host.security(of: 0x40).level == .none)
        controller.unanswered = []
        controller.pump()
        #expect(controller.host.security(of: 0x40).level == .none)
        change(&controller)
        #expect(controller.host.security(of: 0x40).level == .authenticated)
    }

    @Test("After the controller's answer the event counts, whether it says on or off")
    func usual() throws {
        for isOn in [true, false] {
            var controller = try begun(.central)
            answer(&controller, .central, status: 0)
            #expect(controller.host.isEncrypting(0x40))
            controller.send([4, 0x08, 4, isOn ? 0 : 0x06, 0x40, 0, isOn ? 1 : 0])
            #expect(controller.host.security(of: 0x40).level == (isOn ? .authenticated : .none))
        }
    }
}
