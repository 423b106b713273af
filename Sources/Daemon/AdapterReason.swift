// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Devices
import LinuxIO
import SystemPackage
import Texts

extension Session.Event {
    /// The adapter cannot be used.
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
