// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import TestSupport
import Testing
import VirtualRadio

@testable import BluetoothHost

/// Two hosts on one radio that pair and encrypt, and a user who follows the instructions of both; the first is the
/// peripheral.
final class SecuredHosts {
    let radio: HostsOnRadio
    /// Connection handles of both hosts.
    private(set) var handles: [UInt16] = [0, 0]
    /// Passkeys that the user has seen; `mistake` is added to the entered one.
    private var shown: [UInt32] = []
    var mistake: UInt32 = 0
    private var seen = [0, 0]

    init(seed: UInt64 = 1) throws {
        radio = HostsOnRadio(.extended, seed: seed)
        try #require(radio.bringUp() == .done)
    }

    /// Makes the devices pair as the case specifies, from the next connection on.
    func use(_ entry: PairingCase) {
        for (index, io) in [(0, entry.peripheral), (1, entry.central)] {
            var policy = PairingInMemory.policy(1 - index, io, isLegacy: !entry.isSecure)
            policy.identityResolvingKey = nil
            radio.hosts[index].pairingPolicy = policy
        }
    }

    /// Connects the second host to the first.
    func connect() throws {
        radio.events = [[], []]
        seen = [0, 0]
        let parameters = AdvertisingParameters(kind: .connectable, interval: 160)
        let isTaken = radio.hosts[0].advertise(parameters, data: [2, 1, 6], scanResponse: [])
        try #require(isTaken)
        radio.until(0, within: .seconds(5)) { $0 == .advertisingStarted }
        let device = DeviceAddress(radio.controllers[0].configuration.address, .public)
        radio.hosts[1].connect(to: device, timeout: .seconds(10), now: radio.now)
        for index in 0...1 {
            radio.until(index, within: .seconds(20)) { HostsOnRadio.connection($0) != nil }
            handles[index] = try #require(radio.events[index].compactMap(HostsOnRadio.connection).last).handle
        }
    }

    func disconnect() {
        radio.hosts[1].disconnect(handles[1], now: radio.now)
        for index in 0...1 { radio.until(index, within: .seconds(20), HostsOnRadio.isEnd) }
    }

    /// Returns the security events of a host until now.
    func news(_ index: Int) -> [LowEnergyHost.SecurityEvent] {
        radio.events[index].compactMap { if case .security(_, let news) = $0 { news } else { nil } }
    }

    func security(_ index: Int) -> GATTLinkSecurity { radio.hosts[index].security(of: handles[index]) }

    /// Starts encryption by the central; returns true if it has started.
    func encrypt() -> Bool {
        defer { settle() }
        return radio.hosts[1].encrypt(handles[1])
    }

    /// Starts pairing by the central, and waits until both sides report the result.
    func pair() throws(SecurityManager.Refusal) {
        try radio.hosts[1].pair(handles[1], now: radio.now)
        settle()
    }

    /// Carries out the user's part until nothing happens for longer than the 20 rounds of a passkey take.
    func settle() {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            for index in 0...1 {
                let known = radio.events[index].count
                radio.until(index, within: .seconds(6)) { _ in false }
                if radio.events[index].count > known || answer() { isQuiet = false }
            }
        }
    }

    /// Answers the pending questions; returns false if there are none.
    private func answer() -> Bool {
        var hasAnswered = false
        for index in 0...1 {
            if case .showPasskey(let passkey)? = news(index).last(where: {
                if case .showPasskey = $0 { true } else { false }
            }) {
                shown.append(passkey)
            }
        }
        for index in 0...1 {
            let all = news(index)
            for news in all[seen[index]...] {
                hasAnswered = true
                switch news {
                case .askPasskey:
                    let passkey = ((shown.last ?? 123_456) + mistake) % 1_000_000
                    radio.hosts[index].enter(passkey: passkey, of: handles[index], now: radio.now)
                case .compareNumber(let number):
                    let isSame = mistake == 0 && other(index).contains(.compareNumber(number))
                    radio.hosts[index].compare(isSame: isSame, of: handles[index], now: radio.now)
                case .changed, .showPasskey, .paired, .pairingFailed: break
                }
            }
            seen[index] = all.count
        }
        return hasAnswered
    }

    private func other(_ index: Int) -> [LowEnergyHost.SecurityEvent] { news(1 - index) }

    /// Returns a host's bond of the last pairing.
    func bond(_ index: Int) -> Bond? {
        news(index).compactMap { if case .paired(let bond) = $0 { bond } else { nil } }.last
    }

    /// Returns the two bonds of a pairing that needs no user.
    func bonded() throws -> [Bond] {
        use(PairingCase(central: .noInputNoOutput, peripheral: .noInputNoOutput, model: .justWorks))
        try connect()
        try pair()
        return [try #require(bond(0)), try #require(bond(1))]
    }
}
