// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport
import Testing

/// Pairing that must succeed.
struct PairingCase: Sendable, CustomTestStringConvertible {
    var central: PairingFeatures.IOCapability
    var peripheral: PairingFeatures.IOCapability
    var isSecure = true
    var model: AssociationModel
    var isSlow = false

    var testDescription: String {
        "\(central), \(peripheral), \(isSecure ? "secure" : "legacy"), \(isSlow ? "slow user" : "fast user")"
    }

    static let all: [PairingCase] = [true, false].flatMap { isSlow in
        [
            PairingCase(central: .noInputNoOutput, peripheral: .noInputNoOutput, model: .justWorks),
            PairingCase(central: .keyboardDisplay, peripheral: .noInputNoOutput, model: .justWorks),
            PairingCase(central: .displayYesNo, peripheral: .displayYesNo, model: .numericComparison),
            PairingCase(central: .keyboardDisplay, peripheral: .keyboardDisplay, model: .numericComparison),
            PairingCase(central: .displayOnly, peripheral: .keyboardOnly, model: .passkeyFromInitiator),
            PairingCase(central: .keyboardOnly, peripheral: .displayOnly, model: .passkeyFromResponder),
            PairingCase(central: .keyboardOnly, peripheral: .keyboardOnly, model: .passkeyEntered),
            PairingCase(central: .noInputNoOutput, peripheral: .displayOnly, isSecure: false, model: .justWorks),
            PairingCase(
                central: .keyboardDisplay,
                peripheral: .keyboardDisplay,
                isSecure: false,
                model: .passkeyFromInitiator
            ),
            PairingCase(
                central: .keyboardOnly,
                peripheral: .displayYesNo,
                isSecure: false,
                model: .passkeyFromResponder
            ),
            PairingCase(central: .keyboardOnly, peripheral: .keyboardOnly, isSecure: false, model: .passkeyEntered),
        ]
        .map { entry in
            var entry = entry
            entry.isSlow = isSlow
            return entry
        }
    }

    /// Creates both sides before the pairing.
    func start(seed: UInt64 = 1) -> PairingInMemory {
        var pairing = PairingInMemory(
            PairingInMemory.policy(0, central, isLegacy: !isSecure),
            PairingInMemory.policy(1, peripheral, isLegacy: !isSecure),
            seed: seed
        )
        pairing.isSlow = isSlow
        return pairing
    }
}

