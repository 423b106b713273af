// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
package import SystemPackage

/// A connection between one of the kernel's controllers and a device, made by any program.
package struct KernelConnection: Equatable, Sendable {
    /// Index of the controller: 0 is hci0.
    package var controller: UInt16
    /// 48-bit address of the device, or of its identity if the kernel has resolved it.
    package var device: UInt64

    /// Maximum number of connections that are read for one controller.
    private static let capacity = 64
    /// Maximum number of controllers that the kernel's older interface, which uses `ioctl`, supports (HCI_MAX_DEV).
    private static let controllers: UInt16 = 16
    /// LE_LINK and BT_CONNECTED of Linux, include/net/bluetooth.
    private static let lowEnergy: UInt8 = 0x80
    private static let connected: UInt16 = 1

    package init(controller: UInt16, device: UInt64) {
        self.controller = controller
        self.device = device
    }

    /// Reads the established Low Energy connections of all controllers; requires no capability.
    ///
    /// Throws `addressFamilyNotSupported` on a kernel without Bluetooth. The corresponding C calls are
    /// `socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI)` and `ioctl(HCIGETCONNLIST)`.
    package static func all() throws(Errno) -> [KernelConnection] {
        let socket = try Descriptor.bluetoothSocket(.hci, type: blewedge_SOCK_RAW, protocol: BTPROTO_HCI)
        var found: [KernelConnection] = []
        for controller in 0..<controllers {
            var list = [UInt8](repeating: 0, count: 4 + capacity * 16)
            (list[0], list[2]) = (UInt8(controller), UInt8(capacity))
            let number = socket.number
            do throws(Errno) {
                // Sound: the kernel writes at most `capacity` entries of 16 bytes after the header of 4 bytes.
                _ = try SystemCall.run {
                    unsafe blewedge_ioctl_pointer(number, blewedge_HCIGETCONNLIST, &list)
                }
            } catch {
                // There may be gaps in the numbering of the controllers.
                guard error == .operationNotSupportedByDevice else { throw error }
                continue
            }
            found += parse(list.span)
        }
        return found
    }

    /// Parses a `struct hci_conn_list_req`: the controller, the number of entries, and 16 bytes for each entry.
    static func parse(_ list: Span<UInt8>) -> [KernelConnection] {
        guard list.count >= 4 else { return [] }
        func number(_ offset: Int, _ width: Int) -> UInt64 {
            (0..<width).reduce(0) { $0 | UInt64(list[offset + $1]) << UInt64(8 * $1) }
        }
        let controller = UInt16(truncatingIfNeeded: number(0, 2))
        let count = min(Int(number(2, 2)), (list.count - 4) / 16)
        return (0..<count).compactMap { index in
            let entry = 4 + index * 16
            guard list[entry + 8] == lowEnergy, number(entry + 10, 2) == connected else { return nil }
            return KernelConnection(controller: controller, device: number(entry + 2, 6))
        }
    }
}
