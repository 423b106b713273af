// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import TestSupport
import Testing

private func hex(_ value: UInt128) -> String {
    Hexadecimal.text(UInt64(truncatingIfNeeded: value >> 64), digits: 16)
        + Hexadecimal.text(UInt64(truncatingIfNeeded: value), digits: 16)
}

private func describe(_ features: PairingFeatures) -> String {
    "io=\(features.ioCapability) oob=\(features.hasOutOfBandData) auth=\(features.authentication.rawValue) "
        + "size=\(features.maximumKeySize) initiator=\(features.initiatorKeys.rawValue) "
        + "responder=\(features.responderKeys.rawValue)"
}

private func describe(_ pdu: SecurityManagerPDU) -> String {
    switch pdu {
    case .pairingRequest(let features): "request " + describe(features)
    case .pairingResponse(let features): "response " + describe(features)
    case .pairingConfirm(let value): "confirm " + hex(value)
    case .pairingRandom(let value): "random " + hex(value)
    case .pairingFailed(let failure): "failed \(failure.rawValue)"
    case .encryptionInformation(let key): "key " + hex(key)
    case .centralIdentification(let diversifier, let random):
        "identification ediv=\(Hexadecimal.text(UInt64(diversifier), digits: 4)) "
            + "rand=\(Hexadecimal.text(random, digits: 16))"
    case .identityInformation(let key): "identity " + hex(key)
    case .identityAddressInformation(let identity): "address \(identity)"
    case .signingInformation(let key): "signing " + hex(key)
    case .securityRequest(let authentication): "security \(authentication.rawValue)"
    case .pairingPublicKey(let x, let y): "public \(Hexadecimal.text(x)) \(Hexadecimal.text(y))"
    case .pairingDHKeyCheck(let value): "check " + hex(value)
    case .pairingKeypressNotification(let keypress): "keypress \(keypress)"
    case .other(let code): "other \(code)"
    }
}

@Suite(.timeLimit(.minutes(10))) struct SecurityManagerTests {
    static let vectors = HCIVector.load("security-manager.txt")

    @Test("The vectors have every code of the Security Manager Protocol")
    func everyCode() {
        #expect(Set(Self.vectors.compactMap(\.bytes.first)) == Set(0x01...0x0E))
    }

    @Test("Every field of a PDU is read, and written back", arguments: vectors)
    func roundTrip(_ vector: HCIVector) throws {
        let pdu = try SecurityManagerPDU(vector.bytes.span)
        #expect([describe(pdu)] == vector.expected)
        #expect(Hexadecimal.text(pdu.encoded) == Hexadecimal.text(vector.bytes))
    }

    @Test("T16: a PDU cut at any byte, or with a byte too many, is refused", arguments: vectors)
    func refusesWrongLength(_ vector: HCIVector) {
        for length in 0..<vector.bytes.count {
            #expect(throws: DecodingError.self) { try SecurityManagerPDU(Array(vector.bytes[..<length]).span) }
        }
        #expect(throws: DecodingError.self) { try SecurityManagerPDU((vector.bytes + [0]).span) }
    }

    @Test("Values that are reserved for future use are refused, each of them")
    func refusesReservedValues() throws {
        func read(_ bytes: [UInt8]) throws(DecodingError) -> SecurityManagerPDU { try SecurityManagerPDU(bytes.span) }
        for value in UInt8.min...UInt8.max {
            for code in [0x01, 0x02] as [UInt8] {
                let isCapability = (try? read([code, value, 0, 0, 16, 0, 0])) != nil
                #expect(isCapability == (value <= 4))
                #expect(((try? read([code, 0, value, 0, 16, 0, 0])) != nil) == (value <= 1))
                #expect(((try? read([code, 0, 0, 0, value, 0, 0])) != nil) == (7...16).contains(value))
            }
            #expect(((try? read([0x09, value, 1, 2, 3, 4, 5, 6])) != nil) == (value <= 1))
            #expect(((try? read([0x0E, value])) != nil) == (value <= 4))
        }
    }

    @Test("A PDU of a reserved code is read as such, whatever follows")
    func reservedCodes() throws {
        for code in [0x00, 0x0F, 0xEE, 0xFF] as [UInt8] {
            let bytes = [code] + [UInt8](repeating: 7, count: 30)
            #expect(try SecurityManagerPDU(bytes.span) == .other(code: code))
        }
    }
}
