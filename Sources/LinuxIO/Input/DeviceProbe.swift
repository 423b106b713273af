// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
package import SystemPackage

/// Tries of the product's first system calls, undone at once.
package enum DeviceProbe {
    /// The error of making the product's Bluetooth sockets; nil where they can be made.
    ///
    /// The corresponding C calls are `socket(AF_BLUETOOTH, SOCK_RAW, BTPROTO_HCI)` and
    /// `socket(AF_BLUETOOTH, SOCK_SEQPACKET, BTPROTO_L2CAP)`.
    package static func bluetoothFault() -> Errno? {
        do {
            _ = try ManagementSocket()
            _ = try Descriptor.bluetoothSocket(.link, type: blewedge_SOCK_SEQPACKET, protocol: BTPROTO_L2CAP)
            return nil
        } catch {
            return error
        }
    }

    /// The error of opening /dev/uinput; nil where it can be opened.
    ///
    /// A node that is there before its module makes the kernel load the module.
    ///
    /// The corresponding C function is `open`.
    package static func uinputFault() -> Errno? {
        do {
            _ = try Descriptor.open(UInputDevice.path, O_RDWR | O_NONBLOCK, .keyboard)
            return nil
        } catch {
            return error
        }
    }

    /// The error of opening the file for reading; nil where it can be opened.
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

    /// True where the kernel makes event nodes for input devices, and where it does not tell.
    ///
    /// Linux, drivers/input/input.c (`/proc/bus/input/handlers`).
    package static func hasEventNodes(proc: String = "/proc") -> Bool {
        guard let handlers = try? FileSystem.contents(of: "\(proc)/bus/input/handlers", limit: 1 << 16) else {
            return true
        }
        let words = handlers.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        return words.contains { $0.elementsEqual("Name=evdev".utf8) }
    }
}
