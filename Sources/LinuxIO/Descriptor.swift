// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
package import SystemPackage

/// A file descriptor with one owner, closed when the owner lets go of it.
package struct Descriptor: ~Copyable, Sendable {
    /// The number, for calls that this module makes.
    ///
    /// It must not be closed.
    let number: Int32

    /// Takes over an open descriptor.
    init(owning number: Int32) {
        self.number = number
    }

    deinit {
        // close is never repeated: on Linux the number is free again even when the call says EINTR.
        _ = close(number)
    }

    /// Opens a path, closed on exec.
    ///
    /// The corresponding C function is `open`.
    static func open(_ path: String, _ flags: Int32, mode: UInt32 = 0) throws(Errno) -> Descriptor {
        Descriptor(owning: try SystemCall.run { unsafe blewedge_open(path, flags | O_CLOEXEC, mode) })
    }

    /// Another descriptor of the same open file, closed on exec, with an owner of its own.
    ///
    /// The corresponding C function is `fcntl(F_DUPFD_CLOEXEC)`.
    func duplicate() throws(Errno) -> Descriptor {
        let number = number
        return Descriptor(owning: try SystemCall.run { blewedge_duplicate(number) })
    }

    /// Reads into the buffer; 0 is the end of the file.
    ///
    /// The corresponding C function is `read`.
    package func read(into buffer: inout [UInt8]) throws(Errno) -> NonBlocking<Int> {
        let number = number
        return try unsafe buffer.withUnsafeMutableBytes { bytes in
            // Sound: the pointer is used within the closure, with the buffer's own length.
            Result { () throws(Errno) in
                try SystemCall.runNonBlocking { unsafe CLinux.read(number, bytes.baseAddress, bytes.count) }
            }
        }.get()
    }

    /// Writes bytes, as many as the descriptor takes now.
    ///
    /// The corresponding C function is `write`.
    package func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        let number = number
        return try unsafe bytes.withUnsafeBytes { bytes in
            // Sound: as in read.
            Result { () throws(Errno) in
                try SystemCall.runNonBlocking { unsafe CLinux.write(number, bytes.baseAddress, bytes.count) }
            }
        }.get()
    }
}
