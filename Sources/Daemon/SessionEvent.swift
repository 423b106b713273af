// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import Control
import Devices
package import Keystrokes
import LinuxIO
import SystemPackage
package import Texts

extension Session {
    package enum Event: Sendable {
        case adapterReady
        /// The adapter went away or was switched off, or is so still.
        case adapterLost(Reason)
        /// The adapter is there, and this process may not use it.
        case forbidden(Reason)
        /// The user chose a device, and it is another than before.
        case switched
        case forgotten
        /// The user wants the link, or chose the same device again.
        case connectAsked
        case disconnectAsked
        /// The chosen device was heard while listening, and accepts connections.
        case heard(DeviceAddress)
        /// The name of the chosen device was heard at another address.
        case heardElsewhere(Reason)
        /// Listening came to nothing; the system may not be able to.
        case scanFailed(Reason)
        /// Subscribed: what the device sends arrives from now on.
        case ready
        /// The device answers, but does not offer the service.
        case unsupported(Reason)
        case attemptFailed(Reason)
        case linkLost(Reason)
        /// The device of the link that was ready sends more than can be typed.
        case flooded(Reason)
        /// A pairing needs the radio: no link is begun until its end, and one that is ready ends too where that is said.
        case pairingBegins(endingLink: Bool)
        case pairingEnds
        /// The link that `closeLink` asked to close is closed.
        case linkClosed
        case deadline
    }
}

extension Session {
    package enum Action: Equatable, Sendable {
        case scan
        case stopScan
        /// Connect, subscribe, and carry out the handshake.
        case connect(DeviceAddress)
        /// Close the link, or give up the attempt; `linkClosed` is to follow.
        case closeLink
        /// Drop what waits to be typed, and count it (D-1).
        case drop(Gate.Drop)
        case report(State, Reason?)
    }
}

extension Session.Event {
    init(_ error: AdapterError) {
        let reason = Reason(CommandFailure(error))
        switch error {
        case .notPermitted, .system(_, .permissionDenied), .system(_, .notPermitted), .stream(_, .permissionDenied):
            self = .forbidden(reason)
        default: self = .adapterLost(reason)
        }
    }
}

extension Reason {
    /// Why an adapter is lost: rfkill says more than the kernel's event.
    init(_ loss: AdapterLoss) {
        let name = loss.name
        let index = name.hasPrefix("hci") ? UInt16(name.dropFirst(3)) : nil
        if let rfkill = index.flatMap({ RFKill(controller: $0) }), rfkill.isSoftBlocked || rfkill.isHardBlocked {
            self.init(CommandFailure(AdapterError.blocked(name, isHard: rfkill.isHardBlocked)))
        } else {
            self.init(CommandFailure(loss))
        }
    }
}
