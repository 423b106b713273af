// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

private func hex(_ value: UInt16) -> String { Hexadecimal.text(UInt64(value), digits: 4) }
private func hex(_ status: HCIStatus) -> String { Hexadecimal.text(UInt64(status.rawValue), digits: 2) }

private func describe(_ packet: [UInt8]) throws(DecodingError) -> String {
    switch try HCIEvent(packet.span) {
    case .leMeta(.connectionUpdateComplete, let parameters):
        let event = try LEConnectionUpdateComplete(parameters)
        return "update status=\(hex(event.status)) handle=\(hex(event.handle)) interval=\(event.interval) "
            + "latency=\(event.latency) timeout=\(event.supervisionTimeout)"
    case .leMeta(.longTermKeyRequest, let parameters):
        let event = try LELongTermKeyRequest(parameters)
        return "key handle=\(hex(event.handle)) random=\(Hexadecimal.text(event.random, digits: 16)) "
            + "diversifier=\(hex(event.diversifier))"
    case .leMeta(.remoteConnectionParameterRequest, let parameters):
        let event = try LERemoteConnectionParameterRequest(parameters)
        let asked = event.parameters
        return "parameters handle=\(hex(event.handle)) \(asked.minimumInterval)...\(asked.maximumInterval) "
            + "latency=\(asked.latency) timeout=\(asked.supervisionTimeout) valid=\(asked.isValid)"
    case .leMeta(.advertisingSetTerminated, let parameters):
        let event = try LEAdvertisingSetTerminated(parameters)
        return "terminated status=\(hex(event.status)) set=\(event.advertisingHandle) handle=\(hex(event.handle))"
    case .leMeta(let subevent, let parameters):
        let event = try LEConnectionComplete(subevent, parameters)
        return "connection status=\(hex(event.status)) handle=\(hex(event.handle)) role=\(event.role) "
            + "peer=\(event.peer.address)/\(event.peer.type) interval=\(event.interval) latency=\(event.latency) "
            + "timeout=\(event.supervisionTimeout)"
    case .other(HCIEvent.Code.numberOfCompletedPackets, let parameters):
        let entries = try CompletedPackets(parameters).entries
        return (["completed"] + entries.map { "\(hex($0.handle)):\($0.count)" }).joined(separator: " ")
    case .other(let code, let parameters)
    where code == HCIEvent.Code.encryptionChange || code == HCIEvent.Code.encryptionKeyRefreshComplete:
        let event = try EncryptionChange(code: code, parameters)
        return "encryption status=\(hex(event.status)) handle=\(hex(event.handle)) on=\(event.isOn)"
    default: return "another event"
    }
}

@Suite struct ConnectionEventTests {
    static let vectors = HCIVector.load("hci-connections.txt")

    @Test("Every field of a connection's event is read", arguments: vectors)
    func reads(_ vector: HCIVector) throws {
        #expect(try describe(vector.bytes) == vector.expected.first)
    }

    @Test("T16: a connection's event cut at any byte, or with a byte too many, is refused", arguments: vectors)
    func refusesWrongLength(_ vector: HCIVector) {
        for length in 3..<vector.bytes.count {
            var packet = Array(vector.bytes[..<length])
            packet[2] = UInt8(length - 3)
            #expect(throws: DecodingError.self, "\(length)") { try describe(packet) }
        }
        var long = vector.bytes + [0]
        long[2] += 1
        #expect(throws: DecodingError.self) { try describe(long) }
    }

    @Test("T16: a connection in no known role, or with an address of no known type, is refused")
    func refusesImpossibleFields() {
        let good = Self.vectors[0].bytes
        for (index, value, field) in [(7, 2, "Role"), (8, 4, "Peer_Address_Type")] as [(Int, UInt8, String)] {
            var packet = good
            packet[index] = value
            let error = #expect(throws: DecodingError.self) { try describe(packet) }
            #expect(error?.field == field && error?.reason == .invalidValue(UInt64(value)))
        }
    }
}
