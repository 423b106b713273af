// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

@Suite struct DeviceTableTests {
    private let name = ScanEvents.name("LINBLE-TEST")

    private func scanner(_ filter: ScanFilter = ScanFilter(), duplicates: Bool = false) -> Scanner {
        .scanning(.legacy, devices: DeviceTable(filter: filter, reportsDuplicates: duplicates))
    }

    @Test("Without duplicates each device is reported once, and again when its data changes")
    func once() {
        var scanner = scanner()
        #expect(scanner.feed(ScanEvents.legacy(1, name)).map(\.change) == [.appeared])
        for second in 1...5 {
            #expect(scanner.feed(ScanEvents.legacy(1, name, rssi: -30), at: .seconds(second)).isEmpty)
        }
        #expect(scanner.feed(ScanEvents.legacy(1, name + [2, 1, 6])).map(\.change) == [.changed])
        #expect(scanner.feed(ScanEvents.legacy(1, name + [2, 1, 6])).isEmpty)
        #expect(scanner.feed(ScanEvents.legacy(1, name)).map(\.change) == [.changed])
        #expect(scanner.feed(ScanEvents.legacy(2, [])).map(\.change) == [.appeared])
        #expect(scanner.devices[ScanEvents.device(1)]?.reports == 9)
    }

    @Test("With duplicates every advertisement is reported")
    func duplicates() {
        var scanner = scanner(duplicates: true)
        let changes = (0..<3).flatMap { _ in scanner.feed(ScanEvents.legacy(1, name)).map(\.change) }
        #expect(changes == [.appeared, .heard, .heard])
    }

    @Test("CB-4: RSSI and time are those of the last report; an unknown RSSI keeps the last known one")
    func rssi() {
        var scanner = scanner()
        scanner.feed(ScanEvents.legacy(1, name, rssi: 127))
        #expect(scanner.devices[ScanEvents.device(1)]?.rssi == nil)
        scanner.feed(ScanEvents.legacy(1, name, rssi: -70), at: .seconds(1))
        scanner.feed(ScanEvents.legacy(1, name, rssi: 127), at: .seconds(2))
        #expect(scanner.devices[ScanEvents.device(1)]?.rssi == -70)
        #expect(scanner.devices[ScanEvents.device(1)]?.lastHeard == .seconds(2))
    }

    @Test("A scan response is merged by address and type, in either order, and says nothing of connectable")
    func merges() throws {
        for responseFirst in [false, true] {
            var scanner = scanner()
            let advertisement = ScanEvents.legacy(1, ScanEvents.services(0x180A))
            let response = ScanEvents.legacy(1, name, type: 4)
            scanner.feed(responseFirst ? response : advertisement)
            scanner.feed(responseFirst ? advertisement : response)
            let device = try #require(scanner.devices[ScanEvents.device(1)])
            #expect(device.name?.text == "LINBLE-TEST")
            #expect(device.services == [BluetoothUUID(0x180A as UInt16)])
            #expect(device.isConnectable)
            scanner.feed(ScanEvents.legacy(1, name, type: 4, random: false))
            #expect(scanner.devices.count == 2)
            let other = scanner.devices[DeviceAddress(BluetoothAddress(rawValue: 1), .public)]
            #expect(other?.services == [])
            #expect(other?.isConnectable == false)
        }
    }

    @Test("A name is kept when the next advertisement leaves it out or shortens it, and replaced by another one")
    func names() {
        var scanner = scanner()
        scanner.feed(ScanEvents.legacy(1, name))
        scanner.feed(ScanEvents.legacy(1, [2, 1, 6]))
        #expect(scanner.devices[ScanEvents.device(1)]?.name?.text == "LINBLE-TEST")
        scanner.feed(ScanEvents.legacy(1, [4, 8, 0x4C, 0x49, 0x4E]))
        #expect(scanner.devices[ScanEvents.device(1)]?.name?.text == "LINBLE-TEST")
        scanner.feed(ScanEvents.legacy(1, ScanEvents.name("other")))
        #expect(scanner.devices[ScanEvents.device(1)]?.name?.text == "other")
    }

    @Test("CB-2: a device with any of the given services passes the filter, and keeps passing it until it leaves")
    func serviceFilter() {
        var scanner = scanner(ScanFilter(services: [BluetoothUUID(0x180A as UInt16), BluetoothUUID(0x180F as UInt16)]))
        #expect(scanner.feed(ScanEvents.legacy(1, ScanEvents.services(0x1812, 0x180F))).map(\.change) == [.appeared])
        #expect(scanner.feed(ScanEvents.legacy(2, ScanEvents.services(0x1812))).isEmpty)
        #expect(scanner.feed(ScanEvents.legacy(3, [])).isEmpty)
        #expect(scanner.feed(ScanEvents.legacy(1, name)).map(\.change) == [.changed])
        #expect(scanner.devices.devices.map(\.address) == [ScanEvents.device(1)])
        #expect(scanner.devices.count == 3)
    }

