// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
package import SystemPackage

extension Descriptor {
    /// Opens a file for writing, made empty or made at all; `/dev/null` takes everything.
    ///
    /// The corresponding C function is `open`.
    package static func forWriting(_ path: String) throws(Errno) -> Descriptor {
        try open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
    }

    /// Opens a file for reading.
    ///
    /// The corresponding C function is `open`.
    package static func forReading(_ path: String) throws(Errno) -> Descriptor {
        try open(path, O_RDONLY)
    }

    /// Standard input, under a number of its own.
    package static func forStandardInput() throws(Errno) -> Descriptor {
        Descriptor(owning: try SystemCall.run { blewedge_duplicate(0) })
    }

    /// The number, for C code that is measured beside ours; the descriptor must outlive its use.
    package var unownedNumber: Int32 { number }
}
