// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

@Suite(.timeLimit(.minutes(10))) struct ManagedPairingTests {
    private static let hci0 = ControllerIndex(rawValue: 0)
    private static let peer = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
    private static let device = ManagementAddress(peer)
    private static let value = (1...16).map { UInt8($0) }

    /// Pairing with a simulated kernel.
    private struct Bench {
        var pairing: ManagedPairing
        var sent: [ManagementCommand] = []
        var news: [ManagedPairing.News] = []

        init(
            _ capability: IOCapability = .noInputNoOutput,
            _ required: GATTLinkSecurity.Level = .encrypted,
            supported: ManagementSettings = [.lowEnergy, .secureConnections],
            begins: Bool = true
        ) throws {
            var bytes: [UInt8] = [0x42, 0, 1, 0xAA, 0, 0, 0x0C, 0x02, 0x00]
            for settings in [supported.rawValue, 0x201] {
                bytes += (0..<4).map { UInt8(truncatingIfNeeded: settings >> (8 * $0)) }
            }
            bytes += [UInt8](repeating: 0, count: 280 - bytes.count)
            let information = try ControllerInformation(returnParameters: bytes.span)
            pairing = ManagedPairing(hci0, information, with: peer, capability, required: required)
            pairing.begin()
            pump()
            if begins { while let last = sent.last, last.opcode != .pairDevice { reply(last.opcode, .success) } }
        }

        mutating func reply(_ opcode: ManagementOpcode, _ status: ManagementStatus?) {
            let returned: [UInt8] = [0xF5, 0xF4, 0xF3, 0xF2, 0xF1, 0xF0, 2]
            pairing.handle(replyTo: opcode, status, returned.span)
            pump()
        }

        mutating func handle(_ event: ManagementEvent.Kind) {
            pairing.handle(event)
            pump()
        }

        mutating func answer(_ isSame: Bool) {
            pairing.answer(isSame)
            pump()
        }

        mutating func pump() {
            while let command = pairing.nextCommand() { sent.append(command) }
            while let next = pairing.nextNews() { news.append(next) }
        }

        var end: Result<Bond, ManagedPairing.Failure>? {
            guard case .ended(let result)? = news.last else { return nil }
            return result
        }
    }

    private func key(
        _ kind: ManagementLongTermKey.Kind = .unauthenticatedSecureConnections,
        central: Bool = false,
        size: UInt8 = 16,
        of device: ManagementAddress = ManagedPairingTests.device,
        value: [UInt8] = ManagedPairingTests.value,
        kept: Bool = true
    ) -> ManagementEvent.Kind {
        let isSecure = kind != .unauthenticated && kind != .authenticated
        let key = ManagementLongTermKey(
            device: device,
            kind: kind,
            isCentral: central,
            size: size,
            encryptedDiversifier: isSecure ? 0 : 0x1234,
            random: isSecure ? 0 : 0x0102,
            value: value.enumerated().map { $0.offset < size ? $0.element : 0 }
        )
        return .newLongTermKey(key, isToBeKept: kept)
    }

    @Test("The controller is prepared first, Secure Connections preferred, and may lack those")
    func preparation() throws {
        var bench = try Bench(.keyboardDisplay)
        let steps: [ManagementOpcode] = [
            .loadIdentityResolvingKeys, .setSecureConnections, .setBondable, .setIOCapability, .pairDevice,
        ]
        #expect(bench.sent.map(\.opcode) == steps)
        #expect(bench.sent[3] == .setIOCapability(Self.hci0, .keyboardDisplay))
        #expect(bench.sent[4] == .pairDevice(Self.hci0, Self.device, .keyboardDisplay))
        bench = try Bench(supported: [.lowEnergy, .classic, .secureSimplePairing], begins: false)
        #expect(bench.sent.map(\.opcode) == [.setSecureSimplePairing])
        bench.reply(.setSecureSimplePairing, .notSupported)
        bench.reply(.loadIdentityResolvingKeys, .notSupported)
        bench.reply(.setSecureConnections, .rejected)
        #expect(bench.sent.last?.opcode == .setBondable)
        bench.reply(.setBondable, .permissionDenied)
        #expect(bench.end == .failure(.refused(.setBondable, .permissionDenied)))
    }

    @Test("Just Works is agreed to by who began it, gives a bond, and is never called authenticated")
    func justWorks() throws {
        var bench = try Bench()
        bench.handle(.userConfirmationRequest(Self.device, isPlain: true, number: 0))
        #expect(bench.sent.last == .userConfirmationReply(Self.hci0, Self.device, accepts: true))
        bench.handle(key())
        bench.reply(.pairDevice, .success)
        let bond = try #require(try bench.end?.get())
        #expect(bond.identityAddress == Self.peer && "\(bond.localAddress)" == "00:00:AA:01:00:42")
        #expect(bond.security == GATTLinkSecurity(level: .encrypted, keySize: 16, isBonded: true))
        #expect(bond.longTermKeys.map(\.value) == [Self.value])
        #expect(bond.managementKeys.first.map { .newLongTermKey($0, isToBeKept: true) } == key())
    }

    @Test(
        "T4: where a stranger is to be kept out, Just Works is refused, and so are its key and those of legacy pairing"
    )
    func authenticatedOnly() throws {
        var bench = try Bench(.keyboardDisplay, .authenticated)
        bench.handle(.userConfirmationRequest(Self.device, isPlain: true, number: 0))
        #expect(bench.sent.last == .userConfirmationReply(Self.hci0, Self.device, accepts: false))
        bench.reply(.pairDevice, .authenticationFailed)
        #expect(bench.end == .failure(.tooWeak(GATTLinkSecurity(level: .encrypted))))
        #expect(bench.sent.last == .unpairDevice(Self.hci0, Self.device, disconnects: true))

        bench = try Bench(.keyboardDisplay, .authenticated)
        bench.handle(key())
        bench.reply(.pairDevice, .success)
        #expect(bench.end == .failure(.tooWeak(GATTLinkSecurity(level: .encrypted, keySize: 16, isBonded: true))))
        #expect(bench.sent.last == .unpairDevice(Self.hci0, Self.device, disconnects: true))

        bench = try Bench(.keyboardDisplay, .authenticated)
        bench.handle(key(.authenticatedSecureConnections))
        bench.reply(.pairDevice, .success)
        #expect(try bench.end?.get().security.level == .authenticated)

        // A passkey of legacy pairing does not authenticate, regardless of how the kernel labels the keys.
        for required in [GATTLinkSecurity.Level.encrypted, .authenticated] {
            bench = try Bench(.keyboardDisplay, required)
            bench.handle(.passkeyNotify(Self.device, passkey: 42, entered: 0))
            bench.handle(key(.authenticated, central: true))
            bench.handle(key(.authenticated))
            bench.reply(.pairDevice, .success)
            guard required == .authenticated else {
                #expect(try bench.end?.get().security.level == .encrypted)
                continue
            }
            #expect(bench.end == .failure(.legacy))
            #expect(bench.sent.last == .unpairDevice(Self.hci0, Self.device, disconnects: true))
        }
    }

    @Test("T5: a key of less than 16 bytes is refused, and the kernel is to forget it")
    func shortKeys() throws {
        for size in UInt8(7)...16 {
            var bench = try Bench()
            bench.handle(key(size: size))
            bench.reply(.pairDevice, .success)
            #expect(((try? bench.end?.get()) != nil) == (size == 16))
            #expect((bench.sent.last?.opcode == .unpairDevice) == (size < 16))
        }
        // A legacy pairing distributes two keys, and both count.
        var bench = try Bench()
        bench.handle(key(.unauthenticated, central: true))
        bench.handle(key(.unauthenticated, central: false, size: 7))
        bench.reply(.pairDevice, .success)
        #expect((try? bench.end?.get()) == nil)
    }

    @Test("T6: keys of zeros, debug keys, another's, and those that are not to be kept make no bond")
    func impossibleKeys() throws {
        let stranger = ManagementAddress(BluetoothAddress(rawValue: 0xC0FF_EE00_0001), .leRandom)
        let events = [
            key(value: [UInt8](repeating: 0, count: 16)), key(.debug), key(of: stranger), key(kept: false),
        ]
        for event in events {
            var bench = try Bench()
            bench.handle(event)
            bench.reply(.pairDevice, .success)
            #expect(bench.end == .failure(.notBonded))
            #expect(bench.sent.last == .unpairDevice(Self.hci0, Self.device, disconnects: true))
        }
    }

    @Test("A number is compared, entered or shown, and what the user says is what the kernel is told")
    func numbers() throws {
        var bench = try Bench(.keyboardDisplay)
        bench.handle(.userConfirmationRequest(Self.device, isPlain: false, number: 123_456))
        #expect(bench.news == [.ask(.compare(123_456))])
        bench.answer(false)
        #expect(bench.sent.last == .userConfirmationReply(Self.hci0, Self.device, accepts: false))
        bench.reply(.pairDevice, .authenticationFailed)
        #expect(bench.end == .failure(.declined))

        bench = try Bench(.keyboardDisplay)
        bench.handle(.userConfirmationRequest(Self.device, isPlain: false, number: 7))
        bench.answer(true)
        #expect(bench.sent.last == .userConfirmationReply(Self.hci0, Self.device, accepts: true))

        bench = try Bench(.keyboardDisplay)
        bench.handle(.userPasskeyRequest(Self.device))
        #expect(bench.news == [.ask(.enter)])
        bench.pairing.answer(passkey: 42)
        bench.pump()
        #expect(bench.sent.last == .userPasskeyReply(Self.hci0, Self.device, 42))
        bench.pairing.answer(passkey: nil)
        bench.pump()
        #expect(bench.sent.last == .userPasskeyReply(Self.hci0, Self.device, nil))

        bench = try Bench(.keyboardDisplay)
        for entered in UInt8(0)...6 { bench.handle(.passkeyNotify(Self.device, passkey: 42, entered: entered)) }
        #expect(bench.news == [.show(passkey: 42)])
    }

    @Test("T3: nobody else's question is answered, and none before or after the pairing")
    func window() throws {
        let stranger = ManagementAddress(BluetoothAddress(rawValue: 0xC0FF_EE00_0001), .leRandom)
        var bench = try Bench()
        let count = bench.sent.count
        bench.handle(.userConfirmationRequest(stranger, isPlain: true, number: 0))
        bench.handle(.userPasskeyRequest(stranger))
        #expect(bench.sent.count == count && bench.news.isEmpty)
        bench.handle(key())
        bench.reply(.pairDevice, .success)
        let after = bench.sent.count
        bench.handle(.userConfirmationRequest(Self.device, isPlain: true, number: 0))
        bench.reply(.pairDevice, .success)
        bench.pairing.cancel()
        bench.pump()
        #expect(bench.sent.count == after && bench.news.count == 1)
        var early = try Bench(begins: false)
        early.handle(.userConfirmationRequest(Self.device, isPlain: true, number: 0))
        #expect(early.sent.count == 1)
    }

    @Test("A private address leads to the identity that its resolving key names")
    func identities() throws {
        let identity = ManagementAddress(BluetoothAddress(rawValue: 0xC0FF_EE00_0001), .leRandom)
        var bench = try Bench()
        let resolving = ManagementResolvingKey(device: identity, value: Self.value)
        bench.handle(
            .newIdentityResolvingKey(resolving, resolved: Self.peer.address, isToBeKept: true)
        )
        bench.handle(.userConfirmationRequest(identity, isPlain: true, number: 0))
        #expect(bench.sent.last?.opcode == .userConfirmationReply)
        bench.handle(key(of: identity))
        bench.reply(.pairDevice, .success)
        let bond = try #require(try bench.end?.get())
        #expect(ManagementAddress(bond.identityAddress) == identity)
        #expect(bond.managementResolvingKey == resolving)
    }

    @Test("A resolving key of zeros is none; the device is bonded with by its identity")
    func noResolvingKey() throws {
        var bench = try Bench()
        let zeros = ManagementResolvingKey(device: Self.device, value: [UInt8](repeating: 0, count: 16))
        bench.handle(.newIdentityResolvingKey(zeros, resolved: BluetoothAddress(rawValue: 0), isToBeKept: true))
        bench.handle(key())
        bench.reply(.pairDevice, .success)
        let bond = try #require(try bench.end?.get())
        #expect(bond.identityAddress == Self.peer && bond.identityResolvingKey == nil)
    }

    @Test("Each failure status of the kernel has its own error, and a cancelled pairing leaves no key")
    func ends() throws {
        let ends: [(ManagementStatus?, ManagedPairing.Failure)] = [
            (.alreadyPaired, .alreadyPaired), (.authenticationFailed, .disagreed), (.rejected, .disagreed),
            (.connectFailed, .notReached(.connectFailed)), (.disconnected, .notReached(.disconnected)),
            (nil, .notReached(.timeout)), (.busy, .refused(.pairDevice, .busy)),
        ]
        for (status, failure) in ends {
            var bench = try Bench()
            bench.reply(.pairDevice, status)
            #expect(bench.end == .failure(failure))
            #expect((bench.sent.last?.opcode == .unpairDevice) == (failure == .disagreed))
        }
        var bench = try Bench()
        bench.pairing.cancel()
        bench.pump()
        #expect(bench.sent.last == .cancelPairDevice(Self.hci0, Self.device))
        bench.reply(.pairDevice, .cancelled)
        #expect(bench.end == .failure(.cancelled))
        #expect(bench.sent.last?.opcode == .unpairDevice)
    }
}
