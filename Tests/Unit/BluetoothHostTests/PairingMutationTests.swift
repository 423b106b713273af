// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport
import Testing

/// Frames that an attacker has received, modified, and sends in any order.
@Suite(.timeLimit(.minutes(10))) struct PairingMutationTests {
    /// Returns a modified frame: changed bits, another length, another code, or the same frame.
    private func mutated(_ frame: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var frame = frame
        switch Int.random(in: 0..<6, using: &random) {
        case 0: frame.removeLast(Int.random(in: 1...frame.count, using: &random))
        case 1: frame.append(UInt8.random(in: 0...255, using: &random))
        case 2: frame[0] = UInt8.random(in: 0...0x0F, using: &random)
        case 3:
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: 0..<frame.count, using: &random)
                frame[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
            }
        default: break
        }
        return frame
    }

    @Test("1,000 recorded pairings, mutated and sent in random order to either side, never yield a bond")
    func replays() throws {
        var random = SeededGenerator(seed: 0x5AFE)
        var transcripts: [(entry: PairingCase, frames: [[UInt8]])] = []
        for entry in PairingCase.all {
            var pairing = entry.start(seed: 77)
            try pairing.pair()
            transcripts.append((entry, pairing.outcomes.flatMap(\.sent)))
        }
        for run in 0..<1000 as Range<UInt64> {
            let (entry, frames) = try #require(transcripts.randomElement(using: &random))
            let side = Int.random(in: 0...1, using: &random)
            var manager = entry.start(seed: run &+ 1000).sides[side]
            var now = Duration.zero
            if side == 0 { try manager.pair(now: now) }
            for _ in 0..<40 {
                switch Int.random(in: 0..<12, using: &random) {
                case 0: manager.enter(passkey: UInt32.random(in: 0...1_000_000, using: &random), now: now)
                case 1: manager.compare(isSame: true, now: now)
                // Without LE Secure Connections and a passkey, any attacker may pair: no secret is needed for the
                // encryption.
                case 2 where entry.isSecure: manager.encryptionChanged(isOn: true, now: now)
                case 3:
                    now += .seconds(Int.random(in: 0...20, using: &random))
                    manager.handleDeadline(now: now)
                default:
                    let frame = try #require(frames.randomElement(using: &random))
                    manager.receive(mutated(frame, &random).span, now: now)
                }
                let effects = manager.takeEffects()
                #expect(effects.count <= 8)
                for case .paired(let bond) in effects {
                    Issue.record("run \(run), \(entry): \(bond?.description ?? "no bond")")
                }
                #expect(manager.longTermKey(diversifier: 0, random: 0) == nil || !entry.isSecure)
            }
            #expect(manager.bond == nil, "run \(run)")
        }
    }

    @Test("200 pairings with a frame changed on its way: a pairing that succeeds all the same has the right key")
    func oneChange() throws {
        var random = SeededGenerator(seed: 0xC4A6E)
        let secure = PairingCase.all.filter(\.isSecure)
        var failed = 0
        for run in 0..<200 as Range<UInt64> {
            let entry = try #require(secure.randomElement(using: &random))
            var pairing = entry.start(seed: run)
            let place = Int.random(in: 0..<10, using: &random)
            let seed = run
            var count = 0
            pairing.change = { side, frame in
                count += 1
                // Encrypted frames cannot be modified.
                guard count == place + 1, !(0x06...0x0A).contains(frame[0]) else { return frame }
                var own = SeededGenerator(seed: seed)
                return mutated(frame, &own)
            }
            try pairing.pair()
            let keys = Set(pairing.sides.compactMap { $0.bond?.longTermKeys.first?.value })
            #expect(keys.count <= 1, "run \(run), \(entry)")
            for bond in pairing.sides.compactMap(\.bond) {
                #expect(bond.longTermKeys.allSatisfy { $0.isAuthenticated == (entry.model != .justWorks) })
            }
            if keys.isEmpty { failed += 1 }
        }
        #expect(failed > 50)
    }
}
