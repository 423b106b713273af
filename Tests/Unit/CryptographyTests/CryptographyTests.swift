// SPDX-License-Identifier: GPL-2.0-or-later

import Cryptography
import TestSupport
import Testing

/// Line of cryptography.txt.
private struct Vector: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var function: Substring
    var arguments: [[UInt8]]
    var results: [[UInt8]]

    init?(_ text: String) {
        testDescription = text
        let sides = text.split(separator: "=").map { $0.split(separator: " ") }
        guard sides.count == 2, let function = sides[0].first else { return nil }
        self.function = function
        arguments = sides[0].dropFirst().compactMap { $0 == "-" ? [] : VectorFile.bytes($0) }
        results = sides[1].compactMap { VectorFile.bytes($0) }
    }
}

@Suite(.timeLimit(.minutes(10))) struct CryptographyTests {
    private static let lines = (try? VectorFile.lines("cryptography.txt")) ?? []
    private static let vectors = lines.compactMap { Vector($0.text) }
    /// Order of the curve's group.
    ///
    /// FIPS 186-4, D.1.2.3.
    private static let order = UInt256(
        high: 0xFFFF_FFFF_0000_0000_FFFF_FFFF_FFFF_FFFF,
        low: 0xBCE6_FAAD_A717_9E84_F3B9_CAC2_FC63_2551
    )

    @Test("The sample data was read")
    func count() {
        #expect(Self.vectors.count == Self.lines.count)
        #expect(Set(Self.vectors.map(\.function)) == ["aes", "cmac", "public", "shared"])
    }

    @Test("Each function gives the result of the sample data", arguments: vectors)
    private func samples(_ vector: Vector) throws {
        let arguments = vector.arguments
        let results: [[UInt8]]
        switch vector.function {
        case "aes":
            let block = UInt128(bytes: arguments[1])
            results = [try AES128.encrypt(block, key: UInt128(bytes: arguments[0])).bytes]
        case "cmac": results = [try AES128.cmac(arguments[1], key: UInt128(bytes: arguments[0])).bytes]
        case "public":
            let key = try P256.PrivateKey(UInt256(bytes: arguments[0]), blinding: 1).publicKey
            results = [key.x.bytes, key.y.bytes]
        default:
            let key = try P256.PrivateKey(UInt256(bytes: arguments[0]), blinding: 1)
            let peer = try P256.PublicKey(x: UInt256(bytes: arguments[1]), y: UInt256(bytes: arguments[2]))
            results = [try key.shared(with: peer, blinding: 2).bytes]
        }
        #expect(results == vector.results)
    }

    @Test("Any two private keys agree on a secret, whatever blinds the multiplication")
    func agreement() throws {
        var random = SeededGenerator(seed: 0x5EC)
        for _ in 0..<20 {
            func number() -> UInt128 { .random(in: 0...UInt128.max, using: &random) }
            let one = try P256.PrivateKey(UInt256(high: number() >> 1, low: number()), blinding: number())
            let other = try P256.PrivateKey(UInt256(high: number() >> 1, low: number()), blinding: number())
            let peer = try P256.PublicKey(x: other.publicKey.x, y: other.publicKey.y)
            let secret = try one.shared(with: peer, blinding: number())
            #expect(try other.shared(with: one.publicKey, blinding: number()) == secret)
            #expect(try one.shared(with: peer, blinding: 0) == secret)
        }
    }

    @Test("A private key outside 1 … n-1 is refused")
    func privateKeys() throws {
        let last = UInt256(high: Self.order.high, low: Self.order.low - 1)
        for secret in [UInt256(high: 0, low: 1), last] { _ = try P256.PrivateKey(secret, blinding: 3) }
        let all = UInt256(high: .max, low: .max)
        for secret in [UInt256(high: 0, low: 0), Self.order, all] {
            #expect(throws: CryptographyError.keyRefused) { try P256.PrivateKey(secret, blinding: 3) }
        }
    }

    @Test("A public key that is no point of the curve is refused: any bit of a coordinate changed, and 0, 0")
    func publicKeys() throws {
        let point = try P256.PrivateKey(UInt256(high: 7, low: 7), blinding: 4).publicKey
        let zero = UInt256(high: 0, low: 0)
        #expect(throws: CryptographyError.keyRefused) { try P256.PublicKey(x: zero, y: zero) }
        for bit in 0..<128 {
            let mask = UInt128(1) << UInt128(bit)
            for y in [
                UInt256(high: point.y.high ^ mask, low: point.y.low),
                UInt256(high: point.y.high, low: point.y.low ^ mask),
            ] {
                #expect(throws: CryptographyError.keyRefused) { try P256.PublicKey(x: point.x, y: y) }
            }
        }
        // A coordinate that is not less than the field's size is rejected, because it would represent another number.
        let all = UInt256(high: .max, low: .max)
        #expect(throws: CryptographyError.keyRefused) { try P256.PublicKey(x: all, y: point.y) }
    }

    @Test("Numbers are the bytes of which they were made, the most significant first")
    func bytes() {
        #expect(UInt128(bytes: [1, 2, 3]) == 0x010203)
        #expect(UInt128(bytes: 0...15).bytes == Array(0...15))
        #expect(UInt256(bytes: Array(0...31)).bytes == Array(0...31))
        #expect(UInt256(bytes: [9]) == UInt256(high: 0, low: 9))
    }
}
