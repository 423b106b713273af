// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes

/// Keys that somebody asked for, to be typed beside what the device sends: by `key`, `snippet` or `clear`.
package struct KeySequence: Equatable, Sendable {
    /// What is typed, one after the other.
    package let steps: [ByteTable.Step]
    /// The same as bytes of the keypad's own table, for whatever types bytes by a table.
    package let bytes: [UInt8]
}
