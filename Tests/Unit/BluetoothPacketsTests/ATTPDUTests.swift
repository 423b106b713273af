// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import TestSupport
import Testing

/// Line of att-pdus.txt.
struct ATTVector: CustomTestStringConvertible, Sendable {
    var line: Int
    var name: String
    var bytes: [UInt8]
    /// Minimum length and step; the step is 0 if there is only one length.
    var lengths: [(minimum: Int, step: Int)]

    var testDescription: String { "line \(line): \(name)" }

    func allows(_ count: Int) -> Bool {
        lengths.contains { minimum, step in
            step == 0 ? count == minimum : count >= minimum && (count - minimum) % step == 0
        }
    }

    static func all() throws -> [ATTVector] {
        try VectorFile.lines("att-pdus.txt").map { number, text in
            let parts = text.split(separator: "|").map { $0.drop { $0 == " " } }
            try #require(parts.count == 3, "line \(number)")
            let lengths = try parts[2].split(separator: " ").map { item in
                let numbers = item.split(separator: "+").compactMap { Int($0) }
                return (minimum: try #require(numbers.first), step: numbers.count > 1 ? numbers[1] : 0)
            }
            return ATTVector(
                line: number,
                name: String(parts[0].prefix { $0 != "|" }.reversed().drop { $0 == " " }.reversed()),
                bytes: try #require(VectorFile.bytes(parts[1])),
                lengths: lengths
            )
        }
    }
}

@Suite struct ATTPDUTests {
    @Test("T17: every opcode's bytes are read, named and written back")
    func roundTrip() throws {
        let vectors = try ATTVector.all()
        for vector in vectors {
            let pdu = try ATTPDU(vector.bytes.span)
            #expect(pdu.opcode.name == vector.name, "\(vector.testDescription)")
            #expect(pdu.encoded == vector.bytes, "\(vector.testDescription)")
        }
        #expect(Set(vectors.map { $0.bytes[0] }) == Set(ATTOpcode.known.map { $0.rawValue }))
    }

