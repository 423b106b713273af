// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
package import SystemPackage

/// The virtual terminal in front, and its changes.
///
/// Linux, Documentation/ABI/testing/sysfs-tty, /sys/class/tty/tty0/active: poll(2) reports an error condition, which an
/// event loop always reports, at each change.
package struct ForegroundTerminal: ~Copyable {
    /// The file.
    package static let path = "/sys/class/tty/tty0/active"

    /// Has an error to report when another terminal has come to the front; `number` takes it back.
    package let descriptor: Descriptor

    /// Throws `noSuchFileOrDirectory` on a kernel without virtual terminals.
    package init(_ path: String = path) throws(Errno) {
        descriptor = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
    }

    /// The number of the terminal in front: 1 for tty1; nil where it cannot be told.
    ///
    /// The corresponding C function is `pread`.
    package var number: Int? {
        var buffer = [UInt8](repeating: 0, count: 64)
        let file = descriptor.number
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            // Sound: the pointer is used within the closure, with the buffer's own length.
            unsafe pread(file, bytes.baseAddress, bytes.count, 0)
        }
        guard count > 3 else { return nil }
        let text = String(decoding: buffer.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return text.hasPrefix("tty") ? Int(text.dropFirst(3)) : nil
    }
}
