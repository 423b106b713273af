// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Devices
import SystemPackage
import TestSupport
import Testing

@Suite("The devices of earlier connections", .timeLimit(.minutes(10)))
struct KnownDeviceStoreTests {
    /// 2026-11-27T10:00:00Z.
    private static let morning = 1_795_773_600
    private static let day = 86_400

    private func device(_ number: UInt64, _ type: AddressType = .random) -> DeviceAddress {
        DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_0000 + number), type)
    }

    @Test("CB-14: devices are saved with their names and the dates of their last connections, the most recent first")
    func order() throws {
        let directory = try TestDirectory()
        let store = KnownDeviceStore(FilePath(directory.path).appending("devices"))
        #expect(try store.read() == [])
        try store.note(device(1), name: "LINBLE-TEST", at: Self.morning)
        try store.note(device(2, .public), name: nil, at: Self.morning)
        try store.note(device(1), name: nil, at: Self.morning + Self.day)
        let expected = [
            KnownDevice(device(1), name: "LINBLE-TEST", lastConnected: "2026-11-28"),
            KnownDevice(device(2, .public), name: nil, lastConnected: "2026-11-27"),
        ]
        #expect(try store.read() == expected)
        #expect(try store.remove(device(1).address))
        #expect(try !store.remove(device(1).address))
        #expect(try store.read() == [expected[1]])
    }

    @Test("The file is not written again on the same day")
    func oncePerDay() throws {
        let directory = try TestDirectory()
        let store = KnownDeviceStore(FilePath(directory.path).appending("devices"))
        try store.note(device(1), name: "A", at: Self.morning)
        try store.note(device(2), name: "B", at: Self.morning)
        // If this call changed the file, device 1 would be the first one.
        try store.note(device(1), name: "A", at: Self.morning + 3600)
        #expect(try store.read().map(\.name) == ["B", "A"])
        try store.note(device(1), name: "C", at: Self.morning + 3600)
        #expect(try store.read().map(\.name) == ["C", "B"])
    }

    @Test("A private address is not kept, and of too many devices the one connected the longest ago is dropped")
    func limits() throws {
        let directory = try TestDirectory()
        let store = KnownDeviceStore(FilePath(directory.path).appending("devices"))
        for address: UInt64 in [0x4000_0000_0001, 0x0000_0000_0001, 0x8000_0000_0001] {
            try store.note(DeviceAddress(BluetoothAddress(rawValue: address), .random), name: nil, at: Self.morning)
        }
        #expect(try store.read() == [])
        for number in 0...UInt64(KnownDeviceStore.capacity) {
            try store.note(device(number), name: nil, at: Self.morning)
        }
        let known = try store.read().map(\.device)
        #expect(known == (1...UInt64(KnownDeviceStore.capacity)).reversed().map { device($0) })
    }

    @Test("A line that is no record is skipped, and the others are kept")
    func brokenLine() throws {
        let directory = try TestDirectory()
        let store = KnownDeviceStore(FilePath(directory.path).appending("devices"))
        try store.note(device(1), name: "a\"\n\u{1B}", at: Self.morning)
        let record = KnownDevice(device(1), name: "a\"\n\u{1B}", lastConnected: "2026-11-27").record
        let broken = ["", "{", "[]", record + " ", "{\"address\":\"F0:F1:F2:F3:00:02\",\"type\":\"random\"}", "\u{0}"]
        try directory.write((broken + [record]).joined(separator: "\n"), to: "devices")
        #expect(try store.read().map(\.device) == [device(1)])
        try directory.write(String(repeating: record + "\n", count: 1 << 10), to: "devices")
        #expect(throws: KnownDeviceStore.Failure.self) { _ = try store.read() }
    }
}
