// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Devices
import Glibc
import HIDHost
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@Suite("The services of HID devices", .timeLimit(.minutes(10)))
struct HIDDeviceStoreTests {
    private static let adapter = BluetoothAddress(rawValue: 0x00AA_0100_0042)
    private static let record = """
        1 service=0010,002A,0111,21,03 map=05071500256575089501190029658100 report=0016,0017,01,01 \
        changed=0005,0006
        """

    private func address(_ number: UInt64, _ type: AddressType = .random) -> DeviceAddress {
        DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_0000 + number), type)
    }

    private func device(version: UInt16 = 0x0111) throws -> HIDDevice {
        var device = try HIDDevice(record: Self.record)
        device.services[0].version = version
        return device
    }

    private func store(_ directory: TestDirectory) -> HIDDeviceStore {
        HIDDeviceStore(FilePath(directory.path).appending("state").appending("hid-devices"))
    }

    private func text(_ store: HIDDeviceStore) throws -> [UInt8] {
        let file = try #require(fopen(store.path.string, "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 21)
        return Array(bytes[..<fread(&bytes, 1, bytes.count, file)])
    }

    private func write(_ bytes: [UInt8], _ store: HIDDeviceStore) throws {
        let file = try #require(fopen(store.path.string, "w"))
        defer { fclose(file) }
        #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    }

    @Test("Services are stored by adapter, address and type, and replaced by later ones; only the owner can read them")
    func keys() throws {
        let directory = try TestDirectory()
        let store = store(directory)
        #expect(try store.load(Self.adapter, address(1)) == nil)
        let other = BluetoothAddress(rawValue: 1)
        try store.keep(Self.adapter, address(1), device(version: 1))
        try store.keep(other, address(1), device(version: 2))
        try store.keep(Self.adapter, address(1, .public), device(version: 3))
        try store.keep(Self.adapter, address(2), device(version: 4))
        try store.keep(Self.adapter, address(1), device(version: 5))
        #expect(try store.load(Self.adapter, address(1)) == device(version: 5))
        #expect(try store.load(other, address(1)) == device(version: 2))
        #expect(try store.load(Self.adapter, address(1, .public)) == device(version: 3))
        #expect(try store.load(Self.adapter, address(2)) == device(version: 4))
        #expect(try store.load(other, address(2)) == nil)
        var status = stat()
        #expect(stat(store.path.string, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let lines = try text(store).split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        #expect(lines.count == 5 && lines[0] == "# blewedge-hid-devices")
        let first = "hid 00:AA:01:00:00:42 F0:F1:F2:F3:00:01 random \(try device(version: 5).record)"
        #expect(lines[1] == RecordChecksum.appended(to: first))
    }

    @Test("A device is forgotten on all adapters, and by no other address")
    func forget() throws {
        let directory = try TestDirectory()
        let store = store(directory)
        #expect(try !store.forget(address(1).address))
        let other = BluetoothAddress(rawValue: 1)
        for (adapter, number) in [(Self.adapter, UInt64(1)), (other, 1), (other, 2)] {
            try store.keep(adapter, address(number), device())
        }
        #expect(try !store.forget(address(3).address))
        #expect(try store.forget(address(1).address))
        #expect(try store.load(Self.adapter, address(1)) == nil && store.load(other, address(1)) == nil)
        #expect(try store.load(other, address(2)) == device())
        #expect(try !store.forget(address(1).address))
    }

    @Test("Services that are already stored are not written again")
    func unchanged() throws {
        let directory = try TestDirectory()
        let store = store(directory)
        try store.keep(Self.adapter, address(1), device())
        try store.keep(Self.adapter, address(2), device())
        let before = try text(store)
        // If this call changed the file, device 1 would be the first one.
        try store.keep(Self.adapter, address(1), device())
        #expect(try text(store) == before)
    }

    @Test("Of more than 32 devices, or more than a megabyte, the oldest are dropped")
    func limits() throws {
        let directory = try TestDirectory()
        let store = store(directory)
        for number in 0...UInt64(HIDDeviceStore.capacity) { try store.keep(Self.adapter, address(number), device()) }
        #expect(try store.load(Self.adapter, address(0)) == nil)
        for number in 1...UInt64(HIDDeviceStore.capacity) {
            #expect(try store.load(Self.adapter, address(number)) == device())
        }
        var large = try device()
        let service = large.services[0]
        large.services = (UInt16(0)..<8).map { number in
            let start = AttributeHandle(number * 0x100 + 1)
            let end = AttributeHandle(number * 0x100 + 0x80)
            let range = AttributeHandleRange(start: start, end: end)
            let padding = [UInt8](repeating: 0x54, count: 4096 - service.map.count)
            return HIDDevice.Service(range: range, map: padding + service.map)
        }
        for number in 100..<UInt64(120) { try store.keep(Self.adapter, address(number), large) }
        #expect(try text(store).count <= 1 << 20)
        #expect(try store.load(Self.adapter, address(119)) == large)
        #expect(try store.load(Self.adapter, address(105)) == large)
        #expect(try store.load(Self.adapter, address(100)) == nil)
    }

    @Test(
        "A file with a changed, missing or torn byte gives the same services or a fault, and is mended by the next change"
    )
    func corruption() throws {
        let directory = try TestDirectory()
        let store = store(directory)
        let expected = try device()
        try store.keep(Self.adapter, address(1), expected)
        let bytes = try text(store)
        let headingEnd = try #require(bytes.firstIndex(of: 0x0A))
        var refused = 0
        for index in bytes.indices {
            var variants = [Array(bytes[..<index]), Array(bytes[..<index] + bytes[(index + 1)...])]
            for change: UInt8 in [bytes[index] ^ 1, bytes[index] ^ 0x20, 0x0A, 0xFF] where change != bytes[index] {
                var changed = bytes
                changed[index] = change
                variants.append(changed)
            }
            for (number, variant) in variants.enumerated() {
                try write(variant, store)
                do throws(HIDDeviceStore.Failure) {
                    let found = try store.load(Self.adapter, address(1))
                    // The record is gone with a torn heading only.
                    if number == 0, index <= headingEnd + 1 { continue }
                    #expect(found == expected, "\(index)")
                } catch {
                    guard case .line(_, .damaged) = error else {
                        Issue.record("\(error)")
                        continue
                    }
                    refused += 1
                }
            }
        }
        #expect(refused > 3 * (bytes.count - headingEnd))
        try store.keep(Self.adapter, address(2), expected)
        #expect(try store.load(Self.adapter, address(1)) == nil)
        #expect(try store.load(Self.adapter, address(2)) == expected)
    }

    @Test("A record of another version, or an invalid one with the right checksum, is refused with its line and place")
    func otherVersions() throws {
        let directory = try TestDirectory()
        let store = store(directory)
        try store.keep(Self.adapter, address(2), device())
        let good = try text(store)
        for (record, fault) in [
            ("2 services", HIDRecordFault(offset: 0, reason: .unknownVersion)),
            ("1 mode=0001", HIDRecordFault(offset: 2, reason: .handleOutOfOrder)),
        ] {
            let line = RecordChecksum.appended(to: "hid \(Self.adapter) \(address(1).address) random \(record)")
            try write(good + Array((line + "\n").utf8), store)
            #expect(throws: HIDDeviceStore.Failure.line(3, .record(fault))) {
                try store.load(Self.adapter, address(1))
            }
            #expect(try store.load(Self.adapter, address(2)) == device())
            #expect(try store.load(Self.adapter, address(3)) == nil)
            #expect(try store.forget(address(1).address))
            #expect(try text(store) == good)
        }
        for line in [
            "x \(Self.adapter) \(address(1).address) random 1", "hid \(Self.adapter) \(address(1).address) other 1",
            "hid \(Self.adapter) \(address(1).address) random", "hid 1 \(address(1).address) random 1",
            "hid \(Self.adapter) 1 random 1",
        ] {
            try write(good + Array(RecordChecksum.appended(to: line).utf8), store)
            #expect(throws: HIDDeviceStore.Failure.line(3, .damaged)) { try store.load(Self.adapter, address(1)) }
        }
    }

    @Test("A file that cannot be read or written is reported, and stays as it is")
    func files() throws {
        let directory = try TestDirectory()
        let store = store(directory)
        try store.keep(Self.adapter, address(1), device())
        try write([UInt8](repeating: 0x23, count: (1 << 20) + 1), store)
        #expect(throws: HIDDeviceStore.Failure.file(.unreadable(store.path, .fileTooLarge))) {
            try store.load(Self.adapter, address(1))
        }
        #expect(throws: HIDDeviceStore.FileFailure.self) { try store.keep(Self.adapter, address(2), device()) }
        #expect(throws: HIDDeviceStore.FileFailure.self) { try store.forget(address(1).address) }
        let linked = HIDDeviceStore(FilePath(directory.path).appending("link"))
        try #require(link(store.path.string, linked.path.string) == 0)
        #expect(throws: HIDDeviceStore.Failure.file(.irregular(linked.path))) {
            try linked.load(Self.adapter, address(1))
        }
    }
}
