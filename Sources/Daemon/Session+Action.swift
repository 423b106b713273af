// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Keystrokes
package import Texts

extension Session {
    /// The actions that the driver is to perform.
    package enum Action: Equatable, Sendable {
        /// Listen for the chosen device.
        case scan
        /// Stop listening.
        case stopScan
        /// Connect, subscribe, and carry out the handshake.
        case connect(DeviceAddress)
        /// Close the link, or give up the attempt; `linkClosed` is to follow.
        case closeLink
        /// Drop what waits to be typed, and count it (D-1).
        case drop(Gate.Drop)
        /// Tell who watches.
        case report(State, Reason?)
    }
}