    @Test("T17: every opcode, cut at every byte and grown by one, is read only where the layout allows the length")
    func truncation() throws {
        var refused = 0
        var read = 0
        for vector in try ATTVector.all() {
            for count in 0...(vector.bytes.count + 1) {
                let bytes = Array((vector.bytes + [0]).prefix(count))
                let pdu = try? ATTPDU(bytes.span)
                #expect((pdu != nil) == vector.allows(count), "\(vector.testDescription) at \(count) bytes")
                if let pdu { #expect(pdu.encoded == bytes, "\(vector.testDescription) at \(count) bytes") }
                if pdu == nil { refused += 1 } else { read += 1 }
            }
        }
        #expect(refused > 200)
        #expect(read > 80)
    }

    @Test("T17: every opcode byte with 0 to 40 bytes of any one value behind it is read back alike or refused")
    func matrix() {
        var read = 0
        for opcode in UInt8.min...UInt8.max {
            for count in 0...40 {
                for filler: UInt8 in [0x00, 0x01, 0x02, 0x06, 0x07, 0x14, 0x15, 0x7F, 0xFF] {
                    let bytes = [opcode] + [UInt8](repeating: filler, count: count)
                    guard let pdu = try? ATTPDU(bytes.span) else { continue }
                    read += 1
                    #expect(pdu.opcode.rawValue == opcode)
                    #expect(pdu.encoded == bytes)
                }
            }
        }
        #expect(read > 1000)
    }

    @Test("T17: a refusal names the packet, the field and the place")
    func refusals() {
        func refusal(_ bytes: [UInt8]) -> DecodingError? {
            do throws(DecodingError) {
                _ = try ATTPDU(bytes.span)
                return nil
            } catch {
                return error
            }
        }
        func expected(_ packet: String, _ field: String, _ offset: Int, _ reason: DecodingError.Reason) -> DecodingError
        {
            DecodingError(packet: packet, field: field, offset: offset, reason: reason)
        }
        #expect(refusal([]) == expected("ATT PDU", "Attribute Opcode", 0, .truncated(needed: 1, available: 0)))
        #expect(refusal([0x14]) == expected("ATT PDU", "Attribute Opcode", 0, .unexpectedCode(0x14)))
        #expect(refusal([0x05, 3, 1, 0, 2, 0]) == expected("Find Information Response", "Format", 1, .invalidValue(3)))
        #expect(
            refusal([0x09, 1, 0, 0]) == expected("Read By Type Response", "Length", 1, .invalidLength(1))
        )
        #expect(
            refusal([0x09, 7, 2, 0, 0x10, 3, 0, 0, 0x2A, 4])
                == expected("Read By Type Response", "Attribute Data List", 2, .invalidLength(8))
        )
        #expect(
            refusal([0x09, 7])
                == expected(
                    "Read By Type Response",
                    "Attribute Data List",
                    2,
                    .truncated(needed: 7, available: 0)
                )
        )
        #expect(
            refusal([0x11, 3, 0, 0, 0]) == expected("Read By Group Type Response", "Length", 1, .invalidLength(3))
        )
        #expect(refusal([0x18, 2]) == expected("Execute Write Request", "Flags", 1, .invalidValue(2)))
        #expect(refusal([0x13, 0]) == expected("Write Response", "end", 1, .trailing(count: 1)))
    }

    @Test("The fields of the PDUs that discovery and subscription use")
    func fields() throws {
        func pdu(_ text: String) throws -> ATTPDU {
            let bytes = try #require(VectorFile.bytes(text))
            return try ATTPDU(bytes.span)
        }
        let uuid = try #require(BluetoothUUID("27ADC9CA-35EB-465A-9154-B8FF9076F3E8"))
        let range = AttributeHandleRange(start: AttributeHandle(1), end: AttributeHandle(0xFFFF))
        #expect(
            try pdu("01 08 01 00 0A")
                == .errorResponse(request: .readByTypeRequest, handle: .first, error: .attributeNotFound)
        )
        #expect(try pdu("02 05 02") == .exchangeMTURequest(clientReceiveMTU: 517))
        #expect(
            try pdu("05 01 04 00 02 29 05 00 01 29")
                == .findInformationResponse(
                    format: .uuid16,
                    [
                        .init(handle: AttributeHandle(4), type: BluetoothUUID(UInt16(0x2902))),
                        .init(handle: AttributeHandle(5), type: BluetoothUUID(UInt16(0x2901))),
                    ]
                )
        )
        #expect(
            try pdu("06 01 00 FF FF 00 28 0A 18")
                == .findByTypeValueRequest(range, type: 0x2800, value: [0x0A, 0x18])
        )
        #expect(
            try pdu("11 14 10 00 FF FF E8 F3 76 90 FF B8 54 91 5A 46 EB 35 CA C9 AD 27")
                == .readByGroupTypeResponse([
                    .init(
                        range: AttributeHandleRange(start: AttributeHandle(0x10), end: .last),
                        value: [
                            0xE8, 0xF3, 0x76, 0x90, 0xFF, 0xB8, 0x54, 0x91, 0x5A, 0x46, 0xEB, 0x35, 0xCA, 0xC9, 0xAD,
                            0x27,
                        ]
                    )
                ])
        )
        #expect(
            try pdu("08 01 00 FF FF E8 F3 76 90 FF B8 54 91 5A 46 EB 35 CA C9 AD 27")
                == .readByTypeRequest(range, type: uuid)
        )
        #expect(try pdu("12 04 00 01 00") == .writeRequest(AttributeHandle(4), value: [1, 0]))
        #expect(try pdu("1B 03 00 31 0D") == .handleValueNotification(AttributeHandle(3), value: [0x31, 0x0D]))
        #expect(
            try pdu("16 03 00 12 00 05") == .prepareWriteRequest(AttributeHandle(3), offset: 18, value: [5])
        )
        #expect(
            try pdu("21 01 00 AA 05 00 BB")
                == .readMultipleVariableResponse([.init(length: 1, value: [0xAA]), .init(length: 5, value: [0xBB])])
        )
    }
}

@Suite struct ATTOpcodeTests {
    @Test("T17: the table has 31 opcodes, each request one response of its own, and the flags agree with the kinds")
    func table() {
        #expect(ATTOpcode.known.count == 31)
        #expect(Set(ATTOpcode.known).count == 31)
        let answers = ATTOpcode.known.compactMap { $0.answer }
        #expect(answers.count == 12 + 1)
        #expect(Set(answers).count == answers.count)
        for opcode in ATTOpcode.known {
            #expect(opcode.isCommand == (opcode.kind == .command))
            #expect(opcode.hasSignature == (opcode == .signedWriteCommand))
            #expect((opcode.answer != nil) == (opcode.kind == .request || opcode.kind == .indication))
            if let answer = opcode.answer { #expect(answer.rawValue == opcode.rawValue + 1) }
        }
    }

    @Test("T17: errors have the specification's names and ranges")
    func errors() {
        #expect(ATTError.attributeNotFound.description == "Attribute Not Found (0x0A)")
        #expect(ATTError(rawValue: 0x80).description == "application error (0x80)")
        #expect(ATTError(rawValue: 0x9F).isApplicationError)
        #expect(!ATTError(rawValue: 0xA0).isApplicationError)
        #expect(ATTError(rawValue: 0xE0).description == "profile error (0xE0)")
        #expect(ATTError.outOfRange.description == "Out of Range (0xFF)")
        #expect(ATTError(rawValue: 0x14).description == "reserved error (0x14)")
    }
}
