// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
package import BluetoothPackets
import Control
import Devices
package import Keystrokes
import LinuxIO
import SystemPackage
package import Texts

extension Session {
    package enum Event: Sendable {
        case adapterReady
        /// The adapter was removed or switched off, or is still unavailable.
        case adapterLost(Reason)
        /// The adapter exists, but this process has no permission to use it.
        case forbidden(Reason)
        /// The user selected a different device.
        case switched
        case forgotten
        /// The user requested the link, or selected the same device again.
        case connectAsked
        case disconnectAsked
        /// The selected device was heard while listening, and accepts connections.
        case heard(DeviceAddress)
        /// The name of the selected device was heard at another address.
        case heardElsewhere(Reason)
        /// Listening failed, perhaps because the system does not support it.
        case scanFailed(Reason)
        /// The subscription is complete: values from the device can arrive from now on.
        case ready
        /// The device answers, but does not offer the service.
        case unsupported(Reason)
        case attemptFailed(Reason)
        case linkLost(Reason)
        /// The connected device sends data faster than it can be typed.
        case flooded(Reason)
        /// A pairing needs the radio, so no link may be started until the pairing ends.
        ///
        /// With `endingLink`, an existing link is ended too.
        case pairingBegins(endingLink: Bool)
        case pairingEnds
        /// The link has been closed, as requested by `closeLink`.
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
        /// Close the link, or cancel the attempt; the event `linkClosed` must follow.
        case closeLink
        /// Drop the bytes that are waiting to be typed, and count them (D-1).
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
    /// Creates the reason for the loss of an adapter: rfkill if that blocks the adapter, else the kernel's event.
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
