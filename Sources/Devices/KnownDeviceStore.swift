// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets
package import LinuxIO
package import SystemPackage
import Texts

/// A device to which a connection was made, with the date of the last connection.
package struct KnownDevice: Equatable, Sendable {
    package var device: DeviceAddress
    /// Name that was advertised before a connection; nil if no name was heard.
    package var name: String?
    /// Date in UTC, such as `2026-11-27`.
    package var lastConnected: String

    package init(_ device: DeviceAddress, name: String?, lastConnected: String) {
        self.device = device
        self.name = name
        self.lastConnected = lastConnected
    }

    /// The device as a record of the file: a JSON object.
    package var record: String {
        var object = JSONObject()
        object.add("address", "\(device.address)")
        object.add("type", "\(device.type)")
        object.add("name", name)
        object.add("lastConnected", lastConnected)
        return object.text
    }

    /// Parses a record; returns nil for any text that `record` does not produce.
    package init?(record: Substring) {
        guard let value = try? JSONValue(Array(record.utf8), allowingNull: true),
            let address = value["address"]?.string.flatMap(BluetoothAddress.init),
            let type = AddressType.allCases.first(where: { "\($0)" == value["type"]?.string }),
            let date = value["lastConnected"]?.string
        else { return nil }
        self.init(DeviceAddress(address, type), name: value["name"]?.string, lastConnected: date)
        guard self.record == record else { return nil }
    }
}

/// The file that stores the devices of earlier connections, one record per line, the most recent first (CB-14).
///
/// A line that is not a record is skipped, and removed at the next change. The file is replaced atomically, at most
/// once a day for each device, so that frequent connections do not wear out a memory card.
package struct KnownDeviceStore: Sendable {
    /// Error for the file as a whole; it never occurs, because each faulty line is skipped.
    package enum Fault: Error, Equatable, Sendable {}
    package typealias Failure = KeptFile<Fault>.Failure

    /// Maximum number of devices; if there are more, the devices whose last connection is oldest are dropped.
    package static let capacity = 64

    private let file: KeptFile<Fault>

    /// Creates a store for a file, which need not exist.
    package init(_ path: FilePath) { file = KeptFile(path, limit: 1 << 16) }

    package func read() throws(Failure) -> [KnownDevice] {
        let known = try file.read { $0.split(separator: UInt8(ascii: "\n")) } ?? []
        return Array(
            known.lazy.compactMap { KnownDevice(record: Substring(decoding: $0, as: UTF8.self)) }.prefix(Self.capacity)
        )
    }

    /// Records a connection with a device; `seconds` is the time of the connection.
    ///
    /// If `name` is nil, the stored name is kept. A device with a private address is not stored, because it will not
    /// use that address again.
    package func note(_ device: DeviceAddress, name: String?, at seconds: Int = WallClock.seconds) throws(Failure) {
        switch device.kind {
        case .public, .staticRandom: break
        case .resolvablePrivate, .nonResolvablePrivate, .reserved: return
        }
        let date = String(WallClock.universal(seconds).prefix { $0 != "T" })
        func noted(in known: [KnownDevice]) -> KnownDevice? {
            let last = known.first { $0.device == device }
            let now = KnownDevice(device, name: name ?? last?.name, lastConnected: date)
            return now == last ? nil : now
        }
        guard noted(in: try read()) != nil else { return }
        try file.withLock(refused: { $0 }) { () throws(Failure) in
            let known = try read()
            guard let now = noted(in: known) else { return }
            try write([now] + known.filter { $0.device != device }.prefix(Self.capacity - 1))
        }
    }

    /// Removes the devices with this address; returns false if there were none.
    package func remove(_ address: BluetoothAddress) throws(Failure) -> Bool {
        guard try read().contains(where: { $0.device.address == address }) else { return false }
        try file.withLock(refused: { $0 }) { () throws(Failure) in
            try write(try read().filter { $0.device.address != address })
        }
        return true
    }

    private func write(_ known: [KnownDevice]) throws(Failure) {
        try file.write(known.map { $0.record + "\n" }.joined())
    }
}
