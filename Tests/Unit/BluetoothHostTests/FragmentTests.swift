// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport
import Testing

@Suite struct FragmentTests {
    /// Returns an advertisement of the given length that consists of structures with bytes derived from `seed`.
    private func payload(_ length: Int, seed: UInt8) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < length {
            let size = min(200, length - bytes.count - 1)
            bytes.append(UInt8(size))
            if size > 0 { bytes += [0xFF] + (1..<size).map { UInt8(truncatingIfNeeded: $0) ^ seed } }
        }
        return bytes
    }

    private func fragments(_ bytes: [UInt8], _ sizes: [Int]) -> [[UInt8]] {
        var rest = bytes[...]
        return sizes.map { size in
            defer { rest = rest.dropFirst(size) }
            return Array(rest.prefix(size))
        } + [Array(rest)]
    }

    @Test("T15: fragments become one advertisement, reported once with the last of them")
    func joins() {
        var scanner = Scanner.scanning(.extended)
        let whole = payload(600, seed: 1)
        let parts = fragments(whole, [229, 229])
        #expect(scanner.feed(ScanEvents.extended(1, parts[0], type: ScanEvents.more)).isEmpty)
        #expect(scanner.feed(ScanEvents.extended(1, parts[1], type: ScanEvents.more)).isEmpty)
        #expect(scanner.feed(ScanEvents.extended(1, parts[2])).map(\.change) == [.appeared])
        let device = scanner.devices[ScanEvents.device(1)]
        #expect(device?.advertisement == whole)
        #expect(device?.isTruncated == false)
        #expect(device?.data.manufacturerData.count == 3)
        for part in parts.dropLast() { scanner.feed(ScanEvents.extended(1, part, type: ScanEvents.more)) }
        #expect(scanner.feed(ScanEvents.extended(1, parts[2])).isEmpty)
    }

    @Test(
        "T15: up to 8 advertisers and sets interleaved in any order, each put together from its own fragments",
        arguments: 1...50
    )
    func interleaved(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var scanner = Scanner.scanning(.extended)
        let count = Int.random(in: 1...8, using: &random)
        var pending: [(device: UInt64, parts: [[UInt8]])] = []
        var expected: [UInt64: [UInt8]] = [:]
        for index in 0..<count {
            let whole = payload(Int.random(in: 1...1650, using: &random), seed: UInt8(index))
            var sizes: [Int] = []
            while sizes.reduce(0, +) + 229 < whole.count { sizes.append(Int.random(in: 1...229, using: &random)) }
            pending.append((UInt64(index + 1), fragments(whole, sizes)))
            expected[UInt64(index + 1)] = whole
        }
        while !pending.isEmpty {
            let index = Int.random(in: 0..<pending.count, using: &random)
            let part = pending[index].parts.removeFirst()
            let isLast = pending[index].parts.isEmpty
            scanner.feed(
                ScanEvents.extended(
                    pending[index].device,
                    part,
                    type: isLast ? 0x01 : ScanEvents.more,
                    sid: UInt8(pending[index].device & 7)
                )
            )
            if isLast { pending.remove(at: index) }
        }
        for (device, whole) in expected {
            #expect(scanner.devices[ScanEvents.device(device)]?.advertisement == whole)
        }
        #expect(scanner.devices.counters.partialsDropped == 0)
    }

    @Test(
        "T15: with more advertisers than slots each advertisement is right, or a beginning that is marked",
        arguments: 1...50
    )
    func crowded(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var scanner = Scanner.scanning(.extended)
        var pending = (UInt64(1)...30).map { device in
            (device: device, parts: fragments(payload(500, seed: UInt8(device)), [200, 200]))
        }
        var passedOn = 0
        while !pending.isEmpty {
            let index = Int.random(in: 0..<pending.count, using: &random)
            let part = pending[index].parts.removeFirst()
            let isLast = pending[index].parts.isEmpty
            let updates = scanner.feed(
                ScanEvents.extended(pending[index].device, part, type: isLast ? 0x01 : ScanEvents.more)
            )
            for update in updates {
                let device = update.device
                let whole = payload(500, seed: UInt8(truncatingIfNeeded: device.address.address.rawValue))
                if !device.isTruncated { passedOn += 1 }
                #expect(
                    device.advertisement
                        == (device.isTruncated ? Array(whole.prefix(device.advertisement.count)) : whole)
                )
            }
            if isLast { pending.remove(at: index) }
        }
        let counters = scanner.devices.counters
        #expect(counters.partialsDropped > 0)
        #expect(counters.fragmentsDiscarded > 0)
        #expect(UInt64(passedOn) + counters.partialsDropped == 30)
    }

    @Test("T15: two sets of one device do not mix")
    func sets() {
        var scanner = Scanner.scanning(.extended)
        let (first, second) = (payload(300, seed: 1), payload(300, seed: 2))
        scanner.feed(ScanEvents.extended(1, Array(first[..<200]), type: ScanEvents.more, sid: 1))
        scanner.feed(ScanEvents.extended(1, Array(second[..<200]), type: ScanEvents.more, sid: 2))
        let one = scanner.feed(ScanEvents.extended(1, Array(first[200...]), sid: 1))
        let two = scanner.feed(ScanEvents.extended(1, Array(second[200...]), sid: 2))
        #expect(one.map(\.device.advertisement) == [first])
        #expect(two.map(\.device.advertisement) == [second])
    }

    @Test("T15: the fragments of an advertisement and of its scan response do not mix")
    func scanResponses() {
        var scanner = Scanner.scanning(.extended)
        let (first, second) = (payload(300, seed: 1), payload(300, seed: 2))
        let response: UInt8 = 0x08
        scanner.feed(ScanEvents.extended(1, Array(first[..<200]), type: ScanEvents.more))
        scanner.feed(ScanEvents.extended(1, Array(second[..<200]), type: ScanEvents.more | response))
        scanner.feed(ScanEvents.extended(1, Array(first[200...])))
        scanner.feed(ScanEvents.extended(1, Array(second[200...]), type: 0x01 | response))
        #expect(scanner.devices[ScanEvents.device(1)]?.advertisement == first)
        #expect(scanner.devices[ScanEvents.device(1)]?.scanResponse == second)
    }

    @Test("T15: an advertisement that never ends is cut at 1,650 bytes and marked")
    func overlong() {
        var scanner = Scanner.scanning(.extended)
        for seed in UInt8(1)...100 {
            scanner.feed(ScanEvents.extended(1, payload(229, seed: seed), type: ScanEvents.more))
        }
        #expect(scanner.feed(ScanEvents.extended(1, payload(229, seed: 0))).map(\.device.isTruncated) == [true])
        #expect(scanner.devices[ScanEvents.device(1)]?.advertisement.count == 1650)
        #expect(scanner.devices.counters.badData == 0)
    }

    @Test("T15: truncated data is used and marked; it does not replace whole data that begins with it")
    func truncated() {
        var scanner = Scanner.scanning(.extended)
        let whole = payload(300, seed: 1)
        scanner.feed(ScanEvents.extended(1, Array(whole[..<200]), type: ScanEvents.more))
        let cut = scanner.feed(ScanEvents.extended(1, Array(whole[200..<250]), type: ScanEvents.truncated))
        #expect(cut.map(\.device.isTruncated) == [true])
        #expect(cut.map(\.device.advertisement.count) == [250])
        scanner.feed(ScanEvents.extended(1, Array(whole[..<200]), type: ScanEvents.more))
        let full = scanner.feed(ScanEvents.extended(1, Array(whole[200...])))
        #expect(full.map(\.device.isTruncated) == [false])
        #expect(scanner.feed(ScanEvents.extended(1, Array(whole[..<200]), type: ScanEvents.truncated)).isEmpty)
        #expect(scanner.devices[ScanEvents.device(1)]?.advertisement == whole)
    }

    @Test("T15: an advertisement whose rest never comes is listed as truncated when its first fragment comes again")
    func beginsAgain() {
        var scanner = Scanner.scanning(.extended)
        let part = ScanEvents.name("SCAN") + payload(30, seed: 1)
        #expect(scanner.feed(ScanEvents.extended(1, part, type: ScanEvents.more)).isEmpty)
        let updates = scanner.feed(
            ScanEvents.extended(1, part, type: ScanEvents.more, rssi: -70),
            at: .milliseconds(150)
        )
        #expect(updates.map(\.change) == [.appeared])
        let device = updates.first?.device
        #expect(device?.name?.text == "SCAN")
        #expect(device?.isTruncated == true)
        #expect(device?.isConnectable == true)
        #expect(device?.advertisement == part)
        #expect(device?.rssi == -50)
        for round in 2...100 {
            let now = Duration.milliseconds(150 * round)
            #expect(scanner.feed(ScanEvents.extended(1, part, type: ScanEvents.more), at: now).isEmpty)
        }
        #expect(scanner.devices[ScanEvents.device(1)]?.advertisement == part)
        #expect(scanner.devices.counters.partialsDropped == 100)
        // The rest arrives: the complete data replace the truncated ones.
        let whole = scanner.feed(ScanEvents.extended(1, [2, 1, 6]), at: .seconds(16))
        #expect(whole.map(\.device.isTruncated) == [false])
        #expect(whole.map(\.device.advertisement) == [part + [2, 1, 6]])
    }

    @Test(
        "T15: an advertisement whose rest never comes is listed as truncated when it expires, and passed on after that"
    )
    func neverContinued() {
        var scanner = Scanner.scanning(.extended, devices: DeviceTable(filter: ScanFilter(name: .exactly("SCAN"))))
        let part = ScanEvents.name("SCAN")
        let more = UInt8(0x08) | ScanEvents.more
        scanner.feed(ScanEvents.extended(1, part, type: ScanEvents.more))
        scanner.feed(ScanEvents.extended(2, payload(20, seed: 2), type: ScanEvents.more))
        scanner.feed(ScanEvents.extended(2, part, type: more))
        _ = scanner.devices.expire(now: .milliseconds(4999))
        #expect(scanner.devices.count == 0)
        _ = scanner.devices.expire(now: .seconds(5))
        #expect(scanner.devices.devices.map(\.address.address.rawValue) == [1, 2])
        #expect(scanner.devices.devices.map(\.isTruncated) == [true, true])
        #expect(scanner.devices.devices.map(\.reports) == [1, 1])
        #expect(scanner.devices[ScanEvents.device(2)]?.scanResponse == part)
        let updates = scanner.feed(ScanEvents.legacy(3, []), at: .seconds(6))
        #expect(updates.map(\.device.address.address.rawValue) == [1, 2])
        #expect(scanner.feed(ScanEvents.legacy(3, []), at: .seconds(7)).isEmpty)
        // The device has been silent for a minute since its last fragment.
        #expect(scanner.devices.expire(now: .seconds(60)).count == 2)
    }

    @Test("T15: a partial advertisement is given up after 5 s, and the next one begins anew")
    func timeOut() {
        for (pause, isDropped) in [(Duration.milliseconds(4999), false), (.seconds(5), true)] {
            var scanner = Scanner.scanning(.extended)
            let whole = payload(300, seed: 1)
            scanner.feed(ScanEvents.extended(1, [9, 9, 9], type: ScanEvents.more))
            scanner.feed(ScanEvents.extended(1, Array(whole[..<200]), type: ScanEvents.more), at: pause)
            scanner.feed(ScanEvents.extended(1, Array(whole[200...])), at: pause)
            #expect(scanner.devices[ScanEvents.device(1)]?.advertisement == (isDropped ? whole : [9, 9, 9] + whole))
            #expect(scanner.devices.counters.partialsDropped == (isDropped ? 1 : 0))
        }
    }

    @Test("T15: an advertisement without an address is counted and is no device")
    func anonymous() {
        var scanner = Scanner.scanning(.extended)
        #expect(scanner.feed(ScanEvents.extended(0, payload(20, seed: 1), addressType: 0xFF)).isEmpty)
        #expect(scanner.devices.count == 0)
        #expect(scanner.devices.counters.anonymous == 1)
    }
}

