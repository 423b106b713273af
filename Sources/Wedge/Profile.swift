// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE

/// What a kind of device calls its serial port in GATT.
package struct Profile: Hashable, Sendable {
    /// For people.
    package var name: String
    /// The service.
    package var service: BluetoothUUID
    /// The characteristic that carries bytes from the device.
    package var fromPeripheral: BluetoothUUID
    /// The characteristic that carries bytes to the device.
    package var toPeripheral: BluetoothUUID

    /// The LINBLE UART Service, as its document gives it.
    package static let linble = Profile(
        name: "LINBLE UART Service",
        service: BluetoothUUID(high: 0x27AD_C9CA_35EB_465A, low: 0x9154_B8FF_9076_F3E8),
        fromPeripheral: BluetoothUUID(high: 0x27AD_C9CB_35EB_465A, low: 0x9154_B8FF_9076_F3E8),
        toPeripheral: BluetoothUUID(high: 0x27AD_C9CC_35EB_465A, low: 0x9154_B8FF_9076_F3E8)
    )
}
