// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Cryptography
import Testing

@testable import BluetoothHost

/// Dishonest peripheral that claims to have a keyboard and computes the passkey that the central displays, without
/// being told.
///
/// It sends an arbitrary confirm value. From the central's confirm value and random number, it finds the passkey by
/// brute force, and then the random number that matches the confirm value already sent (Rosa, 2013).
final class ComputingDevice {
    /// Passkeys below this limit are tried.
    static let limit: UInt32 = 4000

    private let hosts: SecuredHosts
    private let key = UInt128(0x1122_3344_5566_7788) << 64 | 0x99
    private let commitment: UInt128 = 0x0BAD
    private var request: SecurityManagerPDU?
    private var response: SecurityManagerPDU?
    private var confirm: UInt128 = 0
    private var encryptionKey: UInt128?
    /// Passkey that was found.
    private(set) var passkey: UInt32?
    /// Frames that the central has sent.
    private(set) var received: [SecurityManagerPDU] = []

    /// Seed with which the central displays a passkey below the limit.
    static let seed: UInt64 = {
        for seed in 1...100_000 as ClosedRange<UInt64> {
            var random = PairingRandomness(seed: seed &* 2 &+ 2)
            if UInt32.random(in: 0..<1_000_000, using: &random) < limit { return seed }
        }
        return 1
    }()

    /// Replaces the Security Manager of the first host.
    init(_ hosts: SecuredHosts) {
        self.hosts = hosts
        hosts.radio.intercept = { [unowned self] index, packet in index == 0 && takes(packet) }
    }

    /// Handles the packets for the Security Manager.
    private func takes(_ packet: [UInt8]) -> Bool {
        if packet[0] == 0x02, packet.count > 9, packet[7] == 0x06, packet[8] == 0 {
            let payload = Array(packet[9...])
            guard let pdu = try? SecurityManagerPDU(payload.span) else { return true }
            received.append(pdu)
            answer(pdu)
            return true
        }
        // LE Long Term Key Request.
        if packet.count >= 6, packet[0] == 0x04, packet[1] == 0x3E, packet[3] == 0x05 {
            let handle = UInt16(packet[4]) | UInt16(packet[5]) << 8
            let isFirst = packet[6...15].allSatisfy { $0 == 0 }
            let wanted = isFirst ? encryptionKey : key
            let reply = HCICommand.leLongTermKeyRequestReply(handle: handle, key: wanted ?? 0)
            hosts.radio.hosts[0].parts.core.output.request(reply, .reply)
            return true
        }
        if packet[0] == 0x04, packet[1] == 0x08, packet[3] == 0, packet[6] == 1, let encryptionKey, encryptionKey != 0 {
            send(.encryptionInformation(key))
            send(.centralIdentification(diversifier: 7, random: 42))
            self.encryptionKey = 0
        }
        return false
    }

    private func send(_ pdu: SecurityManagerPDU) {
        guard let connection = hosts.radio.hosts[0].connections.first else { return }
        hosts.radio.hosts[0].parts.core.answer(.securityManager, pdu.encoded, on: connection.handle)
    }

    private func answer(_ pdu: SecurityManagerPDU) {
        switch pdu {
        case .pairingRequest(let features):
            let own = PairingFeatures(
                ioCapability: .keyboardOnly,
                authentication: [.bonding, .mitmProtection],
                initiatorKeys: [],
                responderKeys: features.responderKeys.intersection(.encryption)
            )
            request = pdu
            response = .pairingResponse(own)
            send(.pairingResponse(own))
        case .pairingConfirm(let value):
            confirm = value
            send(.pairingConfirm(commitment))
        case .pairingRandom(let value): compute(value)
        default: break
        }
    }

    private func compute(_ random: UInt128) {
        guard let request, let response, let device = hosts.radio.hosts[0].ownAddress,
            let central = hosts.radio.hosts[1].ownAddress
        else { return }
        let found = (0..<Self.limit).first { candidate in
            let value = try? SecurityToolbox.c1(
                UInt128(candidate),
                random,
                request: request,
                response: response,
                initiator: central,
                responder: device
            )
            return value == confirm
        }
        guard let found else { return }
        passkey = found
        // Inverts the confirm value: c1 consists of two encryptions with the passkey.
        let types = [device.type.rawValue, central.type.rawValue]
        let first = UInt128(bytes: response.encoded.reversed() + request.encoded.reversed() + types)
        let second = UInt128(central.address.rawValue) << 48 | UInt128(device.address.rawValue)
        let middle = InverseAES128.decrypt(commitment, key: UInt128(found)) ^ second
        let own = InverseAES128.decrypt(middle, key: UInt128(found)) ^ first
        encryptionKey = try? SecurityToolbox.s1(UInt128(found), responder: own, initiator: random)
        send(.pairingRandom(own))
    }
}

/// Inverse cipher of AES-128 (FIPS 197, 5.3), which the product does not need.
enum InverseAES128 {
    private static let box: [UInt8] = (0...255).map { value in
        // The inverse in GF(2^8) is the 254th power.
        var inverse: UInt8 = 1
        for _ in 0..<254 { inverse = product(inverse, UInt8(value)) }
        return (1...4).reduce(inverse ^ 0x63) { $0 ^ (inverse << UInt8($1) | inverse >> UInt8(8 - $1)) }
    }
    private static let inverseBox: [UInt8] = {
        var inverse = [UInt8](repeating: 0, count: 256)
        for (value, substitute) in box.enumerated() { inverse[Int(substitute)] = UInt8(value) }
        return inverse
    }()

    /// Returns the product of two polynomials modulo x^8 + x^4 + x^3 + x + 1.
    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var (sum, factor, rest) = (UInt8(0), left, right)
        while rest != 0 {
            if rest & 1 == 1 { sum ^= factor }
            factor = factor << 1 ^ (factor & 0x80 == 0 ? 0 : 0x1B)
            rest >>= 1
        }
        return sum
    }

    private static func roundKeys(_ key: UInt128) -> [UInt8] {
        var bytes = key.bytes
        var constant: UInt8 = 1
        while bytes.count < 176 {
            var word = Array(bytes.suffix(4))
            if bytes.count % 16 == 0 {
                word = [word[1], word[2], word[3], word[0]].map { box[Int($0)] }
                word[0] ^= constant
                constant = product(constant, 2)
            }
            for byte in word { bytes.append(bytes[bytes.count - 16] ^ byte) }
        }
        return bytes
    }

    /// Decrypts one block.
    static func decrypt(_ block: UInt128, key: UInt128) -> UInt128 {
        let keys = roundKeys(key)
        func adding(_ round: Int, to state: [UInt8]) -> [UInt8] { (0..<16).map { state[$0] ^ keys[16 * round + $0] } }
        var state = adding(10, to: block.bytes)
        for round in (0..<10).reversed() {
            // Shifts each row by its number, and substitutes each byte.
            let shifted = (0..<16).map { place in
                inverseBox[Int(state[(place % 4) + 4 * ((place / 4 + 4 - place % 4) % 4)])]
            }
            state = adding(round, to: shifted)
            if round > 0 { state = mixed(state) }
        }
        return UInt128(bytes: state)
    }

    private static func mixed(_ state: [UInt8]) -> [UInt8] {
        let factors: [UInt8] = [14, 11, 13, 9]
        return (0..<16).map { place in
            (0..<4).reduce(UInt8(0)) { sum, row in
                sum ^ product(factors[(row + 4 - place % 4) % 4], state[place / 4 * 4 + row])
            }
        }
    }
}
