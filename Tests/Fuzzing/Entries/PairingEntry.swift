// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets

/// Two hosts that pair: their policies, changes to their frames, the users' actions and the time come from the input.
///
/// Controllers behave correctly, and the attacker who changes, drops or inserts frames computes no keys.
struct PairingEntry {
    private static let identities = [
        DeviceAddress(BluetoothAddress(rawValue: 0x0011_2233_4455), .public),
        DeviceAddress(BluetoothAddress(rawValue: 0xC0FF_EE00_0001), .random),
    ]
    private static let capabilities: [PairingFeatures.IOCapability] = [
        .noInputNoOutput, .displayOnly, .displayYesNo, .keyboardOnly, .keyboardDisplay,
    ]
    /// Maximum number of effects of one step.
    private static let mostEffects = 16

    private let policies: [PairingPolicy]
    /// Security managers of the central and the peripheral.
    private var sides: [SecurityManager]
    private var now = Duration.zero
    private var waiting: [(side: Int, frame: [UInt8])] = []
    private var heard: [[UInt8]] = []
    private var shown: UInt32 = 0
    /// True for each side whose user was shown a number or has entered one.
    private var hasNumber = [false, false]
    private var bonds: [Bond?] = [nil, nil]
    private var isEncrypted = false
    private var broken: String?

    static func fault(in bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        var entry = PairingEntry(input.byte(), input.byte())
        while !input.isAtEnd, entry.broken == nil { entry.turn(&input) }
        return entry.broken ?? entry.finish()
    }

    private init(_ kind: UInt8, _ flags: UInt8) {
        policies = (0...1).map { side in Self.policy(side, kind, flags) }
        sides = [
            Self.manager(.central, policies[0], seed: UInt64(flags) &>> 6),
            Self.manager(.peripheral, policies[1], seed: 1000),
        ]
        try? sides[flags & 0x80 == 0 ? 0 : 1].pair(now: now)
        takeEffects()
    }

    private static func policy(_ side: Int, _ kind: UInt8, _ flags: UInt8) -> PairingPolicy {
        let bits = flags &>> UInt8(side)
        let capability = Int(kind &>> UInt8(3 * side) & 7) % capabilities.count
        let resolvingKey: UInt128? = bits & 0x10 == 0 ? UInt128(0xA0 + side) : nil
        return PairingPolicy(
            identity: identities[side],
            ioCapability: capabilities[capability],
            requiresAuthentication: bits & 1 != 0,
            allowsLegacy: bits & 4 != 0,
            acceptsRequests: side == 1 && kind & 0x80 == 0,
            identityResolvingKey: resolvingKey
        )
    }

    private static func manager(_ role: ConnectionRole, _ policy: PairingPolicy, seed: UInt64) -> SecurityManager {
        let peer = identities[role == .central ? 1 : 0]
        let random = PairingRandomness { place in mixed(place &* 2048 &+ seed) }
        return SecurityManager(role: role, local: policy.identity, peer: peer, policy: policy, random: random)
    }

    /// Returns pseudorandom numbers.
    private static func mixed(_ place: UInt64) -> UInt64 {
        var word = (place &+ 1) &* 0x9E37_79B9_7F4A_7C15
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }

    private mutating func turn(_ input: inout FuzzInput) {
        switch input.below(13) {
        case 0: pass(.milliseconds(Int(input.byte()) * 200))
        case 1:
            let choice = input.byte()
            enter(Int(choice & 1), choice & 2 == 0 ? shown : UInt32(input.word()))
        case 2:
            let choice = input.byte()
            hasNumber[Int(choice & 1)] = true
            sides[Int(choice & 1)].compare(isSame: choice & 2 == 0, now: now)
        case 3: sides[Int(input.byte() & 1)].cancel(now: now)
        case 4:
            let side = Int(input.byte() & 1)
            if !heard.isEmpty { receive(heard[input.below(heard.count)], side) }
        case 5:
            let side = Int(input.byte() & 1)
            receive(input.bytes(66), side)
        case 6: if !waiting.isEmpty { waiting.removeFirst() }
        case 7:
            guard !waiting.isEmpty, !waiting[0].frame.isEmpty else { break }
            waiting[0].frame[input.below(waiting[0].frame.count)] ^= input.byte()
        case 8: try? sides[Int(input.byte() & 1)].pair(now: now)
        default: deliver()
        }
        takeEffects()
    }

