// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

@testable import BluetoothHost

/// Identities that a peer claims during pairing.
@Suite(.timeLimit(.minutes(10))) struct IdentityClaimTests {
    private static let justWorks = PairingCase(
        central: .noInputNoOutput,
        peripheral: .noInputNoOutput,
        model: .justWorks
    )
    /// Addresses that cannot be identities.
    private static let impossible = [
        DeviceAddress(BluetoothAddress(rawValue: 0xFFFF_FFFF_FFFF), .public),
        DeviceAddress(BluetoothAddress(rawValue: 0xFFFF_FFFF_FFFF), .random),
        DeviceAddress(BluetoothAddress(rawValue: 0xC000_0000_0000), .random),
        DeviceAddress(BluetoothAddress(rawValue: 0), .public),
    ]

    /// Returns a pairing in which a side claims an identity.
    private func pairing(_ side: Int, claims identity: DeviceAddress, at peer: DeviceAddress) throws -> PairingInMemory
    {
        var pairing = PairingInMemory(PairingInMemory.policy(0), PairingInMemory.policy(1), peer: peer)
        pairing.change = { from, frame in
            guard from == side, frame[0] == 0x09 else { return frame }
            return SecurityManagerPDU.identityAddressInformation(identity).encoded
        }
        try pairing.pair()
        return pairing
    }

    @Test(
        "T1, T7: at a public or static address the identity in use is bonded with, whichever is claimed",
        arguments: [0, 1]
    )
    func inUse(_ side: Int) throws {
        let own = PairingInMemory.address[side]
        let others = [
            DeviceAddress(BluetoothAddress(rawValue: 0x0A0B_0C0D_0E0F), .public),
            DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random),
            // The same address with the other address type.
            DeviceAddress(own.address, side == 0 ? .random : .public),
        ]
        for claimed in others where claimed.kind != .nonResolvablePrivate {
            let pairing = try pairing(side, claims: claimed, at: PairingInMemory.address[0])
            let bond = try #require(pairing.sides[1 - side].bond)
            #expect(bond.identityAddress == own, "\(claimed)")
            #expect(bond.identityResolvingKey == nil, "\(claimed)")
        }
        let honest = try pairing(side, claims: own, at: PairingInMemory.address[0])
        #expect(honest.sides[1 - side].bond?.identityResolvingKey != nil)
    }

    @Test("T7: at a private address an identity is claimed, but not ours, and none that no device has")
    func hidden() throws {
        let hidden = DeviceAddress(BluetoothAddress(rawValue: 0x4000_0000_0001), .random)
        for identity in Self.impossible + [PairingInMemory.address[1]] {
            let pairing = try pairing(0, claims: identity, at: hidden)
            #expect(pairing.outcomes[1].failures == [.refused(.invalidParameters)], "\(identity)")
            #expect(pairing.sides[1].bond == nil, "\(identity)")
        }
        let claimed = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
        let honest = try pairing(0, claims: claimed, at: hidden)
        #expect(honest.sides[1].bond?.identityAddress == claimed)
    }

    @Test("T7: no bond has an identity that no device has, or the adapter's own")
    func bonds() throws {
        let value = (1...16).map { UInt8($0) }
        let key = try #require(LongTermKey(value, isAuthenticated: false, isSecureConnections: true, role: .central))
        let local = BluetoothAddress(rawValue: 0x0001_0203_0405)
        for identity in Self.impossible + [DeviceAddress(local, .public)] {
            let bond = Bond(identityAddress: identity, localAddress: local, longTermKeys: [key])
            #expect(bond == nil, "\(identity)")
        }
        let other = DeviceAddress(BluetoothAddress(rawValue: 0xC000_0000_0001), .random)
        #expect(Bond(identityAddress: other, localAddress: local, longTermKeys: [key]) != nil)
    }
}
