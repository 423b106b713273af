// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing

/// Returns the contents of an event, one line per report.
private func describe(_ packet: [UInt8]) throws(DecodingError) -> [String] {
    switch try HCIEvent(packet.span) {
    case .commandComplete(let packets, let opcode, let parameters):
        let rest = Hexadecimal.text([UInt8](copying: parameters))
        return ["commandComplete packets=\(packets) opcode=\(hex(opcode.rawValue)) return=\(rest)"]
    case .commandStatus(let status, let packets, let opcode):
        return ["commandStatus status=\(hex(status.rawValue)) packets=\(packets) opcode=\(hex(opcode.rawValue))"]
    case .disconnectionComplete(let status, let handle, let reason):
        return ["disconnectionComplete status=\(hex(status.rawValue)) handle=\(handle) reason=\(hex(reason.rawValue))"]
    case .hardwareError(let code): return ["hardwareError code=\(hex(code))"]
    case .leMeta(let subevent, let parameters):
        guard AdvertisingReportReader.reads(subevent) else {
            let rest = Hexadecimal.text([UInt8](copying: parameters))
            return ["leMeta subevent=\(hex(subevent.rawValue)) parameters=\(rest)"]
        }
        var lines: [String] = []
        var reader = try AdvertisingReportReader(subevent, parameters)
        while let report = reader.next() { lines.append(describe(report)) }
        return lines
    case .other(let code, let parameters):
        return ["other code=\(hex(code)) parameters=\(Hexadecimal.text([UInt8](copying: parameters)))"]
    }
}

private func describe(_ report: borrowing AdvertisingReport) -> String {
    let bits: [(AdvertisingEventType, String)] = [
        (.connectable, "connectable"), (.scannable, "scannable"), (.directed, "directed"),
        (.scanResponse, "scanResponse"), (.legacy, "legacy"),
    ]
    let eventType = report.eventType
    let type = bits.filter { eventType.contains($0.0) }.map(\.1).joined(separator: ",")
    func text(_ value: Int8?) -> String { value.map { "\($0)" } ?? "-" }
    func text(_ value: DeviceAddress?) -> String { value.map { "\($0.address)/\($0.type)" } ?? "-" }
    let sid = report.advertisingSID.map { "\($0)" } ?? "-"
    return "report type=\(type) status=\(report.dataStatus) sender=\(text(report.sender)) "
        + "resolved=\(report.isResolved) sid=\(sid) phys=\(report.primaryPHY.rawValue)/\(report.secondaryPHY.rawValue) "
        + "tx=\(text(report.txPower)) rssi=\(text(report.rssi)) target=\(text(report.target)) "
        + "data=\(Hexadecimal.text([UInt8](copying: report.data)))"
}

private func hex(_ value: UInt8) -> String { Hexadecimal.text(UInt64(value), digits: 2) }
private func hex(_ value: UInt16) -> String { Hexadecimal.text(UInt64(value), digits: 4) }

private func isReport(_ packet: [UInt8]) -> Bool {
    packet[1] == HCIEvent.Code.leMeta && (packet[3] == 0x02 || packet[3] == 0x0D)
}

@Suite struct HCIEventTests {
    static let vectors = HCIVector.load("hci-events.txt")
    static let reports = vectors.filter { isReport($0.bytes) }

    @Test("Every field of an event is read", arguments: vectors)
    func reads(_ vector: HCIVector) throws {
        #expect(try describe(vector.bytes) == vector.expected)
    }

    @Test("T16: an event cut at any byte, or with a byte too many, is refused", arguments: vectors)
    func refusesWrongLength(_ vector: HCIVector) {
        for length in 0..<vector.bytes.count {
            #expect(throws: DecodingError.self) { try describe(Array(vector.bytes[..<length])) }
        }
        #expect(throws: DecodingError.self) { try describe(vector.bytes + [0]) }
    }

