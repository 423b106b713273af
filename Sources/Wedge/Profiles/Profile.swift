// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Typing

/// What a kind of device calls its serial port in GATT, and how it is spoken to.
package struct Profile: Hashable, Sendable {
    /// The most characters of a name.
    package static let longestName = 32

    /// What configurations call it.
    package var name: String
    /// What people call it.
    package var title: String
    /// The service.
    package var service: BluetoothUUID
    /// The characteristic that carries bytes from the device.
    package var fromPeripheral: BluetoothUUID
    /// The characteristic that carries bytes to the device; may be the same.
    package var toPeripheral: BluetoothUUID
    /// What is exchanged before the link counts as connected (BT-5); nothing if empty.
    package var handshake: [Handshake.Command]
    /// What the bytes to type are wrapped in; nil where they come bare.
    package var framing: Framing?
    /// The table for what comes, where none is chosen: a built-in one's name, or a file.
    package var table: String?

    /// A profile of devices that send bare bytes unasked.
    package init(
        name: String,
        title: String,
        service: BluetoothUUID,
        fromPeripheral: BluetoothUUID,
        toPeripheral: BluetoothUUID,
        handshake: [Handshake.Command] = [],
        framing: Framing? = nil,
        table: String? = nil
    ) {
        self.name = name
        self.title = title
        self.service = service
        self.fromPeripheral = fromPeripheral
        self.toPeripheral = toPeripheral
        self.handshake = handshake
        self.framing = framing
        self.table = table
    }
}
