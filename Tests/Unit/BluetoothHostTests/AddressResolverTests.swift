// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

@testable import BluetoothHost

/// Resolution of private addresses.
@Suite(.timeLimit(.minutes(10))) struct AddressResolverTests {
    /// Key and address of the specification's sample data (Core 6.0, Vol 3, Part H, D.7).
    static let key: UInt128 = 0xEC02_34A3_57C8_AD05_3410_10A6_0A39_7D9B
    static let identity = LowEnergyHostTests.peer

    static func bond(_ identity: DeviceAddress = identity, key: UInt128?, local: UInt64 = 0x00AA_0100_0042) throws
        -> Bond
    {
        let longTermKey = try #require(
            LongTermKey([UInt8](1...16), isAuthenticated: true, isSecureConnections: true, role: .central)
        )
        return try #require(
            Bond(
                identityAddress: identity,
                localAddress: BluetoothAddress(rawValue: local),
                longTermKeys: [longTermKey],
                identityResolvingKey: key?.littleEndianBytes
            )
        )
    }

    /// Returns a private address that the key resolves.
    static func address(_ key: UInt128 = key, random: UInt32 = 0x70_8194) throws -> DeviceAddress {
        let random = random & 0x3F_FFFF | 0x40_0000
        let bits = try UInt64(random) << 24 | UInt64(SecurityToolbox.ah(key, random))
        return DeviceAddress(BluetoothAddress(rawValue: bits), .random)
    }

    @Test("An address is its owner's whose key resolves it; all others stay what they are")
    func identities() throws {
        let stranger = DeviceAddress(BluetoothAddress(rawValue: 0xC0FF_EE00_0001), .random)
        var resolver = try #require(
            AddressResolver([Self.bond(stranger, key: Self.key ^ 1), Self.bond(key: Self.key)])
        )
        for _ in 0..<2 {
            #expect(try resolver.identity(of: Self.address()) == Self.identity)
            #expect(try resolver.identity(of: Self.address(Self.key ^ 1)) == stranger)
            let unknown = try Self.address(Self.key ^ 2)
            #expect(resolver.identity(of: unknown) == unknown)
        }
        for other in [Self.identity, DeviceAddress(try Self.address().address, .public)] {
            #expect(resolver.identity(of: other) == other)
        }
        #expect(try AddressResolver([Self.bond(key: nil)]) == nil)
    }

    @Test("A device is known by the address that it has now, whichever it had before")
    func latest() throws {
        var resolver = try #require(AddressResolver([Self.bond(key: Self.key)]))
        #expect(resolver.address(of: Self.identity) == Self.identity)
        for random in [UInt32(1), 2, 1] {
            let address = try Self.address(random: random)
            #expect(resolver.identity(of: address) == Self.identity)
            #expect(resolver.address(of: Self.identity) == address)
        }
    }

    @Test("Among 10,000 strangers with private addresses each of a device's is still found")
    func crowd() throws {
        var resolver = try #require(AddressResolver([Self.bond(key: Self.key)]))
        for number in 0..<10_000 {
            let stranger = DeviceAddress(
                BluetoothAddress(rawValue: 0x4000_0000_0000 | UInt64(number) &* 0x9E37_79B9),
                .random
            )
            #expect(resolver.identity(of: stranger) == stranger)
            if number.isMultiple(of: 100) {
                let address = try Self.address(random: UInt32(number))
                #expect(resolver.identity(of: address) == Self.identity)
            }
        }
    }

    @Test("A scan for a paired device's address hears it behind a private one, and lists its identity")
    func table() throws {
        let filter = ScanFilter(identity: ScanFilter.Identity(Self.identity.address))
        let address = try Self.address()
        let bytes = (0..<6).map { UInt8(truncatingIfNeeded: address.address.rawValue >> UInt64(8 * $0)) }
        let packet: [UInt8] = [0x04, 0x3E, 0x0C, 0x02, 0x01, 0x00, 0x01] + bytes + [0x00, 0xCE]
        for (key, isHeard) in [(Self.key, true), (Self.key ^ 1, false)] {
            var table = DeviceTable(filter: filter)
            table.resolver = AddressResolver([try Self.bond(key: key)])
            var heard: [DeviceAddress] = []
            table.handle(packet.span, now: .zero) { heard.append($0.device.address) }
            #expect(heard == (isHeard ? [Self.identity] : []))
            #expect(table.resolver?.address(of: Self.identity) == (isHeard ? address : Self.identity))
        }
    }

    @Test("A paired device is connected to by the address that it has now, and is who it was")
    func connecting() throws {
        var controller = ModelController()
        controller.lowEnergyFeatures = [3, 0]
        controller.pump()
        let own = try #require(controller.host.ownAddress)
        controller.host.bonds = [try Self.bond(key: Self.key, local: own.address.rawValue)]
        for random in [UInt32(7), 8] {
            let began = controller.host.startScanning(ScanParameters(), devices: DeviceTable())
            #expect(began)
            controller.pump()
            let address = try Self.address(random: random)
            let bytes = (0..<6).map { UInt8(truncatingIfNeeded: address.address.rawValue >> UInt64(8 * $0)) }
            // LE Extended Advertising Report: connectable, from a random address.
            controller.sendEvent(
                0x3E,
                [0x0D, 1, 0x13, 0x00, 0x01] + bytes + [1, 0, 0xFF, 0x7F, 0xCE, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0]
            )
            #expect(controller.host.scannedDevices?[Self.identity] != nil)
            controller.host.stopScanning()
            controller.pump()
            controller.commands = []
            controller.host.connect(to: Self.identity, timeout: .seconds(10), now: controller.now)
            controller.pump()
            // Peer address in LE Extended Create Connection.
            #expect(controller.commands.contains { $0[1] == 0x43 && $0[2] == 0x20 && Array($0[6...12]) == [1] + bytes })
            controller.connect(0x40, role: .central, peer: address)
            #expect(controller.host.connections.map(\.peer) == [Self.identity])
            #expect(controller.host.security(of: 0x40).isBonded)
            controller.disconnect(0x40)
        }
    }
}
