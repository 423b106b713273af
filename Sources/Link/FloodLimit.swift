// SPDX-License-Identifier: GPL-2.0-or-later

/// The limit of what one link may lose because its device sends more than can be typed.
///
/// The loss is limited and not the rate: what a scanner of an inventory sends from its memory, as fast as the radio
/// carries it, is typed from the ring or lost once, and is an end in itself (D-1a). Only a device that goes on has a fault,
/// and would keep others' keys waiting for good.
package struct FloodLimit {
    /// The most bytes that a link may lose: some 18,000 barcodes beyond those that the ring holds.
    package static let bytes: UInt64 = 1 << 18

    private var base: UInt64 = 0
    /// The count of lost bytes above which the link is ended.
    private var border = UInt64.max

    /// Makes a limit for a link that has not begun.
    package init() {}

    /// Begins a link, at this count of lost bytes.
    ///
    /// An end that waits for its readers fills the ring by itself, whatever the device does: there is no limit then.
    package mutating func begin(at lost: UInt64, isPatient: Bool) {
        base = lost
        border = isPatient ? .max : lost &+ Self.bytes
    }

    /// The bytes that the link has lost, where they are too many; nil where they are not, or were reported.
    package mutating func check(_ lost: UInt64) -> UInt64? {
        guard lost > border else { return nil }
        border = .max
        return lost &- base
    }
}
