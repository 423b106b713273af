// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
package import SystemPackage

/// Tries what the product does first with the kernel, and undoes it at once.
package enum DeviceProbe {
    /// Why a socket of the kind cannot be made; nil where it can.
    ///
    /// The corresponding C calls are `socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI)` and
    /// `socket(AF_BLUETOOTH, SOCK_SEQPACKET, BTPROTO_L2CAP)`.
    package static func bluetoothFault() -> Errno? {
        do {
            _ = try ManagementSocket()
            _ = try Descriptor.bluetoothSocket(type: blewedge_SOCK_SEQPACKET, protocol: BTPROTO_L2CAP)
            return nil
        } catch {
            return error
        }
    }

    /// Why /dev/uinput cannot be opened; nil where it can.
    ///
    /// A node that is there before its module makes the kernel load the module.
    ///
    /// The corresponding C function is `open`.
    package static func uinputFault() -> Errno? {
        do {
            _ = try Descriptor.open(UInputDevice.path, O_RDWR | O_NONBLOCK)
            return nil
        } catch {
            return error
        }
    }

    /// Why the file cannot be opened for reading; nil where it can.
    ///
    /// The corresponding C function is `open`.
    package static func readingFault(_ path: String) -> Errno? {
        do {
            _ = try Descriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
            return nil
        } catch {
            return error
        }
    }

    /// Whether the kernel makes event nodes for input devices; true where it does not say.
    ///
    /// Linux, drivers/input/input.c (`/proc/bus/input/handlers`).
    package static func hasEventNodes(proc: String = "/proc") -> Bool {
        guard let handlers = try? FileSystem.contents(of: "\(proc)/bus/input/handlers", limit: 1 << 16) else {
            return true
        }
        return String(decoding: handlers, as: UTF8.self).contains("Name=evdev")
    }
}
