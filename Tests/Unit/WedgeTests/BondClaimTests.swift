// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Glibc
import SystemPackage
import TestSupport
import Testing
import Texts

/// Bond that a device or a selection must prove, and changes of a stored selection when its device is paired.
@Suite("The claim of a bond", .timeLimit(.minutes(10)))
struct BondClaimTests {
    private static let adapter = BluetoothAddress(rawValue: 0x00AA_0100_0042)
    private static let address = BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5)
    private static let paired = DeviceAddress(address, .random)
    private static let open = DeviceAddress(BluetoothAddress(rawValue: 0xC0C1_C2C3_C4C5), .random)
    /// Sample data of the Core Specification, Vol 3, Part H, D.7, in little-endian order.
    private static let resolvingKey: [UInt8] = [
        0x9B, 0x7D, 0x39, 0x0A, 0xA6, 0x10, 0x10, 0x34, 0x05, 0xAD, 0xC8, 0x57, 0xA3, 0x34, 0x02, 0xEC,
    ]
    private static let privateAddress = DeviceAddress(BluetoothAddress(rawValue: 0x7081_940D_FBAA), .random)

    private func bond(
        _ device: DeviceAddress = paired,
        on adapter: BluetoothAddress = adapter,
        resolvingKey: [UInt8]? = nil
    ) throws -> Bond {
        let value = (1...16).map { UInt8($0) }
        let key = LongTermKey(value, isAuthenticated: false, isSecureConnections: true, role: .central)
        return try #require(
            Bond(
                identityAddress: device,
                localAddress: adapter,
                longTermKeys: [key].compactMap(\.self),
                identityResolvingKey: resolvingKey
            )
        )
    }

    private func store(_ directory: TestDirectory) -> BondStore {
        BondStore(FilePath(directory.path).appending("bonds"))
    }

    @Test("A bond is claimed by its identity, its address bits and its name; who has no key for it is not the device")
    func matching() throws {
        let directory = try TestDirectory()
        let store = store(directory)
        try store.add(try bond(), name: "LINBLE-TEST")
        let known = try store.read()
        let own = known.claim(of: Self.paired, on: Self.adapter)
        #expect(own == BondClaim(keys: .encrypted, demanded: .encrypted))
        let other = BondClaim(demanded: .encrypted, fault: .otherDevice(Self.paired))
        #expect(known.claim(of: DeviceAddress(Self.address, .public), on: Self.adapter) == other)
        let name = DeviceSelector.name("linble-test")
        #expect(known.claim(of: Self.open, for: name, on: Self.adapter) == other)
        #expect(known.claim(of: Self.open, for: .address(Self.address), on: Self.adapter) == other)
        let kept = DeviceSelector.kept(SelectedDevice(DeviceAddress(Self.address, .public), name: nil))
        #expect(known.claim(of: Self.open, for: kept, on: Self.adapter) == other)
        // A device selected by its own address is not mistaken for another one because of its name.
        #expect(known.claim(of: Self.open, for: .address(Self.open.address), on: Self.adapter) == BondClaim())
        #expect(known.claim(of: Self.open, for: .name("LINBLE"), on: Self.adapter) == BondClaim())
        let elsewhere = BluetoothAddress(rawValue: 0x00AA_0100_0043)
        let unusable = BondClaim(demanded: .encrypted, fault: .otherAdapter(Self.adapter))
        #expect(known.claim(of: Self.paired, on: elsewhere) == unusable && unusable.isUnusable)
        #expect(known.claim(of: Self.open, for: name, on: elsewhere) == unusable)
        #expect(known.claim(of: Self.paired, on: nil) == own)

        for choice in [name, .address(Self.address)] {
            let meant = SelectedDevice(Self.paired, name: "LINBLE-TEST", security: .encrypted)
            #expect(known.pairedChoice(choice) == meant && known.isPaired(choice))
        }
        #expect(known.pairedChoice(.name("OTHER")) == nil && !known.isPaired(.name("OTHER")))
        // If two paired devices have the same name, the name selects neither of them.
        try store.add(try bond(Self.open), name: "LINBLE-TEST")
        #expect(try store.read().pairedChoice(name) == nil)
        #expect(try store.read().isPaired(name))
        #expect(known.isUnpaired(.name("OTHER")) && !known.isUnpaired(name))
    }

    @Test("A name may be that of a paired device whose name is unknown, an address may not")
    func unnamed() throws {
        let directory = try TestDirectory()
        let store = store(directory)
        try store.add(try bond())
        let known = try store.read()
        #expect(!known.isUnpaired(.name("OTHER")))
        #expect(known.isUnpaired(.address(Self.open.address)) && !known.isUnpaired(.address(Self.address)))
    }

    @Test("A record with any letter changed or cut off is demanded of its device, and costs no other one its keys")
    func damaged() throws {
        let directory = try TestDirectory()
        let store = store(directory)
        let record = try bond().record
        let whole = try bond(Self.open).record
        for position in record.indices {
            var lines = ["0", "f", " ", "="].filter { String(record[position]) != $0 }.map { letter in
                var changed = record
                changed.replaceSubrange(position...position, with: letter)
                return changed
            }
            if position > record.startIndex { lines.append(String(record[..<position])) }
            for line in lines {
                try directory.write(line + "\n" + whole + "\n", to: "bonds")
                let known = try store.read()
                let claim = known.claim(of: Self.paired, on: Self.adapter)
                #expect(claim == BondClaim(demanded: .encrypted, fault: .damaged), "\(line)")
                #expect(known.isPaired(.address(Self.address)), "\(line)")
                #expect(known.claim(of: Self.open, on: Self.adapter).keys == .encrypted, "\(line)")
            }
        }
        // Without the bond record, its name remains.
        try directory.write(BondedName(Self.paired, "LINBLE-TEST").record + "\n", to: "bonds")
        for choice in [nil, DeviceSelector.name("LINBLE-TEST")] {
            let device = choice == nil ? Self.paired : Self.open
            #expect(try store.read().claim(of: device, for: choice, on: Self.adapter).fault == .damaged)
        }
        #expect(try store.read().isPaired(.name("LINBLE-TEST")))
        #expect(try store.read().claim(of: Self.open, on: Self.adapter) == BondClaim())
    }

    @Test("`forget` removes what is left of a damaged bond, with its name; other devices keep theirs")
    func forgetting() throws {
        let directory = try TestDirectory()
        let store = store(directory)
        try store.add(try bond(Self.open), name: "OTHER")
        let kept = try store.read()
        let record = try bond().record
        for line in [record + "0", String(record.dropFirst(8)), BondedName(Self.paired, "A \"B\"").record] {
            let text = [try bond(Self.open).record, BondedName(Self.open, "OTHER").record, line].map { $0 + "\n" }
            try directory.write(text.joined(), to: "bonds")
            #expect(try store.read() != kept)
            #expect(try store.remove(Self.address))
            #expect(try store.read().bonds == kept.bonds && store.read().names == kept.names)
            #expect(try store.read().brokenLines.isEmpty)
            #expect(try !store.remove(Self.address))
        }
        // A damaged record with a similar address is kept as long as the device's own record exists.
        let near = try bond(DeviceAddress(BluetoothAddress(rawValue: Self.address.rawValue ^ 1), .random)).record + "0"
        try directory.write([try bond().record, near].map { $0 + "\n" }.joined(), to: "bonds")
        #expect(try store.remove(Self.address) && store.read().brokenLines == [2])
        #expect(try store.remove(Self.address) && store.read().brokenLines.isEmpty)
    }

    @Test("The bits of an address have one bond on an adapter, whatever their type")
    func bits() throws {
        let directory = try TestDirectory()
        let store = store(directory)
        try store.add(try bond())
        let other = try bond(DeviceAddress(Self.address, .public))
        #expect(throws: BondStore.Failure.known(Self.paired)) { try store.add(other) }
    }

    @Test("Pairing raises the kept level of its device, under either address, and of no other")
    func raising() throws {
        let directory = try TestDirectory()
        let choices = ChoiceStore(FilePath(directory.path).appending("selection"))
        #expect(try choices.raise(for: try bond(), heardAt: Self.paired) == nil)
        for device in [Self.paired, DeviceAddress(Self.address, .public), Self.privateAddress] {
            try choices.write(SelectedDevice(device, name: "A", ignoresBond: true))
            let raised = SelectedDevice(Self.paired, name: "A", security: .encrypted)
            #expect(try choices.raise(for: try bond(), heardAt: Self.privateAddress) == raised)
            #expect(try choices.read() == raised)
            #expect(try choices.raise(for: try bond(), heardAt: Self.privateAddress) == nil)
        }
        let higher = SelectedDevice(Self.paired, name: nil, security: .authenticated)
        let other = SelectedDevice(Self.open, name: "A")
        for choice in [higher, other] {
            try choices.write(choice)
            #expect(try choices.raise(for: try bond(), heardAt: Self.paired) == nil)
            #expect(try choices.read() == choice)
        }
    }

    @Test("A device whose bond cannot be used is chosen by the word none only, which a new pairing takes back")
    func unusable() throws {
        let device = SelectedDevice(Self.paired, name: nil)
        for fault in [BondClaim.Fault.damaged, .otherAdapter(Self.adapter)] {
            let claim = BondClaim(demanded: .encrypted, fault: fault)
            for asked in [nil, GATTLinkSecurity.Level.encrypted] {
                let refused = #expect(throws: SecurityPolicy.Refusal.self) {
                    try SecurityPolicy(asked, least: .none).secured(device, claim, earlier: device)
                }?.failure
                #expect(refused?.status == .configuration && refused?.kind == nil)
            }
            let open = try SecurityPolicy(GATTLinkSecurity.Level.none, least: .none).secured(
                device,
                claim,
                earlier: nil
            )
            #expect(open == SelectedDevice(Self.paired, name: nil, ignoresBond: true))
            #expect(try SelectedDevice(parsing: open.text) == open)
        }
        // A device with the address bits or the name of another one can never be selected.
        let claim = BondClaim(demanded: .encrypted, fault: .otherDevice(Self.paired))
        for asked in [nil, GATTLinkSecurity.Level.none] {
            #expect(throws: SecurityPolicy.Refusal.self) {
                try SecurityPolicy(asked, least: .none).secured(
                    SelectedDevice(Self.open, name: nil),
                    claim,
                    earlier: nil
                )
            }
        }
        #expect(throws: SelectedDevice.Fault.self) {
            try SelectedDevice(parsing: #"{"address":"F0:F1:F2:F3:F4:F5","type":"random","bond":"kept"}"#)
        }
    }

    @Test("A paired device is not paired with again: behind a private address, under its name, or of the other type")
    func pairingAgain() throws {
        let directory = try TestDirectory()
        let store = store(directory)
        try store.add(try bond(resolvingKey: Self.resolvingKey), name: "LINBLE-TEST")
        let known = try store.read()
        func refusal(_ device: DeviceAddress, _ choice: DeviceSelector) -> CommandFailure? {
            known.refusal(of: device, for: choice, on: Self.adapter)?.failure
        }
        let name = DeviceSelector.name("LINBLE-TEST")
        let paired = CommandFailure(BondStore.Failure.known(Self.paired))
        for device in [Self.privateAddress, Self.paired, DeviceAddress(Self.address, .public)] {
            #expect(refusal(device, name) == paired && refusal(device, .address(device.address)) == paired)
        }
        let namesake = refusal(Self.open, name)
        #expect(namesake?.status == .usage && namesake?.cause.says(BondFaultText.nameKnown) == true)
        #expect(refusal(Self.open, .address(Self.open.address)) == nil && refusal(Self.open, .name("A")) == nil)
        let elsewhere = BluetoothAddress(rawValue: 0x00AA_0100_0043)
        #expect(known.refusal(of: Self.paired, for: name, on: elsewhere) == nil)
    }
}