    @Test("BT-3: a name is compared whole or by its beginning, letters of either case equal; it may come later")
    func nameFilter() {
        let cases: [(ScanFilter.Name, Bool)] = [
            (.exactly("linble-test"), true), (.exactly("LINBLE-TEST"), true), (.exactly("linble"), false),
            (.exactly("linble-test2"), false), (.prefix("Linble"), true), (.prefix(""), true),
            (.prefix("inble"), false),
        ]
        for (filter, isMatch) in cases {
            var scanner = scanner(ScanFilter(name: filter))
            #expect(scanner.feed(ScanEvents.legacy(1, ScanEvents.services(0x180A))).isEmpty)
            #expect(scanner.feed(ScanEvents.legacy(1, name, type: 4)).map(\.change) == (isMatch ? [.appeared] : []))
        }
    }

    @Test("LK-1: devices are sorted by descending signal strength, unknown strength last")
    func order() {
        var scanner = scanner()
        for (device, rssi) in [(1, -80), (2, -30), (3, 127), (4, -60), (5, 4)] as [(UInt64, Int8)] {
            scanner.feed(ScanEvents.legacy(device, name, rssi: rssi))
        }
        let numbers = { (table: DeviceTable) in table.devices.map(\.address.address.rawValue) }
        #expect(numbers(scanner.devices) == [5, 2, 4, 1, 3])
    }

    @Test("A device not heard for 60 s leaves, and not before")
    func expiry() {
        var scanner = scanner()
        scanner.feed(ScanEvents.legacy(1, name), at: .seconds(1))
        scanner.feed(ScanEvents.legacy(2, name), at: .seconds(2))
        scanner.feed(ScanEvents.legacy(1, name), at: .seconds(3))
        #expect(scanner.devices.expire(now: .milliseconds(61_999)).isEmpty)
        #expect(scanner.devices.expire(now: .seconds(62)) == [ScanEvents.device(2)])
        #expect(scanner.devices.expire(now: .seconds(1000)) == [ScanEvents.device(1)])
        #expect(scanner.devices.count == 0)
        #expect(scanner.feed(ScanEvents.legacy(2, name)).map(\.change) == [.appeared])
    }

    @Test("A table that does not fit keeps its strongest and its matching devices, and counts")
    func capacity() {
        var scanner = scanner(ScanFilter(name: .prefix("L")))
        scanner.feed(ScanEvents.legacy(1, name, rssi: -100))
        scanner.feed(ScanEvents.legacy(2, name, rssi: -90))
        for device in UInt64(10)..<1010 { scanner.feed(ScanEvents.legacy(device, [], rssi: -20)) }
        #expect(scanner.devices.count == DeviceTable.capacity)
        #expect(scanner.devices.counters.devicesDropped == 1002 - 256)
        #expect(scanner.devices.devices.map(\.address) == [ScanEvents.device(2), ScanEvents.device(1)])
        for device in UInt64(2000)..<2300 { scanner.feed(ScanEvents.legacy(device, name, rssi: -40)) }
        #expect(scanner.devices[ScanEvents.device(1)] == nil)
        #expect(scanner.devices[ScanEvents.device(2)] == nil)
        scanner.feed(ScanEvents.legacy(3000, name, rssi: -41))
        #expect(scanner.devices[ScanEvents.device(3000)] == nil)
        #expect(scanner.devices.count == DeviceTable.capacity)
        // Every device can still be found by its address.
        #expect(scanner.devices.devices.allSatisfy { scanner.devices[$0.address]?.address == $0.address })
    }

    @Test("A device with a known address is found in a crowd of stronger devices")
    func identityInACrowd() {
        let printed = BluetoothAddress(rawValue: 0xC0FF_EE01_0203)
        let carried: [UInt8] = [9, 0xFF, 0x4C, 0x00, 0xC0, 0xFF, 0xEE, 0x01, 0x02, 0x03]
        let place = ManufacturerAddressField(offset: 2)
        for (filter, data) in [
            (ScanFilter(identity: .init(ScanEvents.device(1).address)), name),
            (ScanFilter(identity: .init(ScanEvents.device(1).address, advertisedAt: place)), name),
            (ScanFilter(identity: .init(printed, advertisedAt: place)), carried),
            (ScanFilter(name: .exactly("linble-test")), name),
        ] {
            var scanner = scanner(filter, duplicates: true)
            for device in UInt64(10)..<10_010 { scanner.feed(ScanEvents.legacy(device, [2, 1, 6], rssi: -30)) }
            #expect(scanner.feed(ScanEvents.legacy(1, data, rssi: -99)).map(\.change) == [.appeared])
            for device in UInt64(20_000)..<21_000 { scanner.feed(ScanEvents.legacy(device, [2, 1, 6], rssi: -30)) }
            #expect(scanner.feed(ScanEvents.legacy(1, data, rssi: -99)).map(\.change) == [.heard])
            #expect(scanner.devices.devices.map(\.address) == [ScanEvents.device(1)])
            #expect(scanner.devices.count <= DeviceTable.capacity)
        }
    }

