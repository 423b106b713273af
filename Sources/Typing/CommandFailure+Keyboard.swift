// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage
package import Texts

// The failures of a virtual keyboard, by the errors that `drivers/input/misc/uinput.c` returns.

extension CommandFailure {
    /// The failure to create the keyboard.
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

    /// The failure when too many keys of clients wait to be typed.
    package static let keysWait = CommandFailure(.timeout, KeyboardFaultText.tooManyWait)

    /// The failure to write events to the keyboard.
    ///
    /// Events that the kernel did not take are counted as lost, and are not written again.
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

extension Errno {
    /// True if a write with this error means that the keyboard is gone, and another may be made in its place.
    ///
    /// The other errors say that this program may not type, or has a fault: another keyboard would have them too.
    package var isGoneKeyboard: Bool { self == .operationNotSupportedByDevice }
}
