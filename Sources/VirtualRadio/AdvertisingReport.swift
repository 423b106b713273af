// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Report by a scanner about an advertising event or a scan response.
struct AdvertisingReport {
    /// Maximum data length of one report (Core 6.0, Vol 4, Part E, 7.7.65.13).
    private static let capacity = 229

    let set: AdvertisingSet
    let isResponse: Bool
    let data: [UInt8]
    let rssi: UInt8

    /// LE Advertising Report (Core 6.0, Vol 4, Part E, 7.7.65.2).
    var legacyEvent: ControllerEvent {
        let type: UInt8
        if isResponse {
            type = 0x04
        } else if set.properties.contains(.directed) {
            type = 0x01
        } else if set.properties.contains(.connectable) {
            type = 0x00
        } else {
            type = set.properties.contains(.scannable) ? 0x02 : 0x03
        }
        let head = ByteWriter.bytes(UInt8(1), type, set.address.type.rawValue, set.address.address)
        return ControllerEvent(.advertisingReport, head + [UInt8(clamping: data.count)] + data + [rssi])
    }

    /// LE Extended Advertising Report, split into as many events as the data requires (Core 6.0, Vol 4, Part E,
    /// 7.7.65.13).
    var extendedEvents: [ControllerEvent] {
        let isLegacy = set.properties.contains(.legacy)
        let unknown = BluetoothAddress(rawValue: 0)
        let sender = ByteWriter.bytes(set.sender?.type.rawValue ?? 0xFF, set.sender?.address ?? unknown)
        // A legacy PDU has no set identifier; the transmission power is unknown unless the PDU includes it.
        let phys = ByteWriter.bytes(LEPHY.le1M.rawValue, isLegacy ? LEPHY.none.rawValue : LEPHY.le1M.rawValue)
        let power = set.properties.contains(.includesTxPower) ? ControllerIdentity.txPower : 0x7F
        let radio = ByteWriter.bytes(phys, isLegacy ? 0xFF : set.sid, power, rssi, UInt16(0))
        let target = set.properties.contains(.directed) ? set.peer : DeviceAddress(unknown, .public)
        let middle = ByteWriter.bytes(sender, radio, target.type.rawValue, target.address)
        return stride(from: 0, through: max(0, data.count - 1), by: Self.capacity).map { start in
            let part = [UInt8](data[start...].prefix(Self.capacity))
            // Bits 5 and 6 contain the data status: 0 if the data is complete, 1 if more data follows.
            let isLast = start + part.count == data.count
            let status = isLast ? 0 : UInt16(AdvertisingDataStatus.moreToCome.rawValue) &<< 5
            let type = set.eventType(isResponse: isResponse) | status
            let report = ByteWriter.bytes(UInt8(1), type, middle, UInt8(clamping: part.count), part)
            return ControllerEvent(.extendedAdvertisingReport, report)
        }
    }
}
