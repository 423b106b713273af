// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
package import LinuxIO

/// A kernel bug: a double free of the HCI channel below an L2CAP socket.
///
/// The kernel frees the channel at the end of a link. A faulty kernel frees it again if the socket is closed later
/// (`l2cap_conn_free` calls `hci_chan_del`). It then logs "kernel BUG at lib/list_debug.c", the process cannot be
/// killed, and Bluetooth hangs until a reboot. The bug does not occur once the device has sent a whole packet on the
/// link, because the kernel then leaks a reference.
///
/// The bug is in the machine code of Debian's 6.1.192-1 and 6.1.192-2, but not in that of 6.1.176-1, 6.1.177-1,
/// 6.1.180-1, 6.1.187-1, 6.1.190-1, 5.10.262-1, 6.12.95-1, 6.12.118-1 and 7.3.4-1. According to Debian's changelog, it
/// was introduced in 6.1.191. The series 5.15, 6.6 and 6.18 were not examined.
///
/// Results on 6.1.192-2 with a device that has lost its key, in `Tests/KernelLab`:
///
/// | method | result |
/// | --- | --- |
/// | BT_SECURITY after connect(), or before; shutdown() first; a second socket (EBUSY) | BUG at close() |
/// | socket kept open after the end of the link | BUG at the end of the process |
/// | close() at the failed Encryption Change, before Disconnection Complete | BUG: too late |
/// | mgmt Pair Device of a bonded device | Already Paired, no link |
/// | mgmt Pair Device, keys unloaded | no BUG, but pairs with the impostor |
/// | mgmt Add Device, and a socket on the resulting link | BUG at close() |
/// | mgmt Add Device, LE Start Encryption over raw HCI, no L2CAP socket | no BUG: key refused (0x06), link ended |
/// | ATT request over the socket, its response, then BT_SECURITY | no BUG: EACCES |
/// | the same request as a raw ACL packet on a link of mgmt Add Device, before a socket exists | no BUG |
/// | no security, the device disconnects immediately | BUG at close() |
/// | HCI user channel | no BUG: the kernel's L2CAP is not used |
///
/// On a faulty kernel, `KernelATTChannel.secure` sends a request first. A device that disconnects before it answers
/// still triggers the bug, whether it is paired or not. Only the user channel and a link made by mgmt Add Device
/// prevent that. Such a link is not used, because it requires raw ACL packets that bypass the kernel's flow control,
/// and a change of the kernel's accept list.
package enum ChannelFault: Equatable, Sendable {
    case absent
    case present
    /// A 6.1 release that has not been examined.
    case unknown

    package init(_ version: KernelVersion?) {
        guard let version, version.major == 6, version.minor == 1 else {
            self = .absent
            return
        }
        switch version.patch {
        case .some(...190): self = .absent
        case 191, 192: self = .present
        default: self = .unknown
        }
    }

    package static let running = ChannelFault(.running)

    /// The request that is sent before encryption: it asks for the services, beginning with the last handle.
    ///
    /// Every GATT server answers this request, and it has no side effects. Core 6.0, Vol 3, Part G, 4.4.1.
    package static let question = ATTPDU.readByGroupTypeRequest(
        AttributeHandleRange(start: .last, end: .last),
        type: GATTAttributeType.primaryService
    ).encoded

    /// Returns true if the PDU is a response to this request; the next request may be sent after it.
    ///
    /// The opcode in an Error Response is not checked, because some servers return the opcode of another request.
    package static func isAnswer(_ pdu: Span<UInt8>) -> Bool {
        guard pdu.count > 0 else { return false }
        let opcode = ATTOpcode(rawValue: pdu[0])
        return opcode == .errorResponse || opcode == .readByGroupTypeResponse
    }
}
