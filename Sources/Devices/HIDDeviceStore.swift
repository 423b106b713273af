// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
package import BluetoothPackets
package import HIDHost
package import LinuxIO
package import SystemPackage

/// The file with the services of bonded HID devices, one record per line, the most recent first.
///
/// Each line is a `HIDDevice.record` with the addresses of the adapter and of the device's identity, and a checksum:
/// ```
/// hid 00:AA:01:00:00:42 F0:F1:F2:F3:F4:F5 random 1 service=0010,002A,0111,00,03 … crc=…
/// ```
/// A line that is torn, edited or of another version is not used, and its device is discovered again. A torn or edited
/// line is removed at the next change; a line of another version is removed when its device is stored or forgotten.
/// Only the owner can access the file (0600) and its directory (0700). The file is replaced atomically.
package struct HIDDeviceStore: Sendable {
    /// Error for the file as a whole; it never occurs, because each faulty line is skipped.
    package enum Fault: Error, Equatable, Sendable {}

    /// The reason why a line is not used.
    package enum LineFault: Error, Equatable, Sendable {
        /// The checksum is missing or wrong, or the line has no addresses.
        case damaged
        /// The checksum is right, but the record is invalid or of another version.
        case record(HIDRecordFault)
    }

    /// The cause of a failed change; the file is unchanged.
    package typealias FileFailure = KeptFile<Fault>.Failure

    /// The reason why the services of a device could not be read.
    package enum Failure: Error, Equatable, Sendable {
        case file(FileFailure)
        /// The line, counted from 1, may be the record of the device, but is not used.
        case line(Int, LineFault)
    }

    /// Maximum number of devices; if there are more, those that were stored first are dropped.
    package static let capacity = 32
    /// Maximum size of the file in bytes, which is reached only by devices with very long report maps.
    private static let limit = 1 << 20
    private static let heading = "# blewedge-hid-devices"
    /// Name of the user that `blewedge setup` creates for the service.
    private static let service = "blewedge"

    private let file: KeptFile<Fault>

    package var path: FilePath { file.path }

    /// Creates a store for a file, which need not exist.
    package init(_ path: FilePath) { file = KeptFile(private: path, limit: Self.limit, service: Self.service) }

    /// Reads the services of a device with this identity, bonded with the adapter at this address.
    ///
    /// Returns nil if the file has no record of the device. Throws `line` if the device's record is invalid, or if
    /// there is no record but a damaged line that may have been it.
    package func load(_ adapter: BluetoothAddress, _ device: DeviceAddress) throws(Failure) -> HIDDevice? {
        let stored: [(number: Int, text: String)]
        do throws(FileFailure) { stored = try lines() } catch { throw .file(error) }
        var damaged: (number: Int, fault: LineFault)?
        for (number, text) in stored {
            guard let line = Line(text) else {
                if damaged == nil { damaged = (number, .damaged) }
                continue
            }
            guard line.adapter == adapter, line.device == device else { continue }
            do throws(HIDRecordFault) {
                return try HIDDevice(record: line.record)
            } catch {
                throw .line(number, .record(error))
            }
        }
        if let damaged { throw .line(damaged.number, damaged.fault) }
        return nil
    }

    /// Stores the services of a bonded device in place of earlier ones; does nothing if they are already stored.
    package func keep(
        _ adapter: BluetoothAddress,
        _ device: DeviceAddress,
        _ services: HIDDevice
    ) throws(FileFailure) {
        let line = Line(adapter: adapter, device: device, record: services.record)
        func isStored() throws(FileFailure) -> Bool { try lines().contains { $0.text == line.text } }
        guard try !isStored() else { return }
        try change { lines in [line] + lines.filter { $0.adapter != adapter || $0.device != device } }
    }

    /// Removes the services of the device at this address, on any adapter; returns false if there were none.
    @discardableResult
    package func forget(_ address: BluetoothAddress) throws(FileFailure) -> Bool {
        func isMeant(_ line: Line) -> Bool { line.device.address == address }
        guard try lines().compactMap({ Line($0.text) }).contains(where: isMeant) else { return false }
        try change { lines in lines.filter { !isMeant($0) } }
        return true
    }

    /// Replaces the valid lines, while no other process can change the file.
    private func change(_ body: ([Line]) -> [Line]) throws(FileFailure) {
        try file.withLock(refused: { $0 }) { () throws(FileFailure) in
            let lines = body(try lines().compactMap { Line($0.text) })
            var text = Self.heading + "\n"
            for line in lines.prefix(Self.capacity) {
                guard text.utf8.count + line.text.utf8.count < Self.limit else { break }
                text += line.text + "\n"
            }
            try file.write(text)
        }
    }

    /// Lines of the file without the heading, with their numbers, counted from 1.
    private func lines() throws(FileFailure) -> [(number: Int, text: String)] {
        let bytes = try file.read { $0 } ?? []
        return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
            .map { ($0.offset + 1, String(decoding: $0.element, as: UTF8.self)) }
            .filter { !$0.1.isEmpty && $0.1 != Self.heading }
    }
}

/// Line of the file whose checksum is right; the record is not parsed yet.
private struct Line {
    private static let word = "hid"

    let adapter: BluetoothAddress
    let device: DeviceAddress
    let record: String
    let text: String

    init(adapter: BluetoothAddress, device: DeviceAddress, record: String) {
        self.adapter = adapter
        self.device = device
        self.record = record
        text = RecordChecksum.appended(
            to: "\(Self.word) \(adapter) \(device.address) \(device.type) \(record)"
        )
    }

    /// Parses a line; returns nil for any text that `text` does not produce.
    init?(_ text: String) {
        guard let checked = RecordChecksum.removed(from: text) else { return nil }
        let words = checked.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
        guard words.count == 5, words[0] == Self.word, let adapter = BluetoothAddress(words[1]),
            let address = BluetoothAddress(words[2]),
            let type = AddressType.allCases.first(where: { "\($0)" == words[3] })
        else { return nil }
        self.init(adapter: adapter, device: DeviceAddress(address, type), record: String(words[4]))
        guard self.text == text else { return nil }
    }
}