    @Test("Reports of others than the one address are counted, and nobody else is listed")
    func onlyAddress() {
        var scanner = scanner(ScanFilter(identity: .init(ScanEvents.device(1).address)))
        for device in UInt64(2)..<100 { #expect(scanner.feed(ScanEvents.legacy(device, name)).isEmpty) }
        #expect(scanner.devices.count == 0 && scanner.devices.counters.reports == 98)
        #expect(scanner.feed(ScanEvents.legacy(1, name)).map(\.change) == [.appeared])
        #expect(scanner.devices.count == 1 && scanner.devices.counters.reports == 99)
    }

    @Test("Of a full table the weakest leaves, unknown strength first; of equals the one heard longer ago")
    func leaving() {
        var scanner = scanner(ScanFilter(name: .exactly("nobody")))
        let capacity = UInt64(DeviceTable.capacity)
        for device in 1...capacity { scanner.feed(ScanEvents.legacy(device, [], rssi: device == 9 ? 127 : -60)) }
        // Device 1 was received again, device 7 is weaker, and device 8 was weaker at first.
        scanner.feed(ScanEvents.legacy(1, [], rssi: -60))
        scanner.feed(ScanEvents.legacy(7, [], rssi: -61))
        scanner.feed(ScanEvents.legacy(8, [], rssi: -62))
        scanner.feed(ScanEvents.legacy(8, [], rssi: -59))
        var left: [UInt64] = []
        for newcomer in 1...6 as ClosedRange<UInt64> {
            scanner.feed(ScanEvents.legacy(1000 + newcomer, [], rssi: -20))
            left += (1...capacity).filter { scanner.devices[ScanEvents.device($0)] == nil && !left.contains($0) }
        }
        #expect(left == [9, 7, 2, 3, 4, 5])
        #expect(scanner.devices.count == DeviceTable.capacity)
        // Devices in a table that had free entries in the meantime, and is full again.
        for device in UInt64(20)...UInt64(30) {
            let time = Duration.milliseconds(Int64(58_000 + device))
            scanner.feed(ScanEvents.legacy(device, [], rssi: device == 25 ? -99 : -50), at: time)
        }
        #expect(scanner.devices.expire(now: .seconds(60)).count == DeviceTable.capacity - 11)
        for newcomer in 0..<(capacity - 9) {
            scanner.feed(ScanEvents.legacy(2000 + newcomer, [], rssi: -20), at: .seconds(60))
        }
        #expect(scanner.devices.count == DeviceTable.capacity)
        #expect((20...30).filter { scanner.devices[ScanEvents.device($0)] == nil } == [20, 25])
    }

    @Test("In a full table, who was silent for 60 s gives way to anybody, though nobody else asks for it")
    func passersBy() {
        var scanner = scanner()
        for device in UInt64(10)..<1010 { scanner.feed(ScanEvents.legacy(device, name, rssi: -30)) }
        scanner.feed(ScanEvents.legacy(2, name, rssi: -20), at: .seconds(1))
        scanner.feed(ScanEvents.legacy(2, name, rssi: -80), at: .seconds(59))
        #expect(scanner.feed(ScanEvents.legacy(1, name, rssi: -90), at: .seconds(59)).isEmpty)
        #expect(scanner.feed(ScanEvents.legacy(1, name, rssi: -90), at: .seconds(60)).map(\.change) == [.appeared])
    }

    @Test("T14: AD structures with a fault are counted once, and the good head used")
    func badData() {
        var scanner = scanner()
        for _ in 0..<3 { scanner.feed(ScanEvents.legacy(1, name + [9, 0xFF])) }
        #expect(scanner.devices.counters.badData == 1)
        #expect(scanner.devices[ScanEvents.device(1)]?.name?.text == "LINBLE-TEST")
    }

    @Test("A directed advertisement without data says nothing about the data")
    func directed() {
        var scanner = scanner()
        scanner.feed(ScanEvents.legacy(1, name))
        #expect(scanner.feed(ScanEvents.legacy(1, [], type: 1)).isEmpty)
        #expect(scanner.devices[ScanEvents.device(1)]?.advertisement == name)
    }
}
