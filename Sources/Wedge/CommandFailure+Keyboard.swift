// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
package import SystemPackage

// Why the kernel refuses a virtual keyboard, in words, as `drivers/input/misc/uinput.c` gives its errors.

extension CommandFailure {
    /// The kernel refuses to make the keyboard.
    package init(makingKeyboard error: Errno) {
        switch error {
        case .permissionDenied, .notPermitted:
            self.init(
                .permission,
                "not permitted to open \(UInputDevice.path)",
                remedy:
                    "run as root, or install udev/60-blewedge.rules and join its group: `usermod -aG blewedge $USER`"
            )
        case .noSuchFileOrDirectory, .operationNotSupportedByDevice, .noSuchAddressOrDevice:
            self.init(
                .unavailable,
                "there is no \(UInputDevice.path)",
                remedy: "load the module with `modprobe uinput`, and at every start with udev/modules-load.conf"
            )
        case .invalidArgument:
            self.init(
                .unavailable,
                "the kernel refuses the keyboard (EINVAL): it knows no UI_DEV_SETUP, or not all of its keys",
                remedy: "run Linux 4.5 or later"
            )
        default:
            self.init(.inputOutput, "cannot make a virtual keyboard through \(UInputDevice.path): \(error)")
        }
    }

    /// More keys of clients wait than may, or have to be pressed first.
    static let keysWait = CommandFailure(
        .timeout,
        "keys that were asked for before wait to be pressed",
        remedy: "try again in a few seconds"
    )

    /// The kernel refuses the keyboard's events; what it did not take is counted as lost, and never written again.
    package init(writingKeys error: Errno) {
        let cause: String
        let remedy: String
        switch error {
        case .operationNotSupportedByDevice:
            cause = "the virtual keyboard is gone (ENODEV)"
            remedy = "start again, which makes a new one; `dmesg` says who took it away"
        case .invalidArgument:
            cause = "the kernel refuses the events as malformed (EINVAL)"
            remedy = "run the build that is meant for this kernel: its word size and time format differ from this one's"
        case .notPermitted, .permissionDenied:
            cause =
                "the kernel forbids writing to the virtual keyboard (\(error == .notPermitted ? "EPERM" : "EACCES"))"
            remedy = "permit \(UInputDevice.path) in the service's DeviceAllow= and in the security module's policy"
        default:
            cause = "the virtual keyboard takes no more keys: \(error)"
            remedy = "start again; `dmesg` may say why the kernel refuses"
        }
        self.init(.inputOutput, cause, remedy: remedy)
    }
}
