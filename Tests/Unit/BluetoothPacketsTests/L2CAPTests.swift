// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import TestSupport
import Testing

private func hex(_ value: UInt16) -> String { Hexadecimal.text(UInt64(value), digits: 4) }

private func describe(_ signal: L2CAPSignal) -> String {
    let id = signal.identifier
    switch signal {
    case .commandReject(_, let reason, let data):
        return "reject id=\(id) reason=\(hex(reason.rawValue)) data=\(Hexadecimal.text(data))"
    case .disconnectionRequest(_, let destination, let source):
        return "disconnect id=\(id) destination=\(hex(destination.rawValue)) source=\(hex(source.rawValue))"
    case .disconnectionResponse(_, let destination, let source):
        return "disconnected id=\(id) destination=\(hex(destination.rawValue)) source=\(hex(source.rawValue))"
    case .connectionParameterUpdateRequest(_, let asked):
        return "update id=\(id) \(asked.minimumInterval)...\(asked.maximumInterval) latency=\(asked.latency) "
            + "timeout=\(asked.supervisionTimeout)"
    case .connectionParameterUpdateResponse(_, let isAccepted): return "updated id=\(id) accepted=\(isAccepted)"
    case .leCreditBasedConnectionRequest(_, let spsm, let source):
        return "leCredit id=\(id) spsm=\(hex(spsm)) source=\(hex(source.rawValue))"
    case .creditBasedConnectionRequest(_, let spsm, let sources):
        return "credit id=\(id) spsm=\(hex(spsm)) sources="
            + sources.map { hex($0.rawValue) }.joined(separator: ",")
    case .leCreditBasedConnectionRefusal, .creditBasedConnectionRefusal, .other: return "\(signal)"
    }
}

/// Returns the contents of a frame, and its encoding.
private func read(_ bytes: [UInt8]) throws(DecodingError) -> (text: String, written: [UInt8]?) {
    let frame = try L2CAPFrame(bytes.span)
    switch frame.channel {
    case .signalling:
        let signal = try L2CAPSignal(frame.payload)
        return (describe(signal), L2CAPFrame.encoded(frame.channel, signal.encoded))
    case .securityManager:
        let pdu = try SecurityManagerPDU(frame.payload)
        return ("pairing length=\(frame.payload.count)", L2CAPFrame.encoded(frame.channel, pdu.encoded))
    default:
        let text = "channel=\(hex(frame.channel.rawValue)) length=\(frame.payload.count)"
        return (text, L2CAPFrame.encoded(frame.channel, [UInt8](copying: frame.payload)))
    }
}

@Suite struct L2CAPTests {
    static let vectors = HCIVector.load("l2cap.txt")

    @Test("Every field of a frame is read, and written back", arguments: vectors)
    func roundTrip(_ vector: HCIVector) throws {
        let result = try read(vector.bytes)
        #expect(result.text == vector.expected.first)
        #expect(result.written.map { Hexadecimal.text($0) } == Hexadecimal.text(vector.bytes))
    }

    @Test("T16: a frame cut at any byte, or with a byte too many, is refused", arguments: vectors)
    func refusesWrongLength(_ vector: HCIVector) {
        for length in 0..<vector.bytes.count {
            #expect(throws: DecodingError.self) { try read(Array(vector.bytes[..<length])).text }
        }
        #expect(throws: DecodingError.self) { try read(vector.bytes + [0]).text }
    }

    @Test("T16: a signal whose own length is another than the frame's is refused, and so is the identifier 0")
    func refusesLyingSignals() throws {
        for vector in Self.vectors where vector.bytes[2] == 5 {
            for length in UInt8.min...UInt8.max where length != vector.bytes[6] {
                var bytes = vector.bytes
                bytes[6] = length
                #expect(throws: DecodingError.self) { try read(bytes).text }
            }
            var bytes = vector.bytes
            bytes[5] = 0
            #expect(throws: DecodingError.self) { try read(bytes).text }
        }
        let six: [UInt8] = [0x17, 1, 20, 0] + [UInt8](repeating: 1, count: 20)
        #expect(throws: DecodingError.self) { try L2CAPSignal(six.span) }
    }

    @Test("Refusals of credit based channels have the lengths that their codes ask for")
    func refusals() {
        #expect(
            L2CAPSignal.leCreditBasedConnectionRefusal(identifier: 3, .spsmNotSupported).encoded
                == [0x15, 3, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]
        )
        #expect(
            L2CAPSignal.creditBasedConnectionRefusal(identifier: 4, .spsmNotSupported).encoded
                == [0x18, 4, 8, 0, 0, 0, 0, 0, 0, 0, 2, 0]
        )
    }

    @Test("A signal of an unknown code is a request, and one of a known answer's code is none")
    func responses() throws {
        for (code, isResponse) in [
            (0x01, true), (0x08, false), (0x13, true), (0x16, false), (0x18, true), (0xEE, false),
        ] {
            let bytes = [UInt8(code), 1, 4, 0, 0, 0, 0, 0]
            if [0x13, 0x01].contains(code) { continue }
            #expect(try L2CAPSignal(bytes.span).isResponse == isResponse)
        }
        #expect(L2CAPSignal.connectionParameterUpdateResponse(identifier: 1, isAccepted: true).isResponse)
    }

    @Test("ACL data: handle, boundary, broadcast and length, written and read")
    func aclData() throws {
        let data: [UInt8] = [1, 2, 3]
        let bytes = ACLPacket.encoded(handle: 0xF040, .continuing, data.span)
        #expect(bytes == [0x02, 0x40, 0x10, 0x03, 0x00, 1, 2, 3])
        let packet = try ACLPacket(bytes.span)
        #expect(packet.handle == 0x040)
        #expect(packet.boundary == .continuing)
        #expect(packet.broadcast == 0)
        #expect([UInt8](copying: packet.data) == data)
        let first: [UInt8] = [0x02, 0xFF, 0x6E, 0x00, 0x00]
        let other = try ACLPacket(first.span)
        #expect(other.handle == 0xEFF)
        #expect(other.boundary == .first)
        #expect(other.broadcast == 1)
        let cut: [[UInt8]] = (0..<bytes.count).map { Array(bytes[..<$0]) }
        let wrong: [[UInt8]] = cut + [bytes + [0], [1] + bytes.dropFirst()]
        for bytes in wrong {
            #expect(throws: DecodingError.self) { _ = try ACLPacket(bytes.span).handle }
        }
    }
}
