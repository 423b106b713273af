// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage
package import Texts

// The failures of a virtual keyboard, by the errors that `drivers/input/misc/uinput.c` returns.

extension CommandFailure {
    package init(makingKeyboard error: Errno) {
        switch error.recovery(of: .keyboard) {
        case .forbidden: self.init(.permission, KeyboardFaultText.notPermitted, UInputDevice.path)
        case .absent: self.init(.unavailable, KeyboardFaultText.missing, UInputDevice.path)
        // There is a node and no module behind it.
        case .rebuild where error == .operationNotSupportedByDevice || error == .noSuchAddressOrDevice:
            self.init(.unavailable, KeyboardFaultText.missing, UInputDevice.path)
        case .unfit: self.init(.unavailable, KeyboardFaultText.tooOld)
        default: self.init(.inputOutput, KeyboardFaultText.notMade, UInputDevice.path, "\(error)")
        }
    }

    /// The failure when too many keys of clients wait to be typed.
    package static let keysWait = CommandFailure(.timeout, KeyboardFaultText.tooManyWait)

    /// The failure to write events, which count as lost and are not written again.
    package init(writingKeys error: Errno) {
        switch error.recovery(of: .keyboard) {
        case .rebuild where error == .operationNotSupportedByDevice: self.init(.inputOutput, KeyboardFaultText.gone)
        case .unfit: self.init(.inputOutput, KeyboardFaultText.malformed)
        case .forbidden:
            let name = error == .notPermitted ? "EPERM" : "EACCES"
            self.init(.inputOutput, KeyboardFaultText.forbidden, name, UInputDevice.path)
        default: self.init(.inputOutput, KeyboardFaultText.takesNoMore, "\(error)")
        }
    }
}

/// The keyboard to which the typing thread writes: a virtual keyboard of the kernel, or one that shows the keystrokes.
package protocol KeyboardDevice: AnyObject, Sendable {
    /// Writes whole events, each a `struct input_event`, and returns the number of bytes that were taken.
    ///
    /// Fewer bytes than given, or an error, mean that the keyboard takes no more events.
    func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int>
}
