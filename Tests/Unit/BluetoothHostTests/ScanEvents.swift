// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets

/// Events of a controller.
///
/// Core 6.0, Vol 4, Part E, 7.7.
enum ScanEvents {
    /// Returns Command Complete with a status.
    static func complete(_ opcode: HCIOpcode, _ status: HCIStatus = .success, packets: UInt8 = 1) -> [UInt8] {
        [0x04, 0x0E, 0x04, packets, UInt8(opcode.rawValue & 0xFF), UInt8(opcode.rawValue >> 8), status.rawValue]
    }

    /// Returns Command Status.
    static func status(_ opcode: HCIOpcode, _ status: HCIStatus, packets: UInt8 = 1) -> [UInt8] {
        [0x04, 0x0F, 0x04, status.rawValue, packets, UInt8(opcode.rawValue & 0xFF), UInt8(opcode.rawValue >> 8)]
    }

    /// Returns an LE Advertising Report with one report; `type` 0 is ADV_IND, 3 ADV_NONCONN_IND, 4 SCAN_RSP.
    static func legacy(_ device: UInt64, _ data: [UInt8], type: UInt8 = 0, random: Bool = true, rssi: Int8 = -50)
        -> [UInt8]
    {
        let parameters =
            [0x02, 0x01, type, random ? 1 : 0] + address(device) + [UInt8(data.count)] + data
            + [UInt8(bitPattern: rssi)]
        return [0x04, 0x3E, UInt8(parameters.count)] + parameters
    }

    /// Returns an LE Extended Advertising Report with one report; `type` is Event_Type with the data status in bits 5
    /// and 6.
    static func extended(
        _ device: UInt64,
        _ data: [UInt8],
        type: UInt8 = 0x01,
        sid: UInt8 = 0,
        addressType: UInt8 = 1,
        rssi: Int8 = -50
    ) -> [UInt8] {
        let parameters =
            [0x0D, 0x01, type, 0x00, addressType] + address(device)
            + [0x01, 0x01, sid, 0x7F, UInt8(bitPattern: rssi), 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(data.count)] + data
        return [0x04, 0x3E, UInt8(parameters.count)] + parameters
    }

    /// Data status: more fragments will follow.
    static let more: UInt8 = 0x01 | 0x01 << 5
    /// Data status: the rest was lost.
    static let truncated: UInt8 = 0x01 | 0x02 << 5

    /// Returns the random address with the given number.
    static func device(_ number: UInt64) -> DeviceAddress {
        DeviceAddress(BluetoothAddress(rawValue: number), .random)
    }

    /// Returns an AD structure with a complete name.
    static func name(_ text: String) -> [UInt8] { [UInt8(text.utf8.count + 1), 0x09] + Array(text.utf8) }

    /// Returns an AD structure with 16-bit service UUIDs.
    static func services(_ list: UInt16...) -> [UInt8] {
        [UInt8(list.count * 2 + 1), 0x03] + list.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }

    private static func address(_ value: UInt64) -> [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}

extension Scanner {
    /// Returns an active scanner whose commands have been answered.
    static func scanning(_ generation: Generation, devices: DeviceTable = DeviceTable()) -> Scanner {
        var scanner = Scanner(generation, devices: devices)
        scanner.start(.discovery)
        while let command = scanner.nextCommand(now: .zero) { scanner.feed(ScanEvents.complete(command.opcode)) }
        return scanner
    }

    /// Handles an event, and returns the updates.
    @discardableResult
    mutating func feed(_ event: [UInt8], at now: Duration = .zero) -> [DeviceTable.Update] {
        var updates: [DeviceTable.Update] = []
        handle(event.span, now: now) { updates.append($0) }
        return updates
    }
}
