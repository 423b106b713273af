// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing
import VirtualRadio

@Suite struct AdvertisingTests {
    /// Parameters of LE Set Advertising Data and LE Set Scan Response Data: flags, and the name AB.
    static let data = "03 020106" + String(repeating: "00", count: 28)
    static let response = "04 03094142" + String(repeating: "00", count: 27)

    /// Configures a legacy advertiser with this type and this target of directed advertising.
    func advertise(_ bench: Bench, type: String, peer: String = "00 000000000000") {
        bench.succeed(bench.second, 0x2006, "2000 2000 \(type) 00 \(peer) 07 00")
        bench.succeed(bench.second, 0x2008, Self.data)
        bench.succeed(bench.second, 0x2009, Self.response)
        bench.succeed(bench.second, 0x200A, "01")
    }

    /// Enables scanning on the first controller with the legacy commands.
    func scan(_ bench: Bench, active: Bool, filter: Bool = false, policy: String = "00") {
        bench.succeed(bench.first, 0x200B, "\(active ? "01" : "00") 1000 1000 00 \(policy)")
        bench.succeed(bench.first, 0x200C, "01 \(filter ? "01" : "00")")
    }

    @Test("An advertisement and its scan response, in legacy reports, byte for byte")
    func legacyReports() throws {
        let bench = Bench.pair(.legacy)
        advertise(bench, type: "00")
        scan(bench, active: true, filter: true)
        bench.run(.seconds(1))
        let reports = bench.packets(bench.first)
        #expect(
            reports.map { String($0.dropLast(2)) } == [
                hex("04 3E 0F 02 01 00 00 0200000000C0 03 020106"),
                hex("04 3E 10 02 01 04 00 0200000000C0 04 03094142"),
            ]
        )
        for report in reports {
            let rssi = Int8(bitPattern: try #require(UInt8(report.suffix(2), radix: 16)))
            #expect((-53 ... -47).contains(rssi))
        }
    }

