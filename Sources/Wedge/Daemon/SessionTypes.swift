// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Keystrokes

/// Why something is as it is, for people: what is wrong, and what mends it.
package struct Reason: Hashable, Sendable {
    /// What is wrong, in one sentence.
    package var cause: Message
    /// What mends it; nil where nothing is known to, or where it mends itself.
    package var remedy: Message?

    /// A reason.
    package init(_ cause: Message, remedy: Message? = nil) {
        self.cause = cause
        self.remedy = remedy
    }

    /// Why something that was tried has failed.
    package init(_ failure: CommandFailure) {
        self.init(failure.cause, remedy: failure.remedy)
    }

    /// The cause, and the remedy in brackets.
    package var message: Message { cause.followed(by: remedy) }
}

extension Session {
    /// What the user sees (LK-24).
    package enum State: String, Sendable, CaseIterable {
        /// No device is chosen.
        case unselected
        /// The device is looked for, or an attempt is under way.
        case connecting
        /// What the device sends is typed.
        case connected
        /// The link was lost; it is tried again.
        case lost
        /// The user closed the link.
        case disconnected
        /// The last attempt failed, or the device is not heard; it is tried again.
        case failed
        /// The device does not have the service; it is left alone.
        case unsupported
        /// No adapter, or the adapter is off.
        case bluetoothOff
        /// A permission is missing.
        case unauthorized
    }

    /// What happens to the session.
    package enum Event: Sendable {
        /// The adapter is powered and may scan.
        case adapterReady
        /// The adapter went away or was switched off, or is so still.
        case adapterLost(Reason)
        /// The adapter is there, and this process may not use it.
        case forbidden(Reason)
        /// The user chose a device, and it is another than before.
        case switched
        /// The user dropped the choice.
        case forgotten
        /// The user wants the link, or chose the same device again.
        case connectAsked
        /// The user wants no link.
        case disconnectAsked
        /// The chosen device was heard while listening, and accepts connections.
        case heard(DeviceAddress)
        /// Listening came to nothing; the system may not be able to.
        case scanFailed(Reason)
        /// Subscribed: what the device sends arrives from now on.
        case ready
        /// The device answers, but does not offer the service.
        case unsupported(Reason)
        /// The attempt came to nothing.
        case attemptFailed(Reason)
        /// The link that was ready is gone.
        case linkLost(Reason)
        /// What `closeLink` asked for is done.
        case linkClosed
        /// Time has passed.
        case deadline
    }

    /// What the driver is to do.
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
