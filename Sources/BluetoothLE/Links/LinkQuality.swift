// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets

/// What is known of a link's radio.
package struct LinkQuality: Equatable, Sendable {
    /// The signal strength of the device, in dBm, as it was read last; nil before that, or where it cannot be read.
    package var rssi: Int8?
    /// The timing in force; nil where it is the kernel's, which does not tell it.
    package var timing: ConnectionTiming?

    /// The PHY on which the device sends; nil as long as no change was told.
    package var phy: PHY?
    /// The longest data of one packet from the device, in bytes; nil as long as no change was told.
    package var dataLength: UInt16?

    /// For how long a signal strength is not read again.
    package static let life = Duration.seconds(3)

    /// What is known.
    package init(
        rssi: Int8? = nil,
        timing: ConnectionTiming? = nil,
        phy: PHY? = nil,
        dataLength: UInt16? = nil
    ) {
        self.rssi = rssi
        self.timing = timing
        self.phy = phy
        self.dataLength = dataLength
    }
}
