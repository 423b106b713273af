// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import TestSupport
import Testing
import VirtualRadio

@testable import BluetoothHost

/// Pairing and encryption by the host stack, with two controllers on one simulated radio.
@Suite(.timeLimit(.minutes(10))) struct HostSecurityTests {
    @Test(
        "Two hosts pair in each association model; both links are as secure as it allows, and so is the next one",
        arguments: PairingCase.all.filter { !$0.isSlow }
    )
    func pairing(_ entry: PairingCase) throws {
        let hosts = try SecuredHosts()
        hosts.use(entry)
        try hosts.connect()
        try hosts.pair()
        let isAuthenticated = entry.model.hasNumber && entry.isSecure
        let level: GATTLinkSecurity.Level = isAuthenticated ? .authenticated : .encrypted
        let bonds = try [#require(hosts.bond(0)), #require(hosts.bond(1))]
        for index in 0...1 {
            #expect(hosts.security(index) == GATTLinkSecurity(level: level, isBonded: true))
            #expect(bonds[index].identityAddress == hosts.radio.hosts[1 - index].ownAddress)
            #expect(bonds[index].longTermKeys.allSatisfy { $0.isAuthenticated == isAuthenticated })
        }
        hosts.disconnect()
        #expect(hosts.security(1) == GATTLinkSecurity())
        // Neither side pairs again, because the existing keys suffice.
        for index in 0...1 {
            hosts.radio.hosts[index].bonds = [bonds[index]]
            hosts.radio.hosts[index].pairingPolicy = PairingInMemory.policy(1 - index)
        }
        try hosts.connect()
        #expect(hosts.security(1).level == .none)
        #expect(hosts.encrypt())
        for index in 0...1 {
            #expect(hosts.news(index) == [.changed(GATTLinkSecurity(level: level, isBonded: true))])
        }
    }

    @Test("A wrong passkey or a rejected number leaves no bond and no encryption")
    func mistakes() throws {
        for entry in PairingCase.all
        where !entry.isSlow && entry.model.hasNumber && entry.model != .passkeyEntered {
            let hosts = try SecuredHosts()
            hosts.use(entry)
            hosts.mistake = 1
            try hosts.connect()
            try hosts.pair()
            for index in 0...1 {
                #expect(hosts.bond(index) == nil)
                #expect(hosts.security(index).level == .none)
                #expect(hosts.news(index).contains { if case .pairingFailed = $0 { true } else { false } })
            }
            // The next failure of the device, on another connection, doubles the waiting time.
            let device = try #require(hosts.radio.hosts[0].ownAddress)
            #expect(hosts.radio.hosts[1].parts.securities.backoffs[device].wait == .seconds(1))
            hosts.disconnect()
            try hosts.connect()
            try hosts.pair()
            #expect(hosts.radio.hosts[1].parts.securities.backoffs[device].wait == .seconds(2))
        }
    }

    @Test("A device without the key, and one with another key, is never called secure")
    func strangers() throws {
        let hosts = try SecuredHosts()
        let bonds = try hosts.bonded()
        hosts.disconnect()
        hosts.radio.hosts[0].bonds = []
        try hosts.connect()
        #expect(hosts.encrypt())
        #expect(hosts.news(1) == [.changed(GATTLinkSecurity(isBonded: true))])
        #expect(hosts.news(0) == [])
        hosts.disconnect()
        let key = try #require(
            LongTermKey(
                [UInt8](repeating: 7, count: 16),
                isAuthenticated: true,
                isSecureConnections: true,
                role: .peripheral
            )
        )
        let other = try #require(
            Bond(identityAddress: bonds[0].identityAddress, localAddress: bonds[0].localAddress, longTermKeys: [key])
        )
        hosts.radio.hosts[0].bonds = [other]
        try hosts.connect()
        #expect(hosts.encrypt())
        #expect(hosts.news(1) == [] && hosts.radio.hosts[1].connections.isEmpty)
    }

    @Test("A peripheral's wish for security is granted with the bond's key, and refused without one")
    func requested() throws {
        let hosts = try SecuredHosts()
        let bonds = try hosts.bonded()
        hosts.disconnect()
        for isBonded in [true, false] {
            hosts.radio.hosts[0].bonds = isBonded ? [bonds[0]] : []
            hosts.radio.hosts[1].bonds = isBonded ? [bonds[1]] : []
            try hosts.connect()
            let wish = SecurityManagerPDU.securityRequest([.bonding]).encoded
            let connection = try #require(hosts.radio.hosts[0].connections.first)
            hosts.radio.hosts[0].parts.core.answer(.securityManager, wish, on: connection.handle)
            hosts.settle()
            #expect(hosts.security(1).level == (isBonded ? .encrypted : .none))
            #expect(hosts.news(0).count == (isBonded ? 1 : 0))
            hosts.disconnect()
        }
    }

    @Test("A bond is never replaced: not by a new pairing, nor by a device that claims its identity")
    func neverReplaced() throws {
        let hosts = try SecuredHosts()
        let bonds = try hosts.bonded()
        #expect(throws: SecurityManager.Refusal.bonded) { try hosts.pair() }
        hosts.disconnect()
        // The same device returns without its bond.
        hosts.radio.hosts[0].bonds = []
        try hosts.connect()
        #expect(throws: SecurityManager.Refusal.bonded) { try hosts.pair() }
        #expect(hosts.radio.hosts[1].bonds == [bonds[1]])
    }

    @Test("Who pairs under the identity of a bonded device leaves no bond, and the other's stays")
    func claimedIdentity() throws {
        let hosts = try SecuredHosts()
        hosts.use(PairingCase(central: .noInputNoOutput, peripheral: .noInputNoOutput, model: .justWorks))
        try hosts.connect()
        let key = LongTermKey([UInt8](1...16), isAuthenticated: true, isSecureConnections: true, role: .central)
        let peer = try #require(hosts.radio.hosts[0].ownAddress)
        let own = try #require(hosts.radio.hosts[1].ownAddress)
        let made = Bond(identityAddress: peer, localAddress: own.address, longTermKeys: [key].compactMap { $0 })
        let bonded = try #require(made)
        hosts.radio.hosts[1].bonds = [bonded]
        try hosts.pair()
        #expect(hosts.news(1).contains(.paired(nil)))
        #expect(hosts.radio.hosts[1].bonds == [bonded] && !hosts.security(1).isBonded)
    }

    @Test("An encryption that ends, fails or comes without a key of ours leaves a link that is not secure")
    func encryptionChanges() throws {
        let hosts = try SecuredHosts()
        _ = try hosts.bonded()
        #expect(hosts.security(1).level == .encrypted)
        let handle = hosts.handles[1]
        let low = UInt8(truncatingIfNeeded: handle)
        let high = UInt8(truncatingIfNeeded: handle >> 8)
        for event in [[4, 0x08, 4, 0, low, high, 0], [4, 0x08, 4, 0, low, high, 1], [4, 0x30, 3, 0x1F, low, high]]
            as [[UInt8]]
        {
            hosts.radio.hosts[1].receive(event.span, now: hosts.radio.now)
            #expect(hosts.security(1) == GATTLinkSecurity(isBonded: true))
        }
        // Nothing is stored for a connection that does not exist.
        hosts.radio.hosts[1].receive(([4, 0x08, 4, 0, 0xEF, 0x0E, 1] as [UInt8]).span, now: hosts.radio.now)
        #expect(hosts.radio.hosts[1].parts.securities.count == 1)
    }

    @Test("A pairing that a device leaves unfinished ends after 30 seconds; its wait outlives the connection")
    func unfinished() throws {
        var controller = ModelController()
        controller.lowEnergyFeatures = [3, 0]
        controller.pump()
        controller.host.connect(to: LowEnergyHostTests.peer, timeout: .seconds(10), now: .zero)
        controller.pump()
        controller.connect(0x40, role: .central, peer: LowEnergyHostTests.peer)
        try controller.host.pair(0x40, now: .zero)
        controller.pump()
        #expect(controller.host.deadline == .seconds(10) || controller.host.deadline == .seconds(30))
        controller.complete(0x40, 1)
        controller.advance(to: .seconds(31))
        #expect(controller.events.contains(.security(handle: 0x40, .pairingFailed(.timedOut))))
        controller.disconnect(0x40)
        #expect(controller.host.parts.securities.count == 0)
        #expect(controller.host.parts.securities.backoffs.count == 1)
        #expect(controller.host.parts.securities.backoffs[LowEnergyHostTests.peer].isWaiting(at: .milliseconds(30_500)))
        // Losing the link during a pairing is a failure as well.
        controller.host.connect(to: LowEnergyHostTests.other, timeout: .seconds(10), now: controller.now)
        controller.pump()
        controller.connect(0x41, role: .central, peer: LowEnergyHostTests.other)
        try controller.host.pair(0x41, now: controller.now)
        controller.pump()
        controller.disconnect(0x41)
        #expect(controller.host.parts.securities.backoffs.count == 2)
    }

    @Test("The waits of 10,000 addresses take the room of 64, and those that end last are kept")
    func waits() {
        var backoffs = PairingBackoffs()
        for number in 1...10_000 as ClosedRange<UInt64> {
            var backoff = PairingBackoff()
            backoff.fail(at: .seconds(Int(number)))
            backoffs.keep(backoff, of: DeviceAddress(BluetoothAddress(rawValue: number), .random))
        }
        #expect(backoffs.count == PairingBackoffs.capacity)
        #expect(backoffs[DeviceAddress(BluetoothAddress(rawValue: 10_000), .random)].isWaiting(at: .seconds(10_000)))
        backoffs.keep(PairingBackoff(), of: DeviceAddress(BluetoothAddress(rawValue: 10_000), .random))
        #expect(backoffs.count == PairingBackoffs.capacity - 1)
    }

    @Test("A bond is known again behind a private address that its key resolves")
    func privateAddress() throws {
        let key = UInt128(0x1234_5678_9ABC) << 64 | 0x42
        let random: UInt32 = 0x70_81_94
        let hash = try SecurityToolbox.ah(key, random)
        let device = DeviceAddress(BluetoothAddress(rawValue: UInt64(random) << 24 | UInt64(hash)), .random)
        var controller = ModelController()
        controller.lowEnergyFeatures = [3, 0]
        controller.pump()
        let own = try #require(controller.host.ownAddress)
        let longTermKey = try #require(
            LongTermKey([UInt8](1...16), isAuthenticated: true, isSecureConnections: true, role: .central)
        )
        for (known, isFound) in [(key, true), (key ^ 1, false)] {
            controller.host.bonds = [
                try #require(
                    Bond(
                        identityAddress: LowEnergyHostTests.peer,
                        localAddress: own.address,
                        longTermKeys: [longTermKey],
                        identityResolvingKey: known.littleEndianBytes
                    )
                )
            ]
            controller.host.connect(to: device, timeout: .seconds(10), now: .zero)
            controller.pump()
            controller.connect(0x40, role: .central, peer: device)
            #expect(controller.host.security(of: 0x40).isBonded == isFound)
            let isBegun = controller.host.encrypt(0x40)
            #expect(isBegun == isFound)
            controller.disconnect(0x40)
        }
    }

    @Test("With a controller that does not encrypt nothing is paired")
    func noEncryption() {
        var controller = LowEnergyHostTests.connected()
        #expect(throws: SecurityManager.Refusal.ended) { try controller.host.pair(0x40, now: .zero) }
        let isBegun = controller.host.encrypt(0x40)
        #expect(!isBegun)
        controller.pump()
        #expect(controller.commands.isEmpty && controller.data.isEmpty)
    }
}
