// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport
import Testing

@Suite("ATT PDUs in recorded traffic")
struct ATTTraceTests {
    private let index = ControllerIndex(rawValue: 0)

    /// Creates an ACL packet of connection 0x0040.
    private func record(
        _ data: [UInt8],
        _ opcode: MonitorOpcode = .aclReceived,
        boundary: UInt8 = 0b10,
        connection: UInt8 = 0x40
    ) -> BtsnoopRecord {
        let header = [connection, boundary << 4, UInt8(data.count), 0x00]
        return BtsnoopRecord(opcode: opcode, index: index, time: 7, payload: header + data)
    }

    @Test("A PDU in one packet is found, with its direction and connection; other channels and events are not")
    func whole() {
        var trace = ATTTrace()
        let pdu: [UInt8] = [0x1B, 0x03, 0x00, 0x41]
        let found = trace.handle(record([0x04, 0x00, 0x04, 0x00] + pdu))
        #expect(found?.pdu == pdu)
        #expect(found?.index == index)
        #expect(found?.connection == 0x40)
        #expect(found?.direction == .received)
        #expect(found?.time == 7)
        #expect(trace.handle(record([0x01, 0x00, 0x04, 0x00, 0x13], .aclSent, boundary: 0))?.direction == .sent)
        #expect(trace.handle(record([0x01, 0x00, 0x05, 0x00, 0x13])) == nil)
        #expect(trace.handle(record([0x01, 0x00, 0x04, 0x00, 0x13], .event)) == nil)
        #expect(trace.malformed == 0)
    }

    @Test("A PDU cut into fragments anywhere is joined, each direction and connection for itself")
    func fragments() {
        let pdu: [UInt8] = [0x0B, 1, 2, 3, 4, 5, 6]
        let whole = [UInt8(pdu.count), 0x00, 0x04, 0x00] + pdu
        for cut in 1..<whole.count {
            var trace = ATTTrace()
            #expect(trace.handle(record(Array(whole.prefix(cut)))) == nil)
            // Packets of other connections in between have no effect.
            #expect(trace.handle(record([0x01, 0x00, 0x04, 0x00, 0x13], .aclSent, boundary: 0)) != nil)
            #expect(trace.handle(record([0x01, 0x00, 0x04, 0x00, 0x13], connection: 0x41)) != nil)
            #expect(trace.handle(record(Array(whole.dropFirst(cut)), boundary: 0b01))?.pdu == pdu)
            #expect(trace.malformed == 0)
        }
    }

    @Test("A continuation without beginning is left out; what has no end, or too much of one, is counted")
    func broken() {
        var trace = ATTTrace()
        #expect(trace.handle(record([1, 2, 3], boundary: 0b01)) == nil)
        #expect(trace.malformed == 0)
        #expect(trace.handle(record([0x09, 0x00, 0x04, 0x00, 0x13])) == nil)
        #expect(trace.handle(record([0x01, 0x00, 0x04, 0x00, 0x13]))?.pdu == [0x13])
        #expect(trace.malformed == 1)
        #expect(trace.handle(record([0x01, 0x00, 0x04, 0x00, 0x13, 0x13])) == nil)
        #expect(trace.malformed == 2)
        var lying = record([0x01, 0x00, 0x04, 0x00, 0x13])
        lying.payload[2] = 200
        #expect(trace.handle(lying) == nil)
        #expect(trace.malformed == 3)
    }

    @Test("Any bytes as an ACL packet, and beginnings on every connection, cost bounded memory and no trap")
    func hostile() {
        var trace = ATTTrace()
        var random = SeededGenerator(seed: 31)
        for round in 0..<20_000 {
            let count = Int.random(in: 0...12, using: &random)
            var payload = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            // Half of the packets have a correct length, so that they are parsed further.
            if round % 2 == 0, count >= 4 { (payload[2], payload[3]) = (UInt8(count - 4), 0) }
            let opcode: MonitorOpcode = round % 3 == 0 ? .aclSent : .aclReceived
            _ = trace.handle(BtsnoopRecord(opcode: opcode, index: index, time: 0, payload: payload))
        }
        #expect(trace.malformed > 1000)
    }
}
