// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

@testable import BluetoothAdapters
@testable import BluetoothLE

@Suite(.timeLimit(.minutes(10))) struct ScanTests {
    /// AD structures: flags, the battery service, and a name.
    private static let data: [UInt8] = [0x02, 0x01, 0x06, 0x03, 0x03, 0x0F, 0x18, 0x02, 0x09, 0x41]

    @Test("A scan reports what it hears, each device once, with all fields; duplicates when asked")
    func reports() async throws {
        let adapter = try await BluetoothAdapter.fake()
        let central = Central(adapter)
        let reports = try await central.scan(ScanFilter(services: [Script.battery]))
        try await adapter.fake { adapter in
            adapter.scanners[0].hear(0xF0F1_F2F3_F4F5, Self.data)
            adapter.scanners[0].hear(0xF0F1_F2F3_F4F5, Self.data)
            adapter.scanners[0].hear(0xF0F1_F2F3_F4F6, [0x02, 0x01, 0x06])
        }
        var iterator = reports.makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first?.device.address == Script.device && first?.change == .appeared)
        #expect(first?.device.name?.text == "A" && first?.device.rssi == -50)
        #expect(first?.device.services == [Script.battery] && first?.device.isConnectable == true)

        // Another scan replaces the first one, whose sequence then ends.
        let all = try await central.scan(duplicates: true)
        #expect(try await iterator.next() == nil)
        #expect(try await adapter.fake { $0.scanners.count } == 1)
        try await adapter.fake { adapter in
            for _ in 0..<3 { adapter.scanners[0].hear(0xF0F1_F2F3_F4F5, Self.data) }
        }
        var second = all.makeAsyncIterator()
        #expect(try await second.next()?.change == .appeared)
        #expect(try await second.next()?.change == .heard)
        #expect(try await second.next()?.change == .heard)
    }

    @Test("More reports than fit: the oldest are dropped and counted")
    func overflow() async throws {
        let adapter = try await BluetoothAdapter.fake()
        let reports = try await Central(adapter).scan(capacity: 2)
        try await adapter.fake { adapter in
            for number in 0..<5 { adapter.scanners[0].hear(0xF0F1_F2F3_F400 + UInt64(number), Self.data) }
        }
        #expect(reports.dropped == 3)
        var iterator = reports.makeAsyncIterator()
        #expect(try await iterator.next()?.device.address.address.rawValue == 0xF0F1_F2F3_F403)
    }

    @Test("The scan ends with its reader, or by stopScan")
    func ends() async throws {
        let adapter = try await BluetoothAdapter.fake()
        let central = Central(adapter)
        let reports = try await central.scan()
        let task = Task { for try await _ in reports {} }
        task.cancel()
        try await task.value
        #expect(try await adapter.until { !$0.scanners[0].isScanning })
        let others = try await central.scan()
        await central.stopScan()
        for try await _ in others { Issue.record("nothing was heard") }
        #expect(try await adapter.until { adapter in adapter.scanners.allSatisfy { !$0.isScanning } })
    }

    @Test("The scan rests while a connection is being made, and goes on after it")
    func restsWhileConnecting() async throws {
        let adapter = try await BluetoothAdapter.fake { adapter in
            Script.play(adapter)
            adapter.attempts = [nil]
        }
        let central = Central(adapter)
        let reports = try await central.scan()
        #expect(try await adapter.fake { $0.scanners[0].isScanning })
        let task = Task { try await central.connect(to: Script.device) }
        #expect(try await adapter.until { $0.begun >= 1 })
        #expect(try await adapter.fake { !$0.scanners[0].isScanning })
        task.cancel()
        _ = await task.result
        #expect(try await adapter.until { $0.scanners.last?.isScanning == true })
        withExtendedLifetime(reports) {}
    }

    @Test("A device that was reported before a connection is not new after it")
    func knownAfterConnecting() async throws {
        let adapter = try await BluetoothAdapter.fake(Script.play)
        let central = Central(adapter)
        let reports = try await central.scan()
        try await adapter.fake { $0.scanners[0].hear(0xF0F1_F2F3_F4F6, Self.data) }
        try await central.connect(to: Script.device)
        #expect(try await adapter.until { $0.scanners.last?.isScanning == true })
        try await adapter.fake { adapter in
            adapter.scanners.last?.hear(0xF0F1_F2F3_F4F6, Self.data)
            adapter.scanners.last?.hear(0xF0F1_F2F3_F4F7, Self.data)
        }
        var iterator = reports.makeAsyncIterator()
        for device: UInt64 in [0xF0F1_F2F3_F4F6, 0xF0F1_F2F3_F4F7] {
            let report = try await iterator.next()
            #expect(report?.change == .appeared && report?.device.address.address.rawValue == device)
        }
    }

    @Test("A scan that fails ends with the reason")
    func failure() async throws {
        let adapter = try await BluetoothAdapter.fake()
        let reports = try await Central(adapter).scan()
        try await adapter.fake { $0.scanners[0].onFailure?(.unsupported) }
        var iterator = reports.makeAsyncIterator()
        let error = await #expect(throws: BluetoothError.self) { try await iterator.next() }
        #expect(error == .scanFailed(cause: "the controller does not support scanning", remedy: nil))
    }

    @Test("An adapter that a scan finds gone is lost, before the system says so")
    func goneUnderScan() async throws {
        let adapter = try await BluetoothAdapter.fake()
        let states = await adapter.states()
        let reports = try await Central(adapter).scan()
        try await adapter.fake { $0.scanners[0].onFailure?(.adapterGone) }
        var reader = reports.makeAsyncIterator()
        await #expect(throws: BluetoothError.unavailable(.resetting, cause: "the adapter was lost", remedy: nil)) {
            try await reader.next()
        }
        var iterator = states.makeAsyncIterator()
        for state in [BluetoothState.poweredOn, .resetting, .poweredOn] { #expect(try await iterator.next() == state) }
    }

    @Test("The states of an adapter that is lost and comes back; what ran ends with the reason")
    func states() async throws {
        let port = FakePort()
        let adapter = try await BluetoothAdapter.fake(in: port, Script.play)
        let central = Central(adapter)
        let peripheral = try await central.connect(to: Script.device)
        let states = await adapter.states()
        let reports = try await central.scan()
        #expect(try await adapter.fake { $0.bonds == nil })
        let key = LongTermKey(
            [UInt8](repeating: 7, count: 16),
            isAuthenticated: false,
            isSecureConnections: true,
            role: .central
        )
        let made = Bond(
            identityAddress: Script.device,
            localAddress: BluetoothAddress(rawValue: 0xC0FF_EE00_0001),
            longTermKeys: [try #require(key)]
        )
        let bond = try #require(made)
        await adapter.use([bond])
        let pairing = Task { try await adapter.acceptPairing() }
        #expect(try await adapter.until { $0.windows.count == 1 })
        await adapter.unplug(port)
        var iterator = states.makeAsyncIterator()
        #expect(try await iterator.next() == .poweredOn)
        #expect(try await iterator.next() == .resetting)
        let lost = BluetoothError.unavailable(.resetting, cause: "fake0 was removed", remedy: "plug it in again")
        var reader = reports.makeAsyncIterator()
        await #expect(throws: lost) { try await reader.next() }
        await #expect(throws: lost) { try await pairing.value }
        #expect(await !peripheral.isConnected)
        await #expect(throws: lost) { try await central.connect(to: Script.device) }
        await adapter.plug(port)
        #expect(try await iterator.next() == .poweredOn)
        #expect(try await adapter.fake { $0.bonds == [bond] })
        try await central.connect(to: Script.device)
        #expect(await peripheral.isConnected)
    }

    @Test("An adapter that cannot be used says why")
    func unusable() async throws {
        let adapter = try BluetoothAdapter { (_, _) throws(AdapterError) in throw .blocked("hci0", isHard: false) }
        let error = await #expect(throws: BluetoothError.self) { try await adapter.start() }
        guard case .unavailable(.poweredOff, let cause, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause == "hci0 is blocked by rfkill (soft)")
        #expect(await adapter.state == .poweredOff)
    }
}
