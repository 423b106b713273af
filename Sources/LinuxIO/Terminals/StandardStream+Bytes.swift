// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
package import SystemPackage

extension StandardStream {
    /// Writes bytes if that can be done at once; false if the reader is too far behind, and nothing is written.
    ///
    /// At most 4,096 bytes (PIPE_BUF), so that a pipe takes them whole.
    package func writeAtOnce(_ bytes: borrowing RawSpan) throws(Errno) -> Bool {
        var entry = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        // Sound: one entry, a local. A pipe is writable when it takes PIPE_BUF bytes.
        guard unsafe poll(&entry, 1, 0) == 1, bytes.byteCount <= 4096 else { return false }
        var written = 0
        while written < bytes.byteCount {
            let start = written
            // Sound: the pointer is used within the closure, for the bytes that are left.
            written += try unsafe bytes.withUnsafeBytes { bytes in
                Result { () throws(Errno) in
                    try SystemCall.run {
                        unsafe CLinux.write(rawValue, bytes.baseAddress.map { unsafe $0 + start }, bytes.count - start)
                    }
                }
            }.get()
        }
        return true
    }
}
