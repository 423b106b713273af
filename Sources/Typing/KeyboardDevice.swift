// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage

/// The keyboard to which the typing thread writes: a virtual keyboard of the kernel, or one that shows the keystrokes.
package protocol KeyboardDevice: AnyObject, Sendable {
    /// Writes whole events, each a `struct input_event`, and returns the number of bytes that were taken.
    ///
    /// Fewer bytes than given, or an error, mean that the keyboard takes no more events.
    func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int>
}
