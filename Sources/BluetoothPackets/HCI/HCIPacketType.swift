// SPDX-License-Identifier: GPL-2.0-or-later

/// The packet indicator: the byte before every packet on a UART (H4) and on the kernel's HCI sockets.
///
/// Core 6.0, Vol 4, Part A, 2.
public enum HCIPacketType: UInt8, Hashable, Sendable, CaseIterable {
    /// A command, host to controller.
    case command = 0x01
    /// Asynchronous data: L2CAP.
    case acl = 0x02
    /// Synchronous data: voice.
    case synchronous = 0x03
    /// An event, controller to host.
    case event = 0x04
    /// Isochronous data: LE Audio.
    case isochronous = 0x05
}
