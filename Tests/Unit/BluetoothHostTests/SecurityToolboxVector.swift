// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Cryptography
import TestSupport
import Testing

/// Line of security-toolbox.txt: a function, its arguments and its results.
struct SecurityToolboxVector: Sendable, CustomTestStringConvertible {
    var function: String
    var arguments: [[UInt8]]
    var results: [[UInt8]]

    var testDescription: String { function }

    init?(_ text: some StringProtocol) {
        let sides = text.split(separator: "=").map { $0.split(separator: " ") }
        guard sides.count == 2, let function = sides[0].first else { return nil }
        self.function = String(function)
        arguments = sides[0].dropFirst().compactMap { VectorFile.bytes($0) }
        results = sides[1].compactMap { VectorFile.bytes($0) }
    }

    private func number(_ index: Int) -> UInt128 { UInt128(bytes: arguments[index]) }

    private func coordinate(_ index: Int) -> UInt256 { UInt256(bytes: arguments[index]) }

    /// Parses an address that is preceded by its type.
    private func device(_ bytes: [UInt8]) throws -> DeviceAddress {
        let type = try #require(AddressType(rawValue: bytes[0]))
        return DeviceAddress(BluetoothAddress(rawValue: UInt64(UInt128(bytes: bytes.dropFirst()))), type)
    }

    private func pdu(_ index: Int) throws -> SecurityManagerPDU {
        try SecurityManagerPDU(Array(arguments[index].reversed()).span)
    }

    /// Returns the function's results for the arguments.
    func computed() throws -> [[UInt8]] {
        switch function {
        case "c1":
            let value = try SecurityToolbox.c1(
                number(0),
                number(1),
                request: pdu(2),
                response: pdu(3),
                initiator: device(arguments[4] + arguments[5]),
                responder: device(arguments[6] + arguments[7])
            )
            return [value.bytes]
        case "s1": return [try SecurityToolbox.s1(number(0), responder: number(1), initiator: number(2)).bytes]
        case "ah":
            let hash = try SecurityToolbox.ah(number(0), UInt32(number(1)))
            return [UInt128(hash).bytes.suffix(3)]
        case "f4": return [try SecurityToolbox.f4(coordinate(0), coordinate(1), number(2), arguments[3][0]).bytes]
        case "f5":
            let (macKey, longTermKey) = try SecurityToolbox.f5(
                coordinate(0),
                initiatorNonce: number(1),
                responderNonce: number(2),
                initiator: device(arguments[3]),
                responder: device(arguments[4])
            )
            return [macKey.bytes, longTermKey.bytes]
        case "f6":
            let capabilities = arguments[4]
            let features = PairingFeatures(
                ioCapability: try #require(PairingFeatures.IOCapability(rawValue: capabilities[2])),
                hasOutOfBandData: capabilities[1] == 1,
                authentication: PairingFeatures.Authentication(rawValue: capabilities[0]),
                initiatorKeys: [],
                responderKeys: []
            )
            let value = try SecurityToolbox.f6(
                number(0),
                number(1),
                number(2),
                number(3),
                features: features,
                device(arguments[5]),
                device(arguments[6])
            )
            return [value.bytes]
        case "g2":
            let value = try SecurityToolbox.g2(
                initiator: coordinate(0),
                responder: coordinate(1),
                initiatorNonce: number(2),
                responderNonce: number(3)
            )
            return [UInt128(value).bytes.suffix(4)]
        case "dh":
            let key = try P256.PrivateKey(coordinate(0), blinding: 1)
            return [try key.shared(with: P256.PublicKey(x: coordinate(1), y: coordinate(2)), blinding: 2).bytes]
        default: return []
        }
    }
}
