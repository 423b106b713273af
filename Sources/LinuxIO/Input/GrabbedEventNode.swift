// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
package import SystemPackage

/// The event node of an input device, held so that nobody else hears the device: no terminal, no desktop, no
/// application.
package struct GrabbedEventNode: ~Copyable, Sendable {
    private let descriptor: Descriptor

    /// Opens the node and takes the device for itself.
    ///
    /// Throws `deviceBusy` where another has done so. The corresponding C calls are `open` and `ioctl(EVIOCGRAB)`.
    package init(_ path: String) throws(Errno) {
        let node = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
        let number = node.number
        _ = try SystemCall.run { blewedge_ioctl(number, UInt(blewedge_EVIOCGRAB), 1) }
        descriptor = node
    }

    /// Waits for events, at most `milliseconds`, and answers how many bytes of them there are; 0 when none came.
    ///
    /// The corresponding C functions are `poll` and `read`.
    package func read(into buffer: inout [UInt8], waiting milliseconds: Int32) throws(Errno) -> Int {
        var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        // Sound: one entry, a local. Where it fails or nothing came, the read below would block, and says so.
        _ = unsafe poll(&entry, 1, milliseconds)
        return switch try descriptor.read(into: &buffer) {
        case .done(let count): count
        case .wouldBlock: 0
        }
    }
}
