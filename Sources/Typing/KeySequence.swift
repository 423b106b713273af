// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes

/// The keys that a client asked for by `key`, `snippet` or `clear`, which are typed beside the device's bytes.
package struct KeySequence: Equatable, Sendable {
    /// The steps, typed one after another.
    package let steps: [ByteTable.Step]
    /// The steps as bytes of the keypad's table.
    package let bytes: [UInt8]
}
