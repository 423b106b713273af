// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

@Suite(.timeLimit(.minutes(10))) struct BondTests {
    private static let value = (1...16).map { UInt8($0) }
    private static let peer = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
    private static let adapter = BluetoothAddress(rawValue: 0x0001_0203_0405)

    private func key(
        _ value: [UInt8] = value,
        diversifier: UInt16 = 0,
        random: UInt64 = 0,
        size: UInt8 = 16,
        authenticated: Bool = false,
        secure: Bool = true,
        role: LongTermKey.Role = .central
    ) -> LongTermKey? {
        LongTermKey(
            value,
            encryptedDiversifier: diversifier,
            random: random,
            size: size,
            isAuthenticated: authenticated,
            isSecureConnections: secure,
            role: role
        )
    }

    @Test("T5, T6: a key that no pairing makes is none: zeros, another length, a size that is too short")
    func impossibleKeys() {
        #expect(key() != nil)
        #expect(key([UInt8](repeating: 0, count: 16)) == nil)
        for count in [0, 7, 15, 17] { #expect(key([UInt8](repeating: 1, count: count)) == nil) }
        for size in UInt8.min...UInt8.max {
            let rest = [UInt8](repeating: 0, count: max(0, 16 - Int(size)))
            let short = Array(Self.value.prefix(Int(size))) + rest
            #expect((key(short, size: size) != nil) == (7...16).contains(size))
        }
        // Bytes beyond the key size are not zero.
        #expect(key(size: 15) == nil)
        // Only legacy keys have EDIV and Rand.
        #expect(key(diversifier: 1) == nil)
        #expect(key(random: 1) == nil)
        #expect(key(diversifier: 1, random: 1, secure: false) != nil)
    }

    @Test("A bond has an identity, an adapter and a key for a role at most once")
    func impossibleBonds() throws {
        let one = try #require(key())
        let other = try #require(key(role: .peripheral))
        func bond(
            _ keys: [LongTermKey],
            _ resolving: [UInt8]? = nil,
            of identity: DeviceAddress = BondTests.peer,
            on local: BluetoothAddress = BondTests.adapter
        ) -> Bond? {
            Bond(identityAddress: identity, localAddress: local, longTermKeys: keys, identityResolvingKey: resolving)
        }
        #expect(bond([one]) != nil)
        #expect(bond([one, other], Self.value) != nil)
        #expect(bond([]) == nil)
        #expect(bond([one, one]) == nil)
        #expect(bond([one], [UInt8](repeating: 0, count: 16)) == nil)
        #expect(bond([one], [1]) == nil)
        #expect(bond([one], on: BluetoothAddress(rawValue: 0)) == nil)
        // A private address cannot be an identity.
        #expect(bond([one], of: DeviceAddress(BluetoothAddress(rawValue: 0x4000_0000_0001), .random)) == nil)
        #expect(bond([one], of: DeviceAddress(BluetoothAddress(rawValue: 0), .public)) == nil)
    }

    @Test(
        "A bond's security is that of the key for the central; only an authenticated one of Secure Connections says so"
    )
    func security() throws {
        func security(_ keys: LongTermKey?...) throws -> GATTLinkSecurity {
            let keys = keys.compactMap(\.self)
            let bond = Bond(identityAddress: Self.peer, localAddress: Self.adapter, longTermKeys: keys)
            return try #require(bond).security
        }
        #expect(try security(key()).level == .encrypted)
        #expect(try security(key(authenticated: true)).level == .authenticated)
        let legacy = key(secure: false)
        #expect(try security(legacy, key(authenticated: true, secure: false, role: .peripheral)).level == .encrypted)
        #expect(try security(key(secure: false, role: .peripheral)).level == .none)
        // The entered passkey of a legacy pairing does not authenticate, but the record and the kernel store that it
        // was entered.
        let entered = try #require(key(authenticated: true, secure: false))
        #expect(try security(entered).level == .encrypted && entered.level == .encrypted && entered.usedNumber)
        let bond = try #require(Bond(identityAddress: Self.peer, localAddress: Self.adapter, longTermKeys: [entered]))
        #expect(bond.isLegacy && bond.managementKeys.map(\.kind) == [.authenticated])
        #expect(Bond(record: bond.record) == bond && bond.record.contains("key=central,legacy,authenticated,16,"))
        #expect(try security(key(role: .peripheral)).level == .encrypted)
        let short = Array(Self.value.prefix(7)) + [UInt8](repeating: 0, count: 9)
        #expect(try security(key(short, size: 7)).keySize == 7)
    }

    @Test("The description of a bond contains no byte of a key")
    func secrecy() throws {
        let secret = [UInt8](repeating: 0xA5, count: 16)
        let made = Bond(
            identityAddress: Self.peer,
            localAddress: Self.adapter,
            longTermKeys: [key(secret)].compactMap(\.self),
            identityResolvingKey: secret
        )
        let bond = try #require(made)
        for text in ["\(bond)", String(reflecting: bond), "\(bond.longTermKeys)"] {
            #expect(!text.uppercased().contains("A5") && !text.contains("165"))
        }
    }
}