    private mutating func enter(_ side: Int, _ passkey: UInt32) {
        hasNumber[side] = true
        sides[side].enter(passkey: passkey, now: now)
    }

    private mutating func receive(_ frame: [UInt8], _ side: Int) { sides[side].receive(frame.span, now: now) }

    private mutating func deliver() {
        guard !waiting.isEmpty else { return }
        let (side, frame) = waiting.removeFirst()
        receive(frame, side)
    }

    private mutating func pass(_ time: Duration) {
        now += time
        for side in sides.indices { sides[side].handleDeadline(now: now) }
    }

    /// Carries out the effects of both sides until there are none left.
    private mutating func takeEffects() {
        var side = 0
        while side <= 1, broken == nil {
            let effects = sides[side].takeEffects()
            if effects.count > Self.mostEffects { broken = "\(effects.count) things to do at once" }
            for effect in effects { perform(effect, side) }
            side = effects.isEmpty ? side + 1 : 0
        }
        if waiting.count > 64 { waiting.removeFirst(waiting.count - 64) }
        if heard.count > 64 { heard.removeFirst(heard.count - 64) }
    }

    private mutating func perform(_ effect: SecurityManager.Effect, _ side: Int) {
        switch effect {
        case .send(let frame):
            guard (1...65).contains(frame.count), (0x01...0x0E).contains(frame[0]) else {
                return broken = "sent \(Hexadecimal.text(frame))"
            }
            waiting.append((1 - side, frame))
            heard.append(frame)
        case .encrypt(let key, let diversifier, let random):
            guard side == 0 else { return broken = "a peripheral that encrypts" }
            let isSame = sides[1].longTermKey(diversifier: diversifier, random: random) == key
            isEncrypted = isSame
            for side in sides.indices { sides[side].encryptionChanged(isOn: isSame, now: now) }
        case .showPasskey(let passkey), .compareNumber(let passkey):
            if passkey > 999_999 { broken = "the number \(passkey)" }
            shown = passkey
            if case .showPasskey = effect { hasNumber[side] = true }
        case .paired(let bond): check(bond, side)
        case .askPasskey, .securityRequested, .failed: break
        }
    }

    /// Checks that the security of a successful pairing is as good as reported, and that the policies allow it.
    private mutating func check(_ bond: Bond?, _ side: Int) {
        if !isEncrypted { broken = "paired on a link that is not encrypted" }
        if side == 1, !policies[1].acceptsRequests { broken = "paired with who was not to pair" }
        guard let bond else { return }
        bonds[side] = bond
        for key in bond.longTermKeys {
            if key.size != 16 { broken = "a key of \(key.size) bytes" }
            if key.isAuthenticated, !hasNumber[side] { broken = "called authenticated without a number" }
            if !key.isAuthenticated, policies[side].requiresAuthentication {
                broken = "not authenticated, as was demanded"
            }
            if !key.isSecureConnections, !policies[side].allowsLegacy { broken = "legacy, which was not allowed" }
        }
        let secure = bonds.compactMap { $0?.longTermKeys.first { $0.isSecureConnections }?.value }
        if secure.count == 2, secure[0] != secure[1] { broken = "two bonds of different keys" }
    }

    /// Delivers the frames in transit, and then checks that no pairing waits forever.
    private mutating func finish() -> String? {
        for _ in 0..<200 where !waiting.isEmpty && broken == nil {
            deliver()
            takeEffects()
        }
        for _ in 0..<4 where broken == nil {
            guard let deadline = sides.compactMap(\.deadline).min() else { break }
            now = max(now, deadline)
            pass(.zero)
            takeEffects()
        }
        if let broken { return broken }
        return sides.contains { $0.deadline != nil } ? "a pairing that never ends" : nil
    }
}
