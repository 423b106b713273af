// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Filter Accept List of a controller (Core 6.0, Vol 4, Part E, 7.8.15 to 7.8.17).
struct FilterAcceptList {
    /// Address_Type of the list entry that stands for anonymous advertisers.
    private static let anonymous: UInt8 = 0xFF

    private let capacity: Int
    /// Devices in the list; nil represents anonymous advertisers and does not count towards the size limit.
    private var entries: [DeviceAddress?] = []

    init(capacity: UInt8) {
        self.capacity = Int(capacity)
    }

    func contains(_ device: DeviceAddress?) -> Bool { entries.contains(device) }

    /// Executes LE Add Device To Filter Accept List (7.8.16).
    mutating func add(_ command: inout CommandReader) throws(Refusal) {
        let device = try Self.readEntry(&command)
        guard !contains(device) else { return }
        guard device == nil || entries.count(where: { $0 != nil }) < capacity else { throw .memoryCapacityExceeded }
        entries.append(device)
    }

    /// Executes LE Remove Device From Filter Accept List (7.8.17).
    mutating func remove(_ command: inout CommandReader) throws(Refusal) {
        let device = try Self.readEntry(&command)
        entries.removeAll { $0 == device }
    }

    private static func readEntry(_ command: inout CommandReader) throws(Refusal) -> DeviceAddress? {
        try command.readDevice(isIgnored: command.next == anonymous)
    }
}
