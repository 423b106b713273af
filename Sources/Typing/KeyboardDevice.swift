// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage

/// What the typing thread writes keystrokes to: a virtual keyboard of the kernel, or one that shows what it is given.
package protocol KeyboardDevice: AnyObject, Sendable {
    /// Writes whole events, each a `struct input_event`; answers the bytes that were taken.
    ///
    /// Anything but all of them, or an error, means that the keyboard takes nothing more.
    func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int>
}
