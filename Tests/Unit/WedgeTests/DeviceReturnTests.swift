// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import Control
import Daemon
import Devices
import LinuxIO
import Testing
import Texts

/// Selected devices that return with different advertisements.
@Suite("A device that comes back", .virtualTime, .timeLimit(.minutes(10)))
struct DeviceReturnTests {
    private static let address = BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5)
    private static let other = BluetoothAddress(rawValue: 0xC1C2_C3C4_C5C6)
    private static let name: [UInt8] = [0x02, 0x09, 0x41]

    /// Lets a device advertise repeatedly until a condition is met, for up to half a minute.
    private func advertise(_ bench: DaemonBench, _ packet: () -> Void, until condition: @escaping () -> Bool) throws
        -> Bool
    {
        for _ in 0..<300 {
            packet()
            let end = MonotonicClock.now + .milliseconds(100)
            _ = try bench.until { condition() || MonotonicClock.now > end }
            if condition() { return true }
        }
        return false
    }

    @Test("A device that was found by its name is connected to again by a directed advertisement, which has none")
    func directed() throws {
        for choice in [DeviceSelector.name("A"), .address(Self.address)] {
            let bench = try DaemonBench()
            bench.radio.onConnect = { _, completion in
                _ = bench.loop.schedule(at: .zero) { completion(.failure(.notEstablished)) }
            }
            let daemon = try bench.make(device: choice)
            daemon.start { _ in }
            #expect(try bench.until { bench.radio.listening == 1 })
            // An advertisement without a name identifies nothing before the first connection.
            bench.radio.advertiseDirected(Self.other)
            let named = { bench.radio.advertise(Self.address, Self.name) }
            #expect(try advertise(bench, named) { bench.radio.attempted.count == 1 })
            let directed = { bench.radio.advertiseDirected(Self.address) }
            #expect(try advertise(bench, directed) { bench.radio.attempted.count == 2 })
            #expect(Set(bench.radio.attempted) == [DeviceAddress(Self.address, .random)])
            try bench.end()
        }
    }

    @Test("A device at the address of the one that was found by its name is not taken under another name")
    func renamed() throws {
        let bench = try DaemonBench()
        bench.radio.onConnect = { _, completion in
            _ = bench.loop.schedule(at: .zero) { completion(.failure(.notEstablished)) }
        }
        let daemon = try bench.make(device: .name("A"))
        daemon.start { _ in }
        #expect(try bench.until { bench.radio.listening == 1 })
        let named = { bench.radio.advertise(Self.address, Self.name) }
        #expect(try advertise(bench, named) { bench.radio.attempted.count == 1 })
        let scans = bench.radio.scans
        #expect(try bench.until { bench.radio.scans > scans && bench.radio.listening == 1 })
        bench.radio.advertise(Self.address, [0x02, 0x09, 0x42])
        var turns = 0
        for _ in 0..<3 { _ = bench.loop.schedule(at: .zero) { turns += 1 } }
        #expect(try bench.until { turns == 3 })
        #expect(bench.radio.attempted.count == 1)
        #expect(try advertise(bench, named) { bench.radio.attempted.count == 2 })
        try bench.end()
    }

    @Test(
        "While the chosen device's name is on the air at another address, that is said, and not asked whether it is on"
    )
    func elsewhere() throws {
        let bench = try DaemonBench()
        try bench.store.write(SelectedDevice(DeviceAddress(Self.address, .random), name: "A"))
        let daemon = try bench.make()
        daemon.start { _ in }
        let named = { bench.radio.advertise(Self.other, Self.name) }
        #expect(try advertise(bench, named) { daemon.service.device.state == .failed })
        let reason = try #require(daemon.service.device.reason)
        let cause =
            "A is advertising from C1:C2:C3:C4:C5:C6 (random), not from its known address F0:F1:F2:F3:F4:F5 (random)"
        #expect(reason.cause.english == cause)
        #expect(reason.remedy?.english.contains("`blewedge use C1:C2:C3:C4:C5:C6`") == true)
        #expect(bench.radio.attempted.isEmpty)
        // A passive scan does not disturb the discovery of other programs.
        #expect(!bench.radio.isActive)
        // At its own address, the device is connected.
        let own = { bench.radio.advertise(Self.address, Self.name) }
        #expect(try advertise(bench, own) { !bench.radio.attempted.isEmpty })
        #expect(bench.radio.attempted == [DeviceAddress(Self.address, .random)])
        try bench.end()
    }
}
