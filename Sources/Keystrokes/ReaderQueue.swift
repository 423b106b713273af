// SPDX-License-Identifier: GPL-2.0-or-later

/// The queue of events that the kernel keeps for each reader of a keyboard.
///
/// The kernel makes it eight times as long as the longest frame that the device could have, rounded up to a power of two:
/// 64 events for keys alone, and 256 where nine relative axes are declared beside them. Nothing is ever sent on the axes.
///
/// The corresponding C function is `evdev_compute_buffer_size`, in Linux's drivers/input/evdev.c.
public enum ReaderQueue: Int, CaseIterable, Sendable {
    /// The queue of a device with nothing but keys; for Xorg's driver evdev, which takes axes for a part of a pointer.
    case small = 64
    /// The queue of a device with nine axes more.
    case large = 256

    /// The events that it holds, the one that throws all unread ones away among them.
    public var size: Int { rawValue }
    /// The unread events that survive: one slot tells full from empty.
    public var window: Int { rawValue - 1 }
    /// The events of the window that whole keystrokes use: as many plain ones of four as shifted ones of six.
    var paced: Int64 { Int64(window / Self.commonKeystroke * Self.commonKeystroke) }
    /// The least common multiple of a plain and a shifted keystroke's events.
    private static let commonKeystroke = 12

    /// The codes of the relative axes that are declared for it: Z, RX, RY, RZ, MISC, and four without a use.
    ///
    /// X, Y, wheels and DIAL are left out, because by these programs know a pointer.
    public var axes: [UInt16] {
        switch self {
        case .small: []
        case .large: [0x02, 0x03, 0x04, 0x05, 0x09, 0x0A, 0x0D, 0x0E, 0x0F]
        }
    }
}
