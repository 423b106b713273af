// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage

/// Keyboard that the typing thread writes to: a virtual keyboard of the kernel, or a stand-in that shows the
/// keystrokes.
package protocol KeyboardDevice: AnyObject, Sendable {
    /// Writes whole events, each a `struct input_event`, and returns the number of accepted bytes.
    ///
    /// If the number is smaller than the size of `events`, or an error is thrown, the keyboard has failed.
    func write(_ events: borrowing RawSpan) throws(Errno) -> NonBlocking<Int>
}
