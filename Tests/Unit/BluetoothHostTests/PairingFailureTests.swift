// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Cryptography
import TestSupport
import Testing

@testable import BluetoothHost

/// Pairings that must fail: each ends with exactly one Pairing Failed, without a bond and without encryption.
@Suite(.timeLimit(.minutes(10))) struct PairingFailureTests {
    private static let justWorks = PairingCase(
        central: .noInputNoOutput,
        peripheral: .noInputNoOutput,
        model: .justWorks
    )
    private static let legacyCase = PairingCase(
        central: .noInputNoOutput,
        peripheral: .noInputNoOutput,
        isSecure: false,
        model: .justWorks
    )
    private static let compare = PairingCase(
        central: .displayYesNo,
        peripheral: .displayYesNo,
        model: .numericComparison
    )
    private static let passkeyCases = PairingCase.all.filter {
        $0.model.hasNumber && $0.model != .numericComparison
    }

    /// Checks that neither side has a bond, and that the side that detected the failure has sent one Pairing Failed to
    /// the other.
    private func expectFailure(
        _ pairing: PairingInMemory,
        _ reason: PairingFailure,
        noticedBy side: Int,
        as failure: SecurityManager.Failure? = nil,
        location: SourceLocation = #_sourceLocation
    ) {
        #expect(pairing.outcomes[side].failures == [failure ?? .refused(reason)], sourceLocation: location)
        #expect(pairing.outcomes[1 - side].failures == [.refusedByPeer(reason)], sourceLocation: location)
        let failed = pairing.outcomes.map { $0.sent.filter { $0[0] == 0x05 } }
        #expect(failed[side] == [[0x05, reason.rawValue]], sourceLocation: location)
        #expect(failed[1 - side].isEmpty, sourceLocation: location)
        expectNothing(pairing, location: location)
    }

    private func expectNothing(_ pairing: PairingInMemory, location: SourceLocation = #_sourceLocation) {
        #expect(pairing.outcomes.allSatisfy { $0.bonds.isEmpty }, sourceLocation: location)
        #expect(pairing.sides.allSatisfy { $0.bond == nil && !$0.isPairing }, sourceLocation: location)
    }

    /// Runs a pairing in which one frame of a side, the first with its code, is changed in transit.
    private func changed(
        _ entry: PairingCase,
        _ side: Int,
        code: UInt8,
        _ change: @escaping ([UInt8]) -> [UInt8]?
    ) throws -> PairingInMemory {
        var pairing = entry.start()
        pairing.change = { from, frame in from == side && frame[0] == code ? change(frame) : frame }
        try pairing.pair()
        return pairing
    }

    @Test("The wrong passkey ends in Confirm Value Failed, none in Passkey Entry Failed", arguments: passkeyCases)
    func passkeys(_ entry: PairingCase) throws {
        guard entry.model != .passkeyEntered else { return }
        for mistake in [1, 2, 500_000, 999_999] as [UInt32] {
            var pairing = entry.start()
            pairing.mistake = mistake
            try pairing.pair()
            // The responder receives the other side's number first and detects the failure.
            expectFailure(pairing, .confirmValueFailed, noticedBy: 1)
        }
        var pairing = entry.start()
        let asker = entry.model == .passkeyFromInitiator ? 1 : 0
        pairing.isSlow = true
        try pairing.sides[0].pair(now: .zero)
        while pairing.exchange() {}
        pairing.sides[asker].enter(passkey: nil, now: .zero)
        pairing.run()
        expectFailure(pairing, .passkeyEntryFailed, noticedBy: asker)
    }

    @Test("A passkey of seven digits is rejected")
    func longPasskey() throws {
        let entry = PairingCase(central: .keyboardOnly, peripheral: .keyboardOnly, model: .passkeyEntered)
        var pairing = entry.start()
        pairing.isSlow = true
        try pairing.sides[0].pair(now: .zero)
        while pairing.exchange() {}
        pairing.sides[0].enter(passkey: 1_000_000, now: .zero)
        while pairing.exchange() {}
        expectFailure(pairing, .passkeyEntryFailed, noticedBy: 0)
    }

    @Test("Numbers that the user does not find the same end in Numeric Comparison Failed", arguments: [0, 1])
    func comparison(_ side: Int) throws {
        for isSlow in [true, false] {
            var pairing = Self.compare.start()
            pairing.isSlow = isSlow
            pairing.answers[side] = false
            try pairing.pair()
            expectFailure(pairing, .numericComparisonFailed, noticedBy: side)
        }
    }

    @Test("As long as one user has not answered there is no bond, whatever the other says", arguments: [0, 1])
    func silentUser(_ side: Int) throws {
        var pairing = Self.compare.start()
        pairing.answers[side] = nil
        try pairing.pair()
        #expect(pairing.outcomes.allSatisfy { $0.bonds.isEmpty && $0.failures.isEmpty && !$0.isEncrypted })
        #expect(pairing.sides[1].longTermKey(diversifier: 0, random: 0) == nil)
        #expect(pairing.sides.map(\.isPairing) == [true, true])
    }

    @Test("A key of fewer than 16 bytes ends in Encryption Key Size, at both sides", arguments: 7...15)
    func shortKey(_ size: Int) throws {
        func short(_ frame: [UInt8]) -> [UInt8] { Array(frame[..<4]) + [UInt8(size)] + frame[5...] }
        expectFailure(try changed(Self.justWorks, 0, code: 0x01, short), .encryptionKeySize, noticedBy: 1)
        expectFailure(try changed(Self.justWorks, 1, code: 0x02, short), .encryptionKeySize, noticedBy: 0)
        expectFailure(try changed(Self.legacyCase, 0, code: 0x01, short), .encryptionKeySize, noticedBy: 1)
    }

    @Test("Without LE Secure Connections there is no pairing, unless the policy allows it", arguments: [0, 1])
    func legacy(_ strict: Int) throws {
        let policies = (0...1).map { PairingInMemory.policy($0, isLegacy: $0 != strict) }
        var pairing = PairingInMemory(policies[0], policies[1])
        try pairing.pair()
        expectFailure(pairing, .authenticationRequirements, noticedBy: strict, as: .legacy)
    }

    @Test("Just Works is refused where authentication is required", arguments: [0, 1])
    func authentication(_ strict: Int) throws {
        let policies = (0...1).map { PairingInMemory.policy($0, .displayOnly, requiresAuthentication: $0 == strict) }
        var pairing = PairingInMemory(policies[0], policies[1])
        try pairing.pair()
        expectFailure(pairing, .authenticationRequirements, noticedBy: strict)
    }

    @Test("A peer that has out-of-band data of ours, which nobody gave it, is refused")
    func outOfBand() throws {
        func outOfBand(_ frame: [UInt8]) -> [UInt8] { [frame[0], frame[1], 1] + frame[3...] }
        expectFailure(try changed(Self.justWorks, 0, code: 0x01, outOfBand), .outOfBandNotAvailable, noticedBy: 1)
        expectFailure(try changed(Self.justWorks, 1, code: 0x02, outOfBand), .outOfBandNotAvailable, noticedBy: 0)
    }

    @Test("A response with keys that were not asked for is refused", arguments: [5, 6])
    func moreKeys(_ place: Int) throws {
        let pairing = try changed(Self.justWorks, 1, code: 0x02) { frame in
            var frame = frame
            frame[place] |= 0x04
            return frame
        }
        expectFailure(pairing, .invalidParameters, noticedBy: 0)
    }

    @Test("A public key off the curve, our own one, or that of the debug mode is refused", arguments: [0, 1])
    func publicKeys(_ side: Int) throws {
        let off = try changed(Self.justWorks, side, code: 0x0C) { frame in Array(frame.dropLast()) + [frame[64] ^ 1] }
        expectFailure(off, .invalidParameters, noticedBy: 1 - side)
        let zero = try changed(Self.justWorks, side, code: 0x0C) { _ in [0x0C] + [UInt8](repeating: 0, count: 64) }
        expectFailure(zero, .invalidParameters, noticedBy: 1 - side)
        let debug = try #require(SecurityManagerFrames.all.first { $0.first == 0x0C })
        let known = try changed(Self.justWorks, side, code: 0x0C) { _ in debug }
        expectFailure(known, .invalidParameters, noticedBy: 1 - side)
    }

    @Test("A public key with our own X is refused, whatever its Y: nothing else is there to notice it")
    func reflectedKey() throws {
        for negates in [false, true] {
            var pairing = Self.justWorks.start()
            var own: [UInt8] = []
            pairing.change = { side, frame in
                guard frame[0] == 0x0C else { return frame }
                if side == 0 { own = frame }
                // The point with the same X and the other Y is also on the curve.
                return side == 0 ? frame : negates ? Array(own[...32]) + negative(own[33...]) : own
            }
            try pairing.pair()
            expectFailure(pairing, .invalidParameters, noticedBy: 0)
        }
    }

    /// Returns the prime of P-256 minus a coordinate, both in little-endian order.
    private func negative(_ coordinate: ArraySlice<UInt8>) -> [UInt8] {
        let prime =
            [UInt8](repeating: 0xFF, count: 12) + [UInt8](repeating: 0, count: 12) + [
                1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF,
            ]
        var borrow = 0
        return zip(prime, coordinate).map { one, other in
            let difference = Int(one) - Int(other) - borrow
            borrow = difference < 0 ? 1 : 0
            return UInt8(truncatingIfNeeded: difference)
        }
    }

    @Test("A confirm value or a number that comes back to its sender is refused", arguments: PairingCase.all)
    func reflected(_ entry: PairingCase) throws {
        for code in [0x03, 0x04] as [UInt8] {
            var pairing = entry.start()
            var own: [UInt8] = []
            pairing.change = { side, frame in
                guard frame[0] == code else { return frame }
                if side == 0 { own = frame }
                return side == 1 && !own.isEmpty ? own : frame
            }
            try pairing.pair()
            let sendsConfirm = !entry.isSecure || entry.model != .justWorks && entry.model != .numericComparison
            guard code == 0x04 || sendsConfirm else { continue }
            expectFailure(pairing, .confirmValueFailed, noticedBy: 0)
            // Our random number was not sent, because the peer's confirm value was missing.
            if code == 0x03 { #expect(!pairing.outcomes[0].sent.contains { $0[0] == 0x04 }) }
        }
    }

    @Test(
        "A confirm value, number, or check with any bit changed is refused by who gets it",
        arguments: PairingCase.all
    )
    func changedValues(_ entry: PairingCase) throws {
        var random = SeededGenerator(seed: 0xB17)
        for side in 0...1 {
            for code in [0x03, 0x04, 0x0D] as [UInt8] where entry.isSecure || code != 0x0D {
                let bit = Int.random(in: 0..<128, using: &random)
                let pairing = try changed(entry, side, code: code) { frame in
                    var frame = frame
                    frame[1 + bit / 8] ^= 1 << UInt8(bit % 8)
                    return frame
                }
                let sends = pairing.outcomes[side].sent.contains { $0[0] == code }
                guard sends else { continue }
                #expect(pairing.outcomes.allSatisfy { $0.bonds.isEmpty && !$0.isEncrypted }, "bit \(bit)")
                #expect(pairing.outcomes.flatMap(\.failures).count == 2, "bit \(bit)")
            }
        }
    }

    @Test("Features that were changed on the way are noticed: by the checks, or by the confirm values")
    func changedFeatures() throws {
        for entry in [Self.compare, Self.legacyCase] {
            for (side, code) in [(0, 0x01), (1, 0x02)] as [(Int, UInt8)] {
                // CT2 has no effect.
                let pairing = try changed(entry, side, code: code) { frame in
                    Array(frame[..<3]) + [frame[3] ^ 0x20] + frame[4...]
                }
                expectNothing(pairing)
                #expect(pairing.outcomes.flatMap(\.failures).count == 2)
            }
        }
    }

    @Test("A long term key of zeros is refused, and an identity that is none")
    func badKeys() throws {
        let zero = try changed(Self.legacyCase, 1, code: 0x06) { _ in [0x06] + [UInt8](repeating: 0, count: 16) }
        #expect(zero.outcomes[0].failures == [.refused(.invalidParameters)])
        #expect(zero.sides[0].bond == nil)
        for address in [[1, 1, 2, 3, 4, 5, 0x40], [1, 1, 2, 3, 4, 5, 0x00], [0, 0, 0, 0, 0, 0, 0]] as [[UInt8]] {
            let private_ = try changed(Self.justWorks, 1, code: 0x09) { _ in [0x09] + address }
            #expect(private_.outcomes[0].failures == [.refused(.invalidParameters)])
            #expect(private_.sides[0].bond == nil)
        }
    }

    /// Returns true if the side currently expects a frame of this kind.
    private func isDue(_ frame: [UInt8], _ side: SecurityManager) -> Bool {
        switch (frame[0], side.step) {
        case (0x02, nil): side.isPairing
        case (0x0C, .publicKey), (0x03, .confirm), (0x04, .random), (0x0D, .check): true
        case (0x06...0x0A, .keys): true
        case (0x0B, _): side.role == .central
        default: false
        }
    }

    @Test("Any frame that is not due ends the pairing, at any step, with one Pairing Failed")
    func unexpected() throws {
        let frames = SecurityManagerFrames.all
        #expect(frames.count == 16)
        for entry in [Self.justWorks, Self.compare, Self.legacyCase] {
            for steps in 0..<10 {
                for frame in frames where frame[0] != 0x05 {
                    for side in 0...1 {
                        var pairing = entry.start()
                        pairing.answers = [nil, nil]
                        try pairing.sides[0].pair(now: .zero)
                        for _ in 0..<steps where !pairing.exchange() { break }
                        guard pairing.sides[side].isPairing, !isDue(frame, pairing.sides[side]) else { continue }
                        pairing.sides[side].receive(frame.span, now: .zero)
                        pairing.run()
                        #expect(pairing.outcomes[side].failures.count == 1, "\(entry), \(steps), \(frame)")
                        #expect(pairing.outcomes[side].sent.count { $0[0] == 0x05 } == 1)
                        #expect(pairing.sides[side].bond == nil)
                        #expect(!pairing.sides[side].isPairing)
                    }
                }
            }
        }
    }

    @Test("After 30 seconds without a step nothing is sent or heard any more", arguments: [0, 1])
    func timeout(_ side: Int) throws {
        var pairing = Self.compare.start()
        pairing.answers = [nil, nil]
        try pairing.pair()
        #expect(pairing.sides[side].deadline == .seconds(30))
        pairing.sides[side].handleDeadline(now: .milliseconds(29_999))
        #expect(pairing.sides[side].isPairing)
        pairing.sides[side].handleDeadline(now: .seconds(30))
        let sent = pairing.outcomes[side].sent.count
        pairing.sides[side].compare(isSame: true, now: .seconds(31))
        pairing.deliver([0x0D] + [UInt8](repeating: 1, count: 16), to: side)
        pairing.deliver([0x01, 3, 0, 0x0D, 16, 2, 2], to: side)
        #expect(pairing.outcomes[side].failures == [.timedOut])
        #expect(pairing.outcomes[side].sent.count == sent)
        #expect(pairing.sides[side].deadline == nil)
        #expect(throws: SecurityManager.Refusal.ended) { try pairing.sides[side].pair(now: .seconds(99)) }
    }

    @Test("Every step has 30 seconds of its own")
    func steps() throws {
        var pairing = Self.justWorks.start()
        try pairing.sides[0].pair(now: .zero)
        var now = Duration.zero
        repeat {
            now += .seconds(9)
            pairing.now = now
            for side in 0...1 { pairing.sides[side].handleDeadline(now: now) }
        } while pairing.exchange()
        #expect(now > .seconds(60))
        #expect(pairing.sides.allSatisfy { $0.bond != nil })
    }

    @Test("A peer that fails has to wait, twice as long each time, and no longer than 64 s; a success ends it")
    func backoff() throws {
        var pairing = PairingInMemory(PairingInMemory.policy(0), PairingInMemory.policy(1))
        let request: [UInt8] = [0x01, 3, 0, 0x09, 16, 2, 2]
        for wait in [1, 2, 4, 8, 16, 32, 64, 64] {
            pairing.deliver(request, to: 1)
            pairing.deliver([0x05, 8], to: 1)
            pairing.now += .seconds(wait) - .milliseconds(1)
            pairing.outcomes[1].sent = []
            pairing.deliver(request, to: 1)
            #expect(pairing.outcomes[1].sent == [[0x05, 0x09]])
            pairing.now += .milliseconds(1)
        }
        let backoff = pairing.sides[1].backoff
        #expect(backoff.wait == .seconds(64))
        try pairing.pair()
        #expect(pairing.sides[1].bond != nil)
        #expect(pairing.sides[1].backoff == PairingBackoff())
        // The back-off continues with the next connection, and applies to both roles.
        var next = SecurityManager(
            role: .central,
            local: PairingInMemory.address[0],
            peer: PairingInMemory.address[1],
            policy: PairingInMemory.policy(0),
            backoff: backoff,
            random: PairingRandomness(seed: 5)
        )
        let end = try #require(backoff.end)
        #expect(throws: SecurityManager.Refusal.tooEarly(until: end)) { try next.pair(now: end - .milliseconds(1)) }
        try next.pair(now: end)
        #expect(throws: SecurityManager.Refusal.busy) { try next.pair(now: end) }
    }

    @Test("Requests are refused where the policy does not accept them, and where the role is the wrong one")
    func refusals() {
        var closed = PairingInMemory.policy(1)
        closed.acceptsRequests = false
        var pairing = PairingInMemory(PairingInMemory.policy(0), closed)
        pairing.deliver([0x01, 3, 0, 0x0D, 16, 2, 2], to: 1)
        pairing.deliver([0x01, 5, 0, 0x0D, 16, 2, 2], to: 1)
        pairing.deliver([0x0B, 0x0D], to: 1)
        #expect(pairing.outcomes[1].sent == [[0x05, 0x05], [0x05, 0x0A], [0x05, 0x07]])
        pairing.deliver([0x01, 3, 0, 0x0D, 16, 2, 2], to: 0)
        #expect(pairing.outcomes[0].sent == [[0x05, 0x07]])
        expectNothing(pairing)
    }

    @Test("Packets outside a pairing and reserved codes are never answered")
    func ignored() throws {
        for side in 0...1 {
            var pairing = Self.justWorks.start()
            let frames =
                SecurityManagerFrames.all.filter { ![0x01, 0x0B].contains($0[0]) } + [[], [0x0C, 1], [0xEE, 1, 2]]
            for frame in frames { pairing.deliver(frame, to: side) }
            #expect(pairing.outcomes[side].sent.isEmpty)
            #expect(pairing.sides[side].ignored == UInt64(frames.count))
        }
        var pairing = Self.justWorks.start()
        try pairing.sides[0].pair(now: .zero)
        pairing.sides[0].receive([0xEE, 1, 2].span, now: .zero)
        pairing.run()
        #expect(pairing.sides[0].bond != nil)
    }

    @Test("A frame that cannot be read ends the pairing with Invalid Parameters", arguments: [0, 1])
    func malformed(_ side: Int) throws {
        let code: UInt8 = side == 0 ? 0x01 : 0x0C
        let pairing = try changed(Self.justWorks, side, code: code) { $0 + [0] }
        if side == 1 {
            expectFailure(pairing, .invalidParameters, noticedBy: 0)
        } else {
            #expect(pairing.outcomes[0].failures == [.refusedByPeer(.invalidParameters)])
        }
    }

    @Test("Encryption that does not come, or comes before its key, ends the pairing", arguments: [0, 1])
    func encryption(_ side: Int) throws {
        var early = Self.compare.start()
        early.answers = [nil, nil]
        try early.pair()
        early.sides[side].encryptionChanged(isOn: true, now: .zero)
        early.run()
        expectFailure(early, .unspecifiedReason, noticedBy: side)
        var off = Self.compare.start()
        off.refusesEncryption = true
        try off.pair()
        #expect(off.outcomes.map(\.failures) == [[.notEncrypted], [.notEncrypted]])
        expectNothing(off)
    }

    @Test("A pairing can be cancelled at any step", arguments: [0, 1])
    func cancelling(_ side: Int) throws {
        for steps in 1..<12 {
            var pairing = Self.compare.start()
            try pairing.sides[0].pair(now: .zero)
            for _ in 0..<steps where !pairing.exchange() { break }
            guard pairing.sides[side].isPairing else { continue }
            pairing.sides[side].cancel(now: .zero)
            pairing.run()
            #expect(pairing.outcomes[side].failures == [.refused(.unspecifiedReason)])
            #expect(pairing.sides[side].bond == nil)
        }
    }
}
