// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import TestSupport

@testable import BluetoothHost

/// Two Security Managers, the controllers between them, and a user who follows the instructions.
struct PairingInMemory {
    /// Events of one side.
    struct Outcome {
        var bonds: [Bond?] = []
        var failures: [SecurityManager.Failure] = []
        var requests: [PairingFeatures.Authentication] = []
        var sent: [[UInt8]] = []
        var shown: [UInt32] = []
        var compared: [UInt32] = []
        var isEncrypted = false
    }

    static let address = [
        DeviceAddress(BluetoothAddress(rawValue: 0x0011_2233_4455), .public),
        DeviceAddress(BluetoothAddress(rawValue: 0xC0FF_EE00_0001), .random),
    ]

    /// Security Managers of the central and the peripheral.
    var sides: [SecurityManager]
    var outcomes = [Outcome(), Outcome()]
    var now = Duration.zero
    /// Passkey that the user enters if none is displayed; `mistake` is added to a displayed passkey.
    var chosenPasskey: UInt32 = 123_456
    var mistake: UInt32 = 0
    /// Result of the user's comparison on each side; nil for no answer.
    var answers: [Bool?] = [true, true]
    /// True if the user answers only after everything else.
    var isSlow = false
    /// True if the controllers cannot encrypt.
    var refusesEncryption = false
    /// Changes a frame of a side in transit; returns nil to drop it.
    var change: (Int, [UInt8]) -> [UInt8]? = { $1 }

    private var waiting: [(side: Int, frame: [UInt8])] = []
    private var asked: [(side: Int, effect: SecurityManager.Effect)] = []

    init(
        _ central: PairingPolicy,
        _ peripheral: PairingPolicy,
        bonds: [Bond?] = [nil, nil],
        peer: DeviceAddress = Self.address[0],
        seed: UInt64 = 1
    ) {
        let ends = [peer, Self.address[1]]
        sides = zip([ConnectionRole.central, .peripheral], [central, peripheral]).enumerated().map { index, side in
            SecurityManager(
                role: side.0,
                local: ends[index],
                peer: ends[1 - index],
                policy: side.1,
                bond: bonds[index],
                random: PairingRandomness(seed: seed &* 2 &+ UInt64(index))
            )
        }
    }

    /// Returns a policy with a resolving key of its own; legacy devices support only legacy pairing.
    static func policy(
        _ side: Int,
        _ io: PairingFeatures.IOCapability = .noInputNoOutput,
        requiresAuthentication: Bool = false,
        isLegacy: Bool = false
    ) -> PairingPolicy {
        var policy = PairingPolicy(
            identity: address[side],
            ioCapability: io,
            requiresAuthentication: requiresAuthentication,
            allowsLegacy: isLegacy,
            acceptsRequests: true,
            identityResolvingKey: UInt128(0xA0 + side) << 64 | 7
        )
        policy.knowsSecureConnections = !isLegacy
        return policy
    }

    /// Pairs, and continues until nothing happens any more.
    mutating func pair() throws {
        try sides[0].pair(now: now)
        run()
    }

    /// Delivers a frame to a side, as if its peer had sent it.
    mutating func deliver(_ frame: [UInt8], to side: Int) {
        sides[side].receive(frame.span, now: now)
        run()
    }

    /// Carries out the effects of both sides until there are none left.
    mutating func run() {
        while exchange() || answerNext() {}
    }

    /// Carries out all effects, and then delivers one frame; returns false if there is none.
    mutating func exchange() -> Bool {
        var index = 0
        while index <= 1 {
            let effects = sides[index].takeEffects()
            for effect in effects { perform(effect, index) }
            // An effect for one side can cause effects on the other.
            index = effects.isEmpty ? index + 1 : 0
        }
        if !isSlow, answerNext(where: canAnswer) { return true }
        guard !waiting.isEmpty else { return false }
        let (side, frame) = waiting.removeFirst()
        sides[side].receive(frame.span, now: now)
        return true
    }

    /// Lets the user answer one question; returns false if there is none.
    private mutating func answerNext(
        where isReady: (Int, SecurityManager.Effect) -> Bool = { _, _ in true }
    ) -> Bool {
        guard let index = asked.firstIndex(where: { isReady($0.side, $0.effect) }) else { return false }
        let (side, effect) = asked.remove(at: index)
        answer(effect, side)
        return true
    }

    /// Returns true once the user can answer.
    private func canAnswer(_ side: Int, _ effect: SecurityManager.Effect) -> Bool {
        guard effect == .askPasskey else { return answers[side] != nil }
        return sides[side].model == .passkeyEntered || !outcomes[1 - side].shown.isEmpty
    }

    private mutating func perform(_ effect: SecurityManager.Effect, _ side: Int) {
        switch effect {
        case .send(let frame):
            outcomes[side].sent.append(frame)
            if let changed = change(side, frame) { waiting.append((1 - side, changed)) }
        case .encrypt(let key, let diversifier, let random):
            let found = sides[1 - side].longTermKey(diversifier: diversifier, random: random)
            let isSame = !refusesEncryption && found == key
            for index in 0...1 {
                outcomes[index].isEncrypted = isSame
                sides[index].encryptionChanged(isOn: isSame, now: now)
            }
        case .showPasskey(let passkey): outcomes[side].shown.append(passkey)
        case .askPasskey, .compareNumber:
            if case .compareNumber(let number) = effect { outcomes[side].compared.append(number) }
            asked.append((side, effect))
        case .securityRequested(let authentication): outcomes[side].requests.append(authentication)
        case .paired(let bond): outcomes[side].bonds.append(bond)
        case .failed(let failure): outcomes[side].failures.append(failure)
        }
    }

    private mutating func answer(_ effect: SecurityManager.Effect, _ side: Int) {
        if case .compareNumber = effect {
            if let isSame = answers[side] { sides[side].compare(isSame: isSame, now: now) }
        } else {
            let passkey = outcomes[1 - side].shown.last ?? chosenPasskey
            sides[side].enter(passkey: (passkey + mistake) % 1_000_000, now: now)
        }
    }
}

/// Frames of security-manager.txt, which contains one or two frames per code.
enum SecurityManagerFrames {
    static let all: [[UInt8]] = {
        var frames: [[UInt8]] = []
        for (_, line) in (try? VectorFile.lines("security-manager.txt")) ?? [] where !line.hasPrefix("=") {
            if line.hasPrefix("vector ") {
                frames.append([])
            } else if !frames.isEmpty {
                frames[frames.count - 1] += VectorFile.bytes(line.prefix { $0 != "|" }) ?? []
            }
        }
        return frames
    }()
}

extension PairingRandomness {
    /// Creates a generator whose numbers depend on a seed.
    init(seed: UInt64) {
        self.init { place in SeededGenerator.number(place, of: seed) }
    }
}
