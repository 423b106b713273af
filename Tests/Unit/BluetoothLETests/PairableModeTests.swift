// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO
import Testing

@testable import BluetoothAdapters

/// Pairing as the peripheral, with our host stack on both sides.
@Suite("Pairing as the peripheral", .timeLimit(.minutes(10)))
struct PairableModeTests {
    /// Capabilities of both devices, and the resulting security of the keys.
    struct Model: Sendable, CustomTestStringConvertible {
        var central: IOCapability
        var peripheral: IOCapability
        var level: GATTLinkSecurity.Level
        var testDescription: String

        static let all = [
            Model(
                central: .noInputNoOutput,
                peripheral: .displayYesNo,
                level: .encrypted,
                testDescription: "Just Works"
            ),
            Model(
                central: .keyboardOnly,
                peripheral: .displayOnly,
                level: .authenticated,
                testDescription: "a passkey that the peripheral shows"
            ),
            Model(
                central: .displayOnly,
                peripheral: .keyboardOnly,
                level: .authenticated,
                testDescription: "a passkey that the central shows"
            ),
            Model(
                central: .displayYesNo,
                peripheral: .displayYesNo,
                level: .authenticated,
                testDescription: "numeric comparison"
            ),
        ]
    }

    /// Returns the bond that resulted from pairable mode.
    private func bond(_ bench: PairingBench) throws -> Bond {
        guard case .ended(let bond?) = bench.news.last else {
            Issue.record("\(bench.news)")
            throw ManagedPairing.Failure.notBonded
        }
        return bond
    }

    @Test(
        "CB-27: a central pairs while it may, and reads with the saved key after a restart of both programs",
        arguments: Model.all
    )
    func models(_ model: Model) throws {
        let bench = try PairingBench(read: model.level == .authenticated ? .authenticated : .encrypted)
        let stranger = try bench.connect(1)
        #expect(try bench.read(stranger) == .refused(.insufficientAuthentication))
        try bench.disconnect(stranger)

        try bench.open(model.peripheral, required: model.level)
        let theirs = try bench.pair(1, model.central).get()
        let ours = try bond(bench)
        #expect(ours.security.level == model.level && theirs.security.level == model.level)
        #expect(ours.localAddress == bench.adapters[0].address)
        #expect(ours.identityAddress == DeviceAddress(bench.adapters[1].address, .public))

        try bench.restart(0, [ours])
        try bench.restart(1, [theirs])
        let link = try bench.connect(1)
        #expect(try bench.read(link) == .refused(.insufficientEncryption))
        #expect(try bench.secure(link, model.level))
        #expect(try bench.read(link) == .value(PairingBench.secret))
    }

    @Test("CB-27: a central whose request was refused pairs over the same link, and its next request is answered")
    func sameLink() throws {
        let bench = try PairingBench()
        try bench.open()
        let link = try bench.connect(1)
        #expect(try bench.read(link) == .refused(.insufficientAuthentication))
        try bench.pairHere(1)
        try bench.run { bench.news.count == 1 && link.security.level == .encrypted }
        #expect(try bond(bench).security.level == .encrypted)
        #expect(try bench.read(link) == .value(PairingBench.secret))
    }

    @Test(
        "CB-27: no central can pair before pairing is enabled, after its time limit, after it is disabled, or after one bond"
    )
    func closed() throws {
        let bench = try PairingBench()
        // This link remains connected while pairable mode starts and ends.
        let link = try bench.connect(2)
        try expectRefusal(bench)
        try bench.open(limit: .zero)
        try bench.run { bench.news == [.ended(nil)] }
        try expectRefusal(bench)
        try bench.open()
        bench.window?.close()
        try expectRefusal(bench)
        #expect(bench.news.isEmpty && bench.adapters[0].host.bonds.isEmpty)
        try bench.open()
        try bench.restart(1)
        _ = try bench.pair(1).get()
        #expect(try bond(bench).identityAddress.address == bench.adapters[1].address)
        try bench.pairHere(2)
        #expect(try bench.read(link) == .refused(.insufficientAuthentication))
        #expect(bench.adapters[0].host.bonds.count == 1)
    }

    @Test("Closing a pairing window twice does not close the next one")
    func closedAgain() throws {
        let bench = try PairingBench()
        try bench.open()
        let old = try #require(bench.window)
        try bench.open()
        old.close()
        _ = try bench.pair(1).get()
    }

    /// Checks that pairing is rejected for a central without a bond.
    ///
    /// A new program, because repeated attempts would have to wait.
    private func expectRefusal(_ bench: PairingBench) throws {
        try bench.restart(1)
        #expect(try bench.pair(1) == .failure(.disagreed))
    }

