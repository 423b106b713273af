// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage
package import Texts

// Why the kernel refuses a virtual keyboard, in words, as `drivers/input/misc/uinput.c` gives its errors.

extension CommandFailure {
    /// The kernel refuses to make the keyboard.
    package init(makingKeyboard error: Errno) {
        switch error {
        case .permissionDenied, .notPermitted:
            self.init(.permission, KeyboardFaultText.notPermitted, UInputDevice.path)
        case .noSuchFileOrDirectory, .operationNotSupportedByDevice, .noSuchAddressOrDevice:
            self.init(.unavailable, KeyboardFaultText.missing, UInputDevice.path)
        case .invalidArgument: self.init(.unavailable, KeyboardFaultText.tooOld)
        default: self.init(.inputOutput, KeyboardFaultText.notMade, UInputDevice.path, "\(error)")
        }
    }

    /// More keys of clients wait than may, or have to be pressed first.
    package static let keysWait = CommandFailure(.timeout, KeyboardFaultText.tooManyWait)

    /// The kernel refuses the keyboard's events; what it did not take is counted as lost, and never written again.
    package init(writingKeys error: Errno) {
        switch error {
        case .operationNotSupportedByDevice: self.init(.inputOutput, KeyboardFaultText.gone)
        case .invalidArgument: self.init(.inputOutput, KeyboardFaultText.malformed)
        case .notPermitted, .permissionDenied:
            let name = error == .notPermitted ? "EPERM" : "EACCES"
            self.init(.inputOutput, KeyboardFaultText.forbidden, name, UInputDevice.path)
        default: self.init(.inputOutput, KeyboardFaultText.takesNoMore, "\(error)")
        }
    }
}