    @Test("The same in extended reports")
    func extendedReports() {
        let bench = Bench.pair()
        bench.succeed(bench.second, 0x2036, "05 1300 200000 200000 07 00 00 000000000000 00 7F 01 00 01 0A 00")
        bench.succeed(bench.second, 0x2037, "05 03 01 03 020106")
        bench.succeed(bench.second, 0x2038, "05 03 01 04 03094142")
        bench.succeed(bench.second, 0x2039, "01 01 05 0000 00")
        bench.succeed(bench.first, 0x2041, "00 00 01 01 1000 1000")
        bench.succeed(bench.first, 0x2042, "01 01 0000 0000")
        bench.run(.seconds(1))
        let reports = bench.packets(bench.first)
        #expect(reports.count == 2)
        // Compares the fields up to TX_Power and from Periodic_Advertising_Interval on; the RSSI between them is
        // ignored.
        #expect(
            reports.map { String($0.prefix(36)) } == [
                hex("04 3E 1D 0D 01 1300 00 0200000000C0 01 00 FF 7F"),
                hex("04 3E 1E 0D 01 1B00 00 0200000000C0 01 00 FF 7F"),
            ]
        )
        #expect(
            reports.map { String($0.dropFirst(38)) } == [
                hex("0000 00 000000000000 03 020106"), hex("0000 00 000000000000 04 03094142"),
            ]
        )
    }

    @Test(
        "Every kind of legacy advertising is reported as what it is",
        arguments: [("00", "00"), ("02", "02"), ("03", "03"), ("04", "01"), ("01", "01")]
    )
    func kinds(_ type: String, _ reported: String) {
        let bench = Bench.pair(.legacy)
        advertise(bench, type: type, peer: bench.address(bench.first))
        scan(bench, active: false, filter: true)
        bench.run(.milliseconds(200))
        let reports = bench.packets(bench.first)
        #expect(reports.count == 1)
        #expect(reports.first?.dropFirst(10).prefix(2) == reported[...])
    }

    @Test("Directed advertising is for its target only")
    func directedElsewhere() {
        let bench = Bench.pair(.legacy)
        advertise(bench, type: "04", peer: "00 0909090909C0")
        scan(bench, active: true)
        bench.run(.milliseconds(200))
        #expect(bench.packets(bench.first).isEmpty)
    }

    @Test("Without the duplicate filter every event is reported, about fifty a second at 20 ms")
    func duplicates() {
        let bench = Bench.pair(.legacy)
        advertise(bench, type: "00")
        scan(bench, active: false)
        bench.run(.seconds(1))
        // The interval is 20 ms plus a random delay of 0 to 10 ms.
        #expect((34...50).contains(bench.packets(bench.first).count))
    }

    @Test("The receiver hears while its window is open: a tenth of the time, a tenth of the events")
    func window() {
        let bench = Bench.pair(.legacy)
        advertise(bench, type: "00")
        bench.succeed(bench.first, 0x200B, "00 A000 1000 00 00")
        bench.succeed(bench.first, 0x200C, "01 00")
        bench.run(.seconds(10))
        #expect((20...65).contains(bench.packets(bench.first).count))
    }

    @Test("A scan by accept list hears the listed only; an advertiser's list keeps others from its response")
    func acceptLists() {
        let bench = Bench.pair(.legacy)
        advertise(bench, type: "00")
        scan(bench, active: true, policy: "01")
        bench.run(.milliseconds(200))
        #expect(bench.packets(bench.first).isEmpty)
        bench.succeed(bench.first, 0x200C, "00 00")
        bench.succeed(bench.first, 0x2011, bench.address(bench.second))
        bench.succeed(bench.first, 0x200C, "01 01")
        bench.run(.milliseconds(200))
        #expect(bench.packets(bench.first).count == 2)

        bench.succeed(bench.second, 0x200A, "00")
        bench.succeed(bench.second, 0x2006, "2000 2000 00 00 00 000000000000 07 01")
        bench.succeed(bench.second, 0x200A, "01")
        bench.succeed(bench.first, 0x200C, "01 01")
        bench.run(.milliseconds(200))
        #expect(bench.packets(bench.first).map { $0.dropFirst(10).prefix(2) } == ["00"])
    }

    @Test("A device out of range is not received")
    func range() {
        let bench = Bench.pair(.legacy)
        advertise(bench, type: "00")
        scan(bench, active: false)
        bench.radio.separate(bench.first, bench.second)
        bench.run(.milliseconds(200))
        #expect(bench.packets(bench.first).isEmpty)
        bench.radio.join(bench.second, bench.first)
        bench.radio.setSignalStrength(-90, bench.first, bench.second)
        bench.run(.milliseconds(200))
        let reports = bench.packets(bench.first)
        #expect(!reports.isEmpty)
        #expect(reports.allSatisfy { (-93 ... -87).contains(Int8(bitPattern: UInt8($0.suffix(2), radix: 16) ?? 0)) })
    }

    @Test("Extended PDUs: 500 bytes in three reports, seen by an extended scan only")
    func longData() throws {
        let bench = Bench([.extended, .extended, .legacy])
        for controller in bench.controllers { bench.wantEverything(controller) }
        bench.succeed(bench.second, 0x2036, "01 0000 200000 200000 07 00 00 000000000000 00 7F 01 00 01 03 00")
        bench.succeed(bench.second, 0x2037, "01 01 01 FB" + String(repeating: "AA", count: 251))
        #expect(bench.status(bench.second, 0x2039, "01 01 01 0000 00") == 0x0C)
        bench.succeed(bench.second, 0x2037, "01 02 01 F9" + String(repeating: "BB", count: 249))
        bench.succeed(bench.second, 0x2039, "01 01 01 0000 00")
        bench.succeed(bench.first, 0x2041, "00 00 01 01 1000 1000")
        bench.succeed(bench.first, 0x2042, "01 01 0000 0000")
        bench.succeed(bench.controllers[2], 0x200B, "01 1000 1000 00 00")
        bench.succeed(bench.controllers[2], 0x200C, "01 00")
        bench.run(.seconds(1))
        #expect(bench.packets(bench.controllers[2]).isEmpty)
        var data: [UInt8] = []
        var statuses: [AdvertisingDataStatus] = []
        while let packet = bench.first.nextPacket() {
            guard case .leMeta(let subevent, let parameters) = try HCIEvent(packet.span) else { continue }
            var reader = try AdvertisingReportReader(subevent, parameters)
            while let report = reader.next() {
                statuses.append(report.dataStatus)
                data += [UInt8](copying: report.data)
                #expect(report.advertisingSID == 3)
                #expect(report.secondaryPHY == .le1M)
            }
        }
        #expect(statuses == [.moreToCome, .moreToCome, .complete])
        #expect(data == [UInt8](repeating: 0xAA, count: 251) + [UInt8](repeating: 0xBB, count: 249))
    }

    @Test("A set ends by its duration or its number of events, a scan by its duration, and each says so")
    func ends() {
        let bench = Bench.pair()
        bench.advertise(bench.second)
        bench.succeed(bench.second, 0x2039, "00 00")
        bench.succeed(bench.second, 0x2039, "01 01 00 0000 03")
        bench.run(.seconds(1))
        #expect(bench.packets(bench.second) == [hex("04 3E 06 12 43 00 0000 03")])
        bench.succeed(bench.second, 0x2039, "01 01 00 0A00 00")
        bench.run(.milliseconds(99))
        #expect(bench.packets(bench.second).isEmpty)
        bench.run(.milliseconds(1))
        let end = bench.packets(bench.second)
        #expect(end.map { String($0.dropLast(2)) } == [hex("04 3E 06 12 3C 00 0000")])

        bench.succeed(bench.first, 0x2041, "00 00 01 01 1000 1000")
        bench.succeed(bench.first, 0x2042, "01 01 0A00 0000")
        bench.run(.milliseconds(99))
        #expect(bench.packets(bench.first).isEmpty)
        bench.run(.milliseconds(1))
        #expect(bench.packets(bench.first) == [hex("04 3E 01 11")])
        #expect(bench.radio.deadline == nil)
    }

    @Test("A scan with a period forgets what it heard when the next period begins, if it is asked to")
    func periods() {
        let bench = Bench.pair()
        bench.advertise(bench.second)
        bench.succeed(bench.first, 0x2041, "00 00 01 00 1000 1000")
        // Scans for 500 ms of every 1.28 s.
        bench.succeed(bench.first, 0x2042, "01 02 3200 0100")
        bench.run(.milliseconds(4 * 1280 - 1))
        #expect(bench.packets(bench.first).count == 4)
        #expect(bench.status(bench.first, 0x2042, "00 00 0000 0000") == 0x00)
    }

    @Test("Disabling a periodic scan leaves no deadline")
    func disabledPeriods() {
        let bench = Bench.pair()
        bench.succeed(bench.first, 0x2041, "00 00 01 00 1000 1000")
        bench.succeed(bench.first, 0x2042, "01 02 3200 0100")
        #expect(bench.radio.deadline != nil)
        bench.succeed(bench.first, 0x2042, "00 00 0000 0000")
        #expect(bench.radio.deadline == nil)
    }

    @Test("High duty cycle directed advertising ends after 1.28 s with Advertising Timeout")
    func highDuty() {
        let bench = Bench.pair(.legacy)
        advertise(bench, type: "01", peer: bench.address(bench.first))
        bench.run(.milliseconds(1279))
        #expect(bench.packets(bench.second).isEmpty)
        bench.run(.milliseconds(1))
        let zeros = String(repeating: "00", count: 25)
        #expect(bench.packets(bench.second) == [hex("04 3E 1F 0A 3C 0000 01 00", zeros)])
    }

    @Test("What does not fit the state or the range is refused with the specification's code")
    func refusals() {
        let bench = Bench.pair()
        let controller = bench.first
        let parameters = "1300 200000 200000 07 00 00 000000000000 00 7F 01 00 01 00 00"
        #expect(bench.status(controller, 0x2039, "01 01 00 0000 00") == 0x42)
        #expect(bench.status(controller, 0x2039, "01 00") == 0x12)
        #expect(bench.status(controller, 0x2037, "00 03 01 00") == 0x42)
        #expect(bench.status(controller, 0x203C, "00") == 0x42)
        for handle in 0...3 { #expect(bench.status(controller, 0x2036, "0\(handle) \(parameters)") == 0x00) }
        #expect(bench.status(controller, 0x2036, "04 \(parameters)") == 0x07)
        #expect(bench.status(controller, 0x2036, "F0 \(parameters)") == 0x12)
        // Connectable and scannable with extended PDUs; an interval that is too short; long range.
        #expect(
            bench.status(controller, 0x2036, "00 0300 200000 200000 07 00 00 000000000000 00 7F 01 00 01 00 00") == 0x12
        )
        #expect(
            bench.status(controller, 0x2036, "00 1300 1F0000 200000 07 00 00 000000000000 00 7F 01 00 01 00 00") == 0x12
        )
        #expect(
            bench.status(controller, 0x2036, "00 1300 200000 200000 07 00 00 000000000000 00 7F 03 00 01 00 00") == 0x11
        )
        #expect(bench.status(controller, 0x2037, "00 03 01 20" + String(repeating: "00", count: 32)) == 0x12)
        #expect(bench.status(controller, 0x2039, "01 02 00 0000 00 00 0000 00") == 0x12)
        #expect(bench.status(controller, 0x2039, "01 01 00 0000 00") == 0x00)
        #expect(bench.status(controller, 0x2036, "00 \(parameters)") == 0x0C)
        #expect(bench.status(controller, 0x203C, "00") == 0x0C)
        #expect(bench.status(controller, 0x203D) == 0x0C)
        #expect(bench.status(controller, 0x2039, "00 00") == 0x00)
        #expect(bench.status(controller, 0x203D) == 0x00)
        #expect(bench.status(controller, 0x2039, "01 01 00 0000 00") == 0x42)
        #expect(bench.status(controller, 0x2041, "00 00 01 00 1000 1100") == 0x12)
        #expect(bench.status(controller, 0x2041, "00 00 04 00 1000 1000") == 0x11)
        #expect(bench.status(controller, 0x2042, "01 02 0000 0000") == 0x12)
    }
}
