// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
import SystemPackage

extension sockaddr_un {
    /// The address of a unix socket in the file system.
    ///
    /// Throws `fileNameTooLong` for a path that a socket's address cannot hold, `invalidArgument` for an empty one.
    init(path: String) throws(Errno) {
        self.init()
        sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, !bytes.contains(0) else { throw .invalidArgument }
        guard bytes.count < MemoryLayout.size(ofValue: sun_path) else { throw .fileNameTooLong }
        // Sound: the bytes were found to fit, and the rest of the field is zero.
        unsafe withUnsafeMutableBytes(of: &sun_path) { field in unsafe field.copyBytes(from: bytes) }
    }
}