@Suite(.timeLimit(.minutes(10))) struct PairingTests {
    @Test("Each association model pairs and encrypts, and both sides keep the same keys", arguments: PairingCase.all)
    func pairs(_ entry: PairingCase) throws {
        var pairing = entry.start()
        try pairing.pair()
        let outcomes = pairing.outcomes
        #expect(outcomes.map(\.failures) == [[], []])
        #expect(outcomes.allSatisfy { $0.isEncrypted })
        let bonds = try outcomes.map { try #require($0.bonds.first ?? nil) }
        for side in 0...1 {
            #expect(outcomes[side].bonds.count == 1)
            #expect(pairing.sides[side].bond == bonds[side])
            #expect(bonds[side].identityAddress == PairingInMemory.address[1 - side])
            #expect(bonds[side].localAddress == PairingInMemory.address[side].address)
            let resolvingKey = try #require(bonds[side].identityResolvingKey)
            #expect(resolvingKey == [7, 0, 0, 0, 0, 0, 0, 0, UInt8(0xA1 - side), 0, 0, 0, 0, 0, 0, 0])
            #expect(bonds[side].longTermKeys.allSatisfy { $0.size == 16 })
            #expect(bonds[side].longTermKeys.allSatisfy { $0.usedNumber == (entry.model != .justWorks) })
            #expect(bonds[side].longTermKeys.allSatisfy { $0.isAuthenticated == ($0.usedNumber && entry.isSecure) })
            #expect(bonds[side].longTermKeys.allSatisfy { $0.isSecureConnections == entry.isSecure })
        }
        // The central's key for itself is the peripheral's key for its peer.
        for (central, peripheral) in [(0, 1), (1, 0)] {
            let one = try #require(bonds[central].key(for: .central))
            let other = try #require(bonds[peripheral].key(for: .peripheral))
            #expect(one.value == other.value)
            #expect(one.encryptedDiversifier == other.encryptedDiversifier)
            #expect(one.random == other.random)
        }
    }

    @Test("Questions to the user follow the association model", arguments: PairingCase.all)
    func asks(_ entry: PairingCase) throws {
        var pairing = entry.start()
        try pairing.pair()
        let shown = pairing.outcomes.map(\.shown.count)
        let compared = pairing.outcomes.map(\.compared)
        #expect(shown == [entry.model == .passkeyFromInitiator ? 1 : 0, entry.model == .passkeyFromResponder ? 1 : 0])
        #expect(compared.map(\.count) == (entry.model == .numericComparison ? [1, 1] : [0, 0]))
        #expect(compared[0] == compared[1])
        #expect((pairing.outcomes.flatMap(\.shown) + compared[0]).allSatisfy { $0 < 1_000_000 })
    }

    @Test("No two pairings have a key, a passkey or a frame of random numbers in common")
    func isRandom() throws {
        var keys: Set<[UInt8]> = []
        var frames: Set<[UInt8]> = []
        var passkeys: Set<UInt32> = []
        let entry = PairingCase(central: .displayOnly, peripheral: .keyboardOnly, model: .passkeyFromInitiator)
        for seed in 0..<10 as Range<UInt64> {
            var pairing = entry.start(seed: seed)
            try pairing.pair()
            keys.formUnion(pairing.sides.compactMap { $0.bond?.longTermKeys.first?.value })
            passkeys.formUnion(pairing.outcomes[0].shown)
            // Confirm values, nonces, public keys and check values, including the twenty rounds of a passkey.
            let random = pairing.outcomes.flatMap(\.sent).filter { [0x03, 0x04, 0x0C, 0x0D].contains($0[0]) }
            #expect(random.count == 84)
            #expect(frames.isDisjoint(with: random))
            #expect(Set(random).count == random.count)
            frames.formUnion(random)
        }
        #expect(keys.count == 10)
        #expect(passkeys.count == 10)
    }

    @Test("A bond encrypts the next connection without pairing, in either role, and is not replaced")
    func reconnects() throws {
        for entry in PairingCase.all where !entry.isSlow {
            var first = entry.start()
            try first.pair()
            let bonds = first.sides.map(\.bond)
            for bonds in [bonds, [bonds[1], bonds[0]]] {
                var next = PairingInMemory(PairingInMemory.policy(0), PairingInMemory.policy(1), bonds: bonds)
                let began = next.sides[0].encrypt()
                #expect(began)
                next.run()
                #expect(next.outcomes.allSatisfy { $0.isEncrypted })
                #expect(next.outcomes.allSatisfy { $0.sent.isEmpty && $0.bonds.isEmpty })
                #expect(throws: SecurityManager.Refusal.bonded) { try next.sides[0].pair(now: .zero) }
                next.deliver([0x01, 3, 0, 0x0D, 16, 2, 2], to: 1)
                #expect(next.outcomes[1].sent == [[0x05, 0x05]])
                #expect(next.sides.map(\.bond) == bonds)
            }
        }
    }

    @Test("Without a bond nothing is encrypted, and no key is given out, whatever names it")
    func noKeys() throws {
        var fresh = PairingInMemory(PairingInMemory.policy(0), PairingInMemory.policy(1))
        let began = fresh.sides[0].encrypt()
        #expect(!began)
        #expect(fresh.sides[1].longTermKey(diversifier: 0, random: 0) == nil)
        var first = PairingCase(central: .noInputNoOutput, peripheral: .noInputNoOutput, model: .justWorks).start()
        try first.pair()
        #expect(first.sides[1].longTermKey(diversifier: 0, random: 0) != nil)
        #expect(first.sides[1].longTermKey(diversifier: 1, random: 0) == nil)
        #expect(first.sides[1].longTermKey(diversifier: 0, random: 1) == nil)
        #expect(first.sides[0].longTermKey(diversifier: 0, random: 0) == nil)
    }

    @Test("A private address without an identity leaves an encrypted link, and no bond")
    func noIdentity() throws {
        let address = DeviceAddress(BluetoothAddress(rawValue: 0x4000_0000_0001), .random)
        var anonymous = PairingInMemory.policy(0)
        anonymous.identityResolvingKey = nil
        var pairing = PairingInMemory(anonymous, PairingInMemory.policy(1), peer: address)
        try pairing.pair()
        #expect(pairing.outcomes.allSatisfy { $0.isEncrypted })
        #expect(pairing.outcomes[1].bonds == [nil])
        #expect(pairing.sides[0].bond != nil)
    }

    @Test("A peripheral asks with a Security Request; the central is told, and does nothing by itself")
    func securityRequest() throws {
        var pairing = PairingInMemory(PairingInMemory.policy(0), PairingInMemory.policy(1, .keyboardDisplay))
        try pairing.sides[1].pair(now: .zero)
        pairing.run()
        #expect(pairing.outcomes[1].sent == [[0x0B, 0x0D]])
        #expect(pairing.outcomes[0].requests == [[.bonding, .mitmProtection, .secureConnections]])
        #expect(pairing.outcomes[0].sent.isEmpty)
        #expect(!pairing.sides[0].isPairing)
    }

    @Test("Keypresses and signing keys are taken and forgotten, up to 64 of them in one pairing")
    func tolerated() throws {
        let entry = PairingCase(central: .displayOnly, peripheral: .keyboardOnly, model: .passkeyFromInitiator)
        for count in [64, 65] {
            var pairing = entry.start()
            pairing.change = { side, frame in side == 1 && [0x08, 0x09].contains(frame[0]) ? nil : frame }
            try pairing.pair()
            // The central is waiting for the identity.
            #expect(pairing.sides[0].isPairing)
            for _ in 1..<count { pairing.deliver([0x0E, 1], to: 0) }
            #expect(pairing.sides[0].isPairing)
            pairing.deliver([0x0A] + [UInt8](repeating: 1, count: 16), to: 0)
            #expect(pairing.sides[0].isPairing == (count == 64))
        }
    }
}
