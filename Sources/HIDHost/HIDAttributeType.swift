// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Services, characteristics and descriptors of a HID device.
///
/// Assigned Numbers, 3.4.2, 3.7 and 3.8; HID Service 1.0, 2.
enum HIDAttributeType {
    static let service: BluetoothUUID = 0x1812
    static let batteryService: BluetoothUUID = 0x180F
    static let deviceInformation: BluetoothUUID = 0x180A

    /// Protocol Mode: 0 boot protocol, 1 report protocol.
    static let protocolMode: BluetoothUUID = 0x2A4E
    static let report: BluetoothUUID = 0x2A4D
    static let reportMap: BluetoothUUID = 0x2A4B
    static let information: BluetoothUUID = 0x2A4A
    static let bootKeyboardInput: BluetoothUUID = 0x2A22
    static let bootKeyboardOutput: BluetoothUUID = 0x2A32
    static let batteryLevel: BluetoothUUID = 0x2A19
    static let productID: BluetoothUUID = 0x2A50
    static let databaseHash: BluetoothUUID = 0x2B2A

    static let externalReportReference: BluetoothUUID = 0x2907
    static let reportReference: BluetoothUUID = 0x2908
}