    @Test(
        "T16: a cut event whose length byte was made to fit is refused where its fields need more",
        arguments: vectors
    )
    func refusesShortParameters(_ vector: HCIVector) {
        let isOpen = [0x13, 0x0E, 0x3E].contains(vector.bytes[1])
        // Minimum lengths of events with variable length: the header and the fixed fields.
        let openLeast: [UInt8: Int] = [0x13: 3, 0x0E: 6, 0x3E: 4]
        let least =
            isReport(vector.bytes) ? vector.bytes.count : openLeast[vector.bytes[1]] ?? vector.bytes.count
        for length in 3..<vector.bytes.count {
            var packet = Array(vector.bytes[..<length])
            packet[2] = UInt8(length - 3)
            if length < least {
                #expect(throws: DecodingError.self, "\(length)") { try describe(packet) }
            }
        }
        var long = vector.bytes + [0]
        long[2] += 1
        if isReport(vector.bytes) || !isOpen {
            #expect(throws: DecodingError.self) { try describe(long) }
        }
    }

    @Test("T16: any other number of reports than the true one is refused, and none of them is used", arguments: reports)
    func refusesLyingCount(_ vector: HCIVector) {
        for count in UInt8.min...UInt8.max where count != vector.bytes[4] {
            var packet = vector.bytes
            packet[4] = count
            #expect(throws: DecodingError.self, "\(count)") { try describe(packet) }
        }
    }

    @Test("T14: any other data length in the last report than the true one is refused", arguments: reports)
    func refusesLyingLength(_ vector: HCIVector) throws {
        let last = try #require(vector.expected.last?.split(separator: "=", omittingEmptySubsequences: false).last)
        let dataLength = last.utf8.count / 2
        let trailer = vector.bytes[3] == 0x02 ? 1 : 0
        let position = vector.bytes.count - trailer - dataLength - 1
        try #require(Int(vector.bytes[position]) == dataLength)
        for length in UInt8.min...UInt8.max where Int(length) != dataLength {
            var packet = vector.bytes
            packet[position] = length
            let error = #expect(throws: DecodingError.self, "\(length)") { try describe(packet) }
            guard Int(length) > dataLength, Int(length) <= (trailer == 1 ? 31 : 229) else { continue }
            guard case .truncated = error?.reason else {
                Issue.record("\(length) bytes: \(error?.description ?? "no error")")
                continue
            }
        }
    }

    @Test("T16: as many reports as an event holds, and one more")
    func mostReports() throws {
        for (count, isSound) in [(0x19, true), (0x1A, false)] {
            let report: [UInt8] = [0x03, 0x00, 1, 2, 3, 4, 5, 6, 0, 0xC0]
            let rest: [UInt8] = [UInt8(count)] + (0..<count).flatMap { _ in report }
            // An event with 26 reports would exceed 255 bytes, so they are parsed without the packet header.
            if isSound {
                var reader = try AdvertisingReportReader(.advertisingReport, rest.span)
                var read = 0
                while let report = reader.next() { read += report.data.isEmpty ? 1 : 0 }
                #expect(read == count)
            } else {
                #expect(throws: DecodingError.self) {
                    _ = try AdvertisingReportReader(.advertisingReport, rest.span).remaining
                }
            }
        }
    }

    @Test("T14: legacy data longer than 31 bytes is refused even if it is there (BadVibes)")
    func legacyDataIsBounded() throws {
        for length in [31, 32, 200] {
            let packet: [UInt8] =
                [0x04, 0x3E, UInt8(12 + length), 0x02, 0x01, 0x00, 0x00, 1, 2, 3, 4, 5, 6, UInt8(length)]
                + [UInt8](repeating: 0, count: length) + [0xC0]
            if length <= 31 {
                #expect(try describe(packet).count == 1)
            } else {
                #expect(throws: DecodingError.self) { try describe(packet) }
            }
        }
    }

    @Test("T16: a value that the specification keeps back, in the type of event or of address, is refused")
    func reservedValues() throws {
        let sound: [UInt8] = [0x04, 0x3E, 0x0C, 0x02, 0x01, 0x00, 0x00, 1, 2, 3, 4, 5, 6, 0, 0xC0]
        #expect(try describe(sound).count == 1)
        for value in UInt8(5)...255 {
            var packet = sound
            packet[5] = value
            #expect(throws: DecodingError.self) { try describe(packet) }
        }
        for value in UInt8(4)...255 {
            var packet = sound
            packet[6] = value
            #expect(throws: DecodingError.self) { try describe(packet) }
        }
    }

    @Test("Another packet than an event is refused")
    func otherIndicators() {
        for indicator in UInt8.min...UInt8.max where indicator != 0x04 {
            #expect(throws: DecodingError.self) { try describe([indicator, 0x10, 0x01, 0x42]) }
        }
    }
}
