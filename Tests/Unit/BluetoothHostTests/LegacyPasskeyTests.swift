// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Cryptography
import TestSupport
import Testing

@testable import BluetoothHost

/// LE legacy pairing with a peer that computes the passkey.
@Suite(.timeLimit(.minutes(10))) struct LegacyPasskeyTests {
    /// Creates a central that displays a passkey, and a device that is not told it.
    private func hosts(requiresAuthentication: Bool = false) throws -> (SecuredHosts, ComputingDevice) {
        let hosts = try SecuredHosts(seed: ComputingDevice.seed)
        var policy = PairingInMemory.policy(0, .displayOnly, requiresAuthentication: requiresAuthentication)
        policy.allowsLegacy = true
        policy.identityResolvingKey = nil
        hosts.radio.hosts[1].pairingPolicy = policy
        return (hosts, ComputingDevice(hosts))
    }

    @Test("T3, T4: a device that computes the passkey it was not told is never called authenticated, now or later")
    func computed() throws {
        let (hosts, device) = try hosts()
        try hosts.connect()
        try hosts.pair()
        guard case .showPasskey(let passkey)? = hosts.news(1).first else {
            Issue.record("\(hosts.news(1))")
            return
        }
        #expect(device.passkey == passkey)
        let bond = try #require(hosts.bond(1))
        #expect(bond.isLegacy && bond.security.level == .encrypted)
        #expect(hosts.security(1).level == .encrypted)
        hosts.disconnect()
        hosts.radio.hosts[1].bonds = [bond]
        try hosts.connect()
        #expect(hosts.encrypt())
        #expect(hosts.security(1) == GATTLinkSecurity(level: .encrypted, isBonded: true))
    }

    @Test("T3, T4: where authentication is required, such a device is refused before it gets a value to compute from")
    func refused() throws {
        let (hosts, device) = try hosts(requiresAuthentication: true)
        try hosts.connect()
        try hosts.pair()
        #expect(hosts.news(1) == [.pairingFailed(.legacy)])
        #expect(hosts.bond(1) == nil && hosts.security(1).level == .none)
        #expect(device.passkey == nil)
        #expect(device.received.last == .pairingFailed(.authenticationRequirements) && device.received.count == 2)
    }

    @Test("A number of legacy pairing is refused where authentication is required", arguments: [0, 1])
    func legacyNumber(_ strict: Int) throws {
        for peer in [PairingFeatures.IOCapability.displayOnly, .keyboardOnly] {
            var policies = (0...1).map {
                PairingInMemory.policy($0, $0 == strict ? .keyboardDisplay : peer, requiresAuthentication: $0 == strict)
            }
            for index in 0...1 { policies[index].allowsLegacy = true }
            policies[1 - strict].knowsSecureConnections = false
            var pairing = PairingInMemory(policies[0], policies[1])
            try pairing.pair()
            #expect(pairing.outcomes[strict].failures == [.legacy])
            #expect(pairing.outcomes[1 - strict].failures == [.refusedByPeer(.authenticationRequirements)])
            #expect(pairing.outcomes.allSatisfy { $0.bonds.isEmpty && !$0.isEncrypted })
            // The user is not asked to compare or enter a number that would not authenticate anything.
            #expect(pairing.outcomes[strict].shown.isEmpty)
        }
    }

    @Test("The inverse cipher that such a device computes with is the cipher's")
    func inverse() throws {
        var random = SeededGenerator(seed: 0xAE5)
        for _ in 0..<100 {
            let (block, key) = (
                UInt128.random(in: 0...UInt128.max, using: &random), UInt128.random(in: 0...UInt128.max, using: &random)
            )
            #expect(InverseAES128.decrypt(try AES128.encrypt(block, key: key), key: key) == block)
        }
    }
}