@Suite struct FloodTests {
    @Test("T14, T15, T16: 100,000 random events, wild and nearly sound, trap nothing and keep every bound")
    func flood() {
        var random = SeededGenerator(seed: 20_260_101)
        var scanner = Scanner.scanning(.extended, devices: DeviceTable(reportsDuplicates: true))
        var now = Duration.zero
        var fed = 0
        for round in 0..<100_000 {
            now += .microseconds(Int64.random(in: 0...3000, using: &random))
            var event: [UInt8]
            let data = (0..<Int.random(in: 0...31, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
            }
            let device = UInt64.random(in: 0...2000, using: &random)
            let rssi = Int8.random(in: -128...127, using: &random)
            switch round % 4 {
            case 0:
                event = (0..<Int.random(in: 0...260, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            case 1:
                event = ScanEvents.legacy(device, data, type: UInt8.random(in: 0...4, using: &random), rssi: rssi)
            case 2:
                let type = UInt8.random(in: 0...0x7F, using: &random)
                event = ScanEvents.extended(device, data, type: type, sid: UInt8(device & 3), rssi: rssi)
            default:
                event = ScanEvents.extended(device, data, type: ScanEvents.more, rssi: rssi)
                let position = Int.random(in: 0..<event.count, using: &random)
                event[position] = UInt8.random(in: 0...255, using: &random)
            }
            fed += 1
            scanner.feed(event, at: now)
            if scanner.state != .scanning { scanner = .scanning(.extended, devices: scanner.devices) }
            #expect(scanner.devices.count <= DeviceTable.capacity)
        }
        let counters = scanner.devices.counters
        #expect(fed == 100_000)
        #expect(counters.reports > 40_000)
        #expect(counters.badEvents > 20_000)
        #expect(counters.badData > 0)
        #expect(counters.partialsDropped > 0)
        #expect(counters.devicesDropped > 0)
        #expect(scanner.devices.devices.allSatisfy { $0.advertisement.count <= 1650 && $0.scanResponse.count <= 1650 })
    }
}
