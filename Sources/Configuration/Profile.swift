// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import Devices
package import Typing

/// A kind of device: the service and characteristics of its serial port, and how it is spoken to.
package struct Profile: Hashable, Sendable {
    /// The most characters of a name.
    package static let longestName = 32

    /// The name that configurations and options use.
    package var name: String
    /// The name that people are shown.
    package var title: String
    /// The service.
    package var service: BluetoothUUID
    /// The characteristic that carries bytes from the device.
    package var fromPeripheral: BluetoothUUID
    /// The characteristic that carries bytes to the device; may be the same.
    package var toPeripheral: BluetoothUUID
    /// The commands and replies before the link counts as connected (BT-5); empty for none.
    package var handshake: [Handshake.Command]
    /// The frames that the bytes to type come in; nil where they come bare.
    package var framing: Framing?
    /// The table for what comes, where none is chosen: a built-in one's name, or a file.
    package var table: String?
    /// The least security of a link with such a device.
    package var security: GATTLinkSecurity.Level

    /// A profile of devices that send bare bytes unasked.
    package init(
        name: String,
        title: String,
        service: BluetoothUUID,
        fromPeripheral: BluetoothUUID,
        toPeripheral: BluetoothUUID,
        handshake: [Handshake.Command] = [],
        framing: Framing? = nil,
        table: String? = nil,
        security: GATTLinkSecurity.Level = .none
    ) {
        self.name = name
        self.title = title
        self.service = service
        self.fromPeripheral = fromPeripheral
        self.toPeripheral = toPeripheral
        self.handshake = handshake
        self.framing = framing
        self.table = table
        self.security = security
    }
}
