// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

/// Pairing as the peripheral with the kernel's Security Manager, which these tests simulate.
@Suite(.timeLimit(.minutes(10))) struct ManagedPairableModeTests {
    private static let hci0 = ControllerIndex(rawValue: 0)
    private static let local = BluetoothAddress(rawValue: 0x0000_AA01_0042)
    private static let peer = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
    private static let central = ManagementAddress(peer)
    private static let other = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F6), .random)
    private static let value = (1...16).map { UInt8($0) }

    /// Pairable mode with a simulated kernel.
    private struct Bench {
        var window: ManagedPairableMode
        var sent: [ManagementCommand] = []
        var news: [PairableEvent] = []

        init(
            _ capability: IOCapability = .noInputNoOutput,
            _ required: GATTLinkSecurity.Level = .encrypted,
            bonds: [Bond] = [],
            current: ManagementSettings = [.powered, .lowEnergy],
            supported: ManagementSettings = [.lowEnergy, .secureConnections],
            begins: Bool = true
        ) throws {
            var bytes: [UInt8] = [0x42, 0, 1, 0xAA, 0, 0, 0x0C, 0x02, 0x00]
            for settings in [supported.rawValue, current.rawValue] {
                bytes += (0..<4).map { UInt8(truncatingIfNeeded: settings >> (8 * $0)) }
            }
            bytes += [UInt8](repeating: 0, count: 280 - bytes.count)
            let information = try ControllerInformation(returnParameters: bytes.span)
            window = ManagedPairableMode(hci0, information, capability, required: required, bonds: bonds)
            window.begin()
            pump()
            guard begins else { return }
            while let last = sent.last, last.opcode != .setBondable { reply(last.opcode, .success) }
            reply(.setBondable, .success)
            sent = []
        }

        mutating func reply(_ opcode: ManagementOpcode, _ status: ManagementStatus?) {
            window.handle(replyTo: opcode, status)
            pump()
        }

        mutating func handle(_ event: ManagementEvent.Kind) {
            window.handle(event)
            pump()
        }

        mutating func perform(_ body: (inout ManagedPairableMode) -> Void) {
            body(&window)
            pump()
        }

        mutating func pump() {
            while let command = window.nextCommand() { sent.append(command) }
            while let next = window.nextNews() { news.append(next) }
        }

        var bond: Bond? { if case .ended(let bond)? = news.last { bond } else { nil } }
    }

    private static func key(
        _ kind: ManagementLongTermKey.Kind = .unauthenticatedSecureConnections,
        isCentral: Bool = false,
        size: UInt8 = 16,
        of device: ManagementAddress = central,
        isKept: Bool = true
    ) -> ManagementEvent.Kind {
        let key = ManagementLongTermKey(
            device: device,
            kind: kind,
            isCentral: isCentral,
            size: size,
            encryptedDiversifier: 0,
            random: 0,
            value: value.enumerated().map { $0.offset < size ? $0.element : 0 }
        )
        return .newLongTermKey(key, isToBeKept: isKept)
    }

    private static func bond(with device: DeviceAddress) throws -> Bond {
        let key = LongTermKey(value, isAuthenticated: true, isSecureConnections: true, role: .central)
        let keys = [key].compactMap(\.self)
        return try #require(Bond(identityAddress: device, localAddress: local, longTermKeys: keys))
    }

    @Test("The kernel is made bondable last, and is so no more behind the window unless it was before")
    func preparation() throws {
        let known = try Self.bond(with: Self.other)
        var bench = try Bench(.displayOnly, bonds: [known], begins: false)
        while let last = bench.sent.last, last.opcode != .setBondable {
            // Requests are rejected until pairable mode is ready.
            bench.handle(.userConfirmationRequest(Self.central, isPlain: true, number: 0))
            #expect(bench.sent.last == .userConfirmationReply(Self.hci0, Self.central, accepts: false))
            bench.sent.removeLast()
            bench.reply(last.opcode, .success)
        }
        #expect(
            bench.sent == [
                .loadIdentityResolvingKeys(Self.hci0, []), .setSecureConnections(Self.hci0, true),
                .setIOCapability(Self.hci0, .displayOnly), .setBondable(Self.hci0, true),
            ]
        )
        bench.reply(.setBondable, .success)
        bench.perform { $0.close() }
        #expect(bench.sent.last == .setBondable(Self.hci0, false) && bench.news == [.ended(nil)])
        let count = bench.sent.count
        bench.handle(.userConfirmationRequest(Self.central, isPlain: true, number: 0))
        #expect(bench.sent.count == count)

        bench = try Bench(current: [.powered, .lowEnergy, .bondable])
        bench.perform { $0.close() }
        #expect(bench.sent.isEmpty && bench.news == [.ended(nil)])

        bench = try Bench(supported: [.lowEnergy, .secureSimplePairing], begins: false)
        for opcode: ManagementOpcode in [.setSecureSimplePairing, .loadIdentityResolvingKeys, .setSecureConnections] {
            #expect(bench.sent.last?.opcode == opcode)
            bench.reply(opcode, .notSupported)
        }
        bench.reply(.setIOCapability, .permissionDenied)
        #expect(bench.news == [.refused(.setIOCapability, .permissionDenied)])
    }

    @Test("A central that asks gets a bond by Just Works, never called authenticated, and the window ends")
    func justWorks() throws {
        var bench = try Bench()
        bench.handle(.userConfirmationRequest(Self.central, isPlain: true, number: 0))
        #expect(bench.sent == [.userConfirmationReply(Self.hci0, Self.central, accepts: true)])
        bench.handle(Self.key())
        let bond = try #require(bench.bond)
        #expect(bond.identityAddress == Self.peer && bond.localAddress == Self.local)
        #expect(bond.security.level == .encrypted && bond.longTermKeys.map(\.value) == [Self.value])
        #expect(bench.sent.last == .setBondable(Self.hci0, false))
    }

    @Test("A number is compared, entered or shown, and the answers go to the central that was asked about")
    func numbers() throws {
        for isSame in [true, false] {
            var bench = try Bench(.displayYesNo, .authenticated)
            bench.handle(.userConfirmationRequest(Self.central, isPlain: false, number: 42))
            #expect(bench.news == [.ask(.compare(42), of: Self.peer)])
            bench.perform { $0.answer(isSame) }
            #expect(bench.sent == [.userConfirmationReply(Self.hci0, Self.central, accepts: isSame)])
            guard !isSame else { continue }
            bench.handle(.authenticationFailed(Self.central, status: .authenticationFailed))
            #expect(bench.news.last == .failed(Self.peer, .declined))
        }
        var bench = try Bench(.keyboardOnly, .authenticated)
        bench.handle(.userPasskeyRequest(Self.central))
        #expect(bench.news == [.ask(.enter, of: Self.peer)])
        bench.perform { $0.answer(passkey: 123_456) }
        #expect(bench.sent == [.userPasskeyReply(Self.hci0, Self.central, 123_456)])
        bench.handle(.authenticationFailed(Self.central, status: .authenticationFailed))
        #expect(bench.news.last == .failed(Self.peer, .disagreed))
        // Next attempt.
        bench.handle(.passkeyNotify(Self.central, passkey: 7, entered: 0))
        bench.handle(.passkeyNotify(Self.central, passkey: 7, entered: 1))
        #expect(bench.news.count == 3 && bench.news.last == .show(passkey: 7, at: Self.peer))
        bench.handle(Self.key(.authenticatedSecureConnections))
        #expect(bench.bond?.security.level == .authenticated)
    }

    @Test("Of legacy pairing the peripheral's key is the last, and an identity comes with its resolving key")
    func keys() throws {
        var bench = try Bench()
        let hidden = DeviceAddress(BluetoothAddress(rawValue: 0x5A01_0203_0405), .random)
        bench.handle(.userConfirmationRequest(ManagementAddress(hidden), isPlain: true, number: 0))
        let resolving = ManagementResolvingKey(device: Self.central, value: Self.value)
        bench.handle(.newIdentityResolvingKey(resolving, resolved: hidden.address, isToBeKept: true))
        // Key of a central that paired with another program.
        bench.handle(Self.key(of: ManagementAddress(Self.other)))
        bench.handle(Self.key(.unauthenticated, isCentral: true))
        #expect(bench.news.isEmpty)
        bench.handle(Self.key(.unauthenticated))
        let bond = try #require(bench.bond)
        #expect(bond.identityAddress == Self.peer && bond.identityResolvingKey == Self.value)
        #expect(bond.longTermKeys.map(\.role) == [.central, .peripheral])
    }

    @Test("Keys that are too weak or short, or kept by nobody, are forgotten by the kernel, and give no bond")
    func weakKeys() throws {
        let cases: [(ManagementEvent.Kind, ManagedPairing.Failure)] = [
            (Self.key(), .tooWeak(GATTLinkSecurity(level: .encrypted, keySize: 16))),
            (
                Self.key(.authenticatedSecureConnections, size: 15),
                .tooWeak(GATTLinkSecurity(level: .authenticated, keySize: 15))
            ),
            (Self.key(.authenticatedSecureConnections, isKept: false), .notBonded), (Self.key(.debug), .notBonded),
            // A passkey of legacy pairing does not authenticate.
            (Self.key(.authenticated), .legacy),
        ]
        for (event, failure) in cases {
            var bench = try Bench(.displayOnly, .authenticated)
            bench.handle(.passkeyNotify(Self.central, passkey: 7, entered: 0))
            bench.handle(event)
            #expect(bench.news.last == .failed(Self.peer, failure))
            #expect(bench.sent == [.unpairDevice(Self.hci0, Self.central, disconnects: true)])
        }
        var bench = try Bench(.displayOnly, .authenticated)
        bench.handle(.userConfirmationRequest(Self.central, isPlain: true, number: 0))
        #expect(bench.sent == [.userConfirmationReply(Self.hci0, Self.central, accepts: false)])
        bench.handle(.authenticationFailed(Self.central, status: .authenticationFailed))
        #expect(bench.news == [.failed(Self.peer, .tooWeak(GATTLinkSecurity(level: .encrypted)))])
    }

    @Test("A central with a bond does not pair again; where it hid that, the kernel gets the old keys back")
    func bonded() throws {
        let known = try Self.bond(with: Self.peer)
        var bench = try Bench(.keyboardDisplay, bonds: [known])
        bench.handle(.userConfirmationRequest(Self.central, isPlain: true, number: 0))
        bench.handle(.userPasskeyRequest(Self.central))
        bench.handle(.passkeyNotify(Self.central, passkey: 7, entered: 0))
        #expect(
            bench.sent == [
                .userConfirmationReply(Self.hci0, Self.central, accepts: false),
                .userPasskeyReply(Self.hci0, Self.central, nil), .disconnect(Self.hci0, Self.central),
            ]
        )
        bench.sent = []
        let hidden = DeviceAddress(BluetoothAddress(rawValue: 0x5A01_0203_0405), .random)
        bench.handle(.userConfirmationRequest(ManagementAddress(hidden), isPlain: true, number: 0))
        let resolving = ManagementResolvingKey(device: Self.central, value: Self.value)
        bench.handle(.newIdentityResolvingKey(resolving, resolved: hidden.address, isToBeKept: true))
        bench.handle(Self.key())
        #expect(bench.news == [.failed(hidden, .notBonded)])
        #expect(
            Array(bench.sent.dropFirst()) == [
                .unpairDevice(Self.hci0, Self.central, disconnects: true),
                .loadIdentityResolvingKeys(Self.hci0, []), .loadLongTermKeys(Self.hci0, known.managementKeys),
            ]
        )
    }

    @Test("One central pairs at a time; the end of its link, and of the window, settles what was asked about it")
    func oneAtATime() throws {
        var bench = try Bench(.displayYesNo)
        let second = ManagementAddress(Self.other)
        bench.handle(.userConfirmationRequest(Self.central, isPlain: false, number: 1))
        bench.handle(.userConfirmationRequest(second, isPlain: false, number: 2))
        #expect(bench.sent == [.userConfirmationReply(Self.hci0, second, accepts: false)])
        bench.handle(.authenticationFailed(second, status: .authenticationFailed))
        bench.handle(.deviceDisconnected(second, reason: .init(rawValue: 3)))
        #expect(bench.news.count == 1)
        bench.handle(.deviceDisconnected(Self.central, reason: .init(rawValue: 3)))
        #expect(bench.news.last == .failed(Self.peer, .notReached(.disconnected)))
        bench.perform { $0.answer(true) }
        #expect(bench.sent.count == 1)
        bench.handle(.userConfirmationRequest(second, isPlain: false, number: 3))
        #expect(bench.news.last == .ask(.compare(3), of: Self.other))
        bench.perform { $0.close() }
        #expect(bench.news.last == .ended(nil))
        #expect(
            Array(bench.sent.dropFirst()) == [
                .unpairDevice(Self.hci0, second, disconnects: true), .setBondable(Self.hci0, false),
            ]
        )
        bench.handle(Self.key(of: second))
        #expect(bench.news.last == .ended(nil))
    }

    @Test("Nothing of a failed pairing is left for the next one")
    func failedPairings() throws {
        var bench = try Bench()
        let resolving = ManagementResolvingKey(device: Self.central, value: Self.value)
        bench.handle(.userConfirmationRequest(Self.central, isPlain: false, number: 7))
        bench.handle(.newIdentityResolvingKey(resolving, resolved: Self.peer.address, isToBeKept: true))
        bench.handle(Self.key(.unauthenticated, isCentral: true))
        bench.perform { $0.answer(false) }
        bench.handle(.authenticationFailed(Self.central, status: .authenticationFailed))
        bench.handle(.userConfirmationRequest(Self.central, isPlain: true, number: 0))
        bench.handle(.deviceDisconnected(Self.central, reason: .init(rawValue: 3)))
        let other = ManagementAddress(Self.other)
        bench.handle(.userConfirmationRequest(other, isPlain: true, number: 0))
        for isCentral in [true, false] { bench.handle(Self.key(.unauthenticated, isCentral: isCentral, of: other)) }
        let bond = try #require(bench.bond)
        #expect(bond.identityAddress == Self.other && bond.longTermKeys.count == 2 && bond.identityResolvingKey == nil)
        #expect(
            bench.news == [
                .ask(.compare(7), of: Self.peer), .failed(Self.peer, .declined),
                .failed(Self.peer, .notReached(.disconnected)), .ended(bond),
            ]
        )
        #expect(
            bench.sent == [
                .userConfirmationReply(Self.hci0, Self.central, accepts: false),
                .userConfirmationReply(Self.hci0, Self.central, accepts: true),
                .userConfirmationReply(Self.hci0, other, accepts: true), .setBondable(Self.hci0, false),
            ]
        )
    }
}
