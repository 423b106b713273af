// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Devices
import HIDReports
import LinuxIO
import TestSupport
import Testing

@testable import Link

@Suite("A link with a device that only advertises", .virtualTime)
struct AdvertisedLinkTests {
    private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random)
    /// Service data of a scale: 0x181D, then ten bytes.
    private static let data: [UInt8] = [0x0D, 0x16, 0x1D, 0x18, 0x20, 0x34, 0x38, 0xE8, 0x07, 1, 1, 8, 0, 1]

    @Test("No value is passed before the profile that decodes it, even if it arrives while the link begins")
    func order() throws {
        let loop = try EventLoop()
        let radio = QuietRadio()
        let arbiter = RadioArbiter(on: loop, using: radio)
        // Another scan keeps the radio listening.
        let other = RadioScan(.background, devices: DeviceTable(filter: ScanFilter(), reportsDuplicates: true))
        arbiter.start(other)
        let profile = try #require(Profile(named: "xiaomi-scale"))
        let link = DeviceLink([profile], keys: KeyDecoder.Settings(), on: arbiter)
        var events: [String] = []
        link.onProfile = { events.append("profile \($0?.name ?? "none")") }
        link.onValue = { value, _ in events.append("value of \(value.count)") }
        link.listen(to: Self.device, in: try #require(profile.advertised), heard: nil)
        radio.advertise(Self.device.address, Self.data)
        _ = try loop.run { events.contains("profile xiaomi-scale") }
        radio.advertise(Self.device.address, Self.data)
        #expect(events == ["profile xiaomi-scale", "value of 10"])
        var isClosed = false
        link.close { isClosed = true }
        _ = try loop.run { isClosed }
        arbiter.stop(other)
    }
}
