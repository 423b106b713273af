// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Devices
import Texts

extension Reason {
    /// The failure of a procedure with a device; where it answers that the link is not secure enough, the pairing that it wants
    /// is the remedy.
    init(_ error: GATTError, _ device: DeviceAddress?, isEncrypted: Bool) {
        guard case .errorResponse(_, _, let answer) = error,
            answer == .insufficientAuthentication || answer == .insufficientEncryption
        else {
            self.init(Message(detail: "\(error)"))
            return
        }
        let fault: LinkFaultText = isEncrypted ? .wantsNumber : .wantsPairing
        self.init(CommandFailure(.permission, fault, "\(error)", device.map { "\($0.address)" } ?? "DEVICE"))
    }
}