    @Test("CB-27: a central with the address of a paired one but without its key can neither read nor pair")
    func impostor() throws {
        let bench = try PairingBench()
        try bench.open()
        let theirs = try bench.pair(1).get()
        let ours = try bond(bench)
        try bench.open()
        try bench.restart(1)
        let link = try bench.connect(1)
        #expect(try bench.read(link) == .refused(.insufficientEncryption))
        try bench.pairHere(1)
        #expect(try bench.read(link) == .refused(.insufficientEncryption))
        try bench.disconnect(link)
        let key = LongTermKey([UInt8](1...16), isAuthenticated: true, isSecureConnections: true, role: .central)
        let forged = Bond(
            identityAddress: theirs.identityAddress,
            localAddress: theirs.localAddress,
            longTermKeys: [try #require(key)]
        )
        try bench.restart(1, [try #require(forged)])
        let other = try bench.connect(1)
        #expect(try !bench.secure(other))
        try bench.run { !bench.adapters[0].isConnected }
        #expect(bench.news.isEmpty && bench.adapters[0].host.bonds == [ours])
    }

    @Test("The user is asked about one central at a time, and the end of the link cancels the question")
    func oneAtATime() throws {
        let bench = try PairingBench()
        bench.isAttended = false
        try bench.open(.displayOnly)
        let first = bench.begin(1, .keyboardOnly)
        try bench.run { bench.news.count == 1 }
        let second = bench.begin(2, .keyboardOnly)
        try bench.run { second.result != nil }
        #expect(second.result == .failure(.disagreed) && bench.news.count == 1)
        var isClosed = false
        first.pairing.close(forgetting: false) { isClosed = true }
        second.pairing.close(forgetting: false) {}
        try bench.run { isClosed && !bench.adapters[0].isConnected }
        let device = DeviceAddress(bench.adapters[1].address, .public)
        #expect(bench.news.last == .failed(device, .notReached(.disconnected)))
        bench.isAttended = true
        try bench.restart(2)
        _ = try bench.pair(2, .keyboardOnly).get()
        #expect(try bond(bench).security.level == .authenticated)
    }

    @Test("A number that the user says no to, and a window that closes meanwhile, leave no bond")
    func declined() throws {
        let bench = try PairingBench()
        bench.saysSame = false
        try bench.open(.displayYesNo)
        #expect(try bench.pair(1, .displayYesNo) == .failure(.disagreed))
        let device = DeviceAddress(bench.adapters[1].address, .public)
        #expect(bench.news.last == .failed(device, .declined))
        // Pairable mode is still active for the next central.
        bench.isAttended = false
        let attempt = bench.begin(2, .displayYesNo)
        try bench.run { bench.shown[1].count == 2 && bench.shown[0].count == 2 }
        bench.window?.close()
        bench.window?.answer(true)
        try bench.run { attempt.result != nil }
        #expect(attempt.result == .failure(.disagreed))
        try bench.close(attempt)
        #expect(bench.news.count == 3 && bench.adapters[0].host.bonds.isEmpty)
    }

    @Test(
        "T4: legacy pairing with a number gives encrypted keys, and is refused by name where authentication is demanded"
    )
    func legacy() throws {
        for legacy in 0...1 {
            let bench = try PairingBench()
            bench.adapters[legacy].perform { $0.pairingPolicy.knowsSecureConnections = false }
            try bench.open(.displayOnly, required: legacy == 0 ? .encrypted : .authenticated)
            let refused = try bench.pair(1, .keyboardOnly, required: legacy == 0 ? .authenticated : .encrypted)
            let device = DeviceAddress(bench.adapters[1].address, .public)
            #expect(refused == .failure(legacy == 0 ? .legacy : .disagreed))
            #expect(bench.news.last == .failed(device, legacy == 0 ? .disagreed : .legacy))
            // The side that requires authentication displays nothing.
            #expect(bench.shown[legacy].isEmpty && bench.adapters.allSatisfy { $0.host.bonds.isEmpty })

            try bench.open(.displayOnly)
            try bench.restart(2)
            if legacy == 1 { bench.adapters[2].perform { $0.pairingPolicy.knowsSecureConnections = false } }
            let theirs = try bench.pair(2, .keyboardOnly).get()
            for bond in [theirs, try bond(bench)] {
                #expect(bond.isLegacy && bond.security.level == .encrypted)
                #expect(bond.longTermKeys.allSatisfy { $0.usedNumber && !$0.isAuthenticated })
            }
        }
    }

    @Test("A central that ends its link once it has paired, or refused, has told its keys, or why, before")
    func lastWords() throws {
        let bench = try PairingBench()
        bench.closesAtOnce = true
        bench.adapters[0].perform { $0.pairingPolicy.knowsSecureConnections = false }
        try bench.open(.displayOnly)
        #expect(try bench.pair(1, .keyboardOnly, required: .authenticated) == .failure(.legacy))
        try bench.run { !bench.news.filter { if case .failed = $0 { true } else { false } }.isEmpty }
        #expect(bench.news.last == .failed(DeviceAddress(bench.adapters[1].address, .public), .disagreed))
        // In legacy pairing, the central's own key is sent last.
        try bench.open()
        let theirs = try bench.pair(2).get()
        try bench.run { !bench.news.isEmpty }
        let ours = try bond(bench)
        #expect(ours.longTermKeys.count == 2 && theirs.longTermKeys.count == 2)
        #expect(ours.key(for: .central)?.value == theirs.key(for: .peripheral)?.value)
    }

    @Test("Where a number is demanded, Just Works is refused")
    func demanding() throws {
        let bench = try PairingBench()
        try bench.open(.displayYesNo, required: .authenticated)
        #expect(try bench.pair(1, .noInputNoOutput) == .failure(.disagreed))
        guard case .failed(_, .tooWeak) = bench.news.last else {
            Issue.record("\(bench.news)")
            return
        }
        #expect(bench.adapters[0].host.bonds.isEmpty)
    }
}
