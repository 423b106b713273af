// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux
package import SystemPackage

/// A file descriptor with one owner, closed when the owner lets go of it.
package struct Descriptor: ~Copyable, Sendable {
    /// The number, for calls that this module makes; it must not be closed.
    let number: Int32
    /// What it leads to.
    let kind: CallKind

    /// Takes over an open descriptor.
    package init(owning number: Int32, _ kind: CallKind = .file) {
        self.number = number
        self.kind = kind
    }

    deinit {
        // close is never repeated: on Linux the number is free again even when the call says EINTR.
        _ = close(number)
    }

    /// Opens a path, closed on exec (C: `open`).
    static func open(
        _ path: String,
        _ flags: Int32,
        mode: UInt32 = 0,
        _ kind: CallKind = .file
    ) throws(Errno) -> Descriptor {
        let site = CallSite(kind, .open)
        return Descriptor(
            owning: try SystemCall.run(site) { unsafe blewedge_open(path, flags | O_CLOEXEC, mode) },
            kind
        )
    }

    /// The numbers of a new pipe's ends, each for an owner of its own; neither blocks, both are closed on exec (C:
    /// `pipe2`).
    static func pipe() throws(Errno) -> (output: Int32, input: Int32) {
        var ends: [Int32] = [-1, -1]
        // Sound: the kernel writes two numbers, and there is room for two.
        _ = try SystemCall.run { unsafe blewedge_pipe(&ends) }
        return (ends[0], ends[1])
    }

    /// Another descriptor of the same open file, closed on exec, with an owner of its own (C:
    /// `fcntl(F_DUPFD_CLOEXEC)`).
    func duplicate() throws(Errno) -> Descriptor {
        let number = number
        return Descriptor(owning: try SystemCall.run { blewedge_duplicate(number) }, kind)
    }

    /// Reads into the buffer; 0 is the end of the file (C: `read`).
    package func read(into buffer: inout [UInt8]) throws(Errno) -> NonBlocking<Int> {
        let (number, site) = (number, CallSite(kind, .read))
        return try unsafe buffer.withUnsafeMutableBytes { bytes in
            // Sound: the pointer is used within the closure, with the buffer's own length.
            Result { () throws(Errno) in
                try SystemCall.runNonBlocking(site) { unsafe CLinux.read(number, bytes.baseAddress, bytes.count) }
            }
        }.get()
    }

    /// Writes bytes, as many as the descriptor takes now (C: `write`).
    package func write(_ bytes: borrowing RawSpan) throws(Errno) -> NonBlocking<Int> {
        let (number, site) = (number, CallSite(kind, .write))
        return try unsafe bytes.withUnsafeBytes { bytes in
            // Sound: as in read.
            Result { () throws(Errno) in
                try SystemCall.runNonBlocking(site) { unsafe CLinux.write(number, bytes.baseAddress, bytes.count) }
            }
        }.get()
    }

    /// Opens a file for writing, made empty or made at all; `/dev/null` takes everything (C: `open`).
    package static func forWriting(_ path: String) throws(Errno) -> Descriptor {
        try open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
    }

    /// Opens a file for reading (C: `open`).
    package static func forReading(_ path: String) throws(Errno) -> Descriptor {
        try open(path, O_RDONLY)
    }

    /// Standard input, under a number of its own.
    package static func forStandardInput() throws(Errno) -> Descriptor {
        Descriptor(owning: try SystemCall.run { blewedge_duplicate(0) })
    }

    /// The number, for C code that is measured beside ours; the descriptor must outlive its use.
    package var unownedNumber: Int32 { number }

    /// Opens a virtual terminal for questions about its state, not for reading.
    ///
    /// Such questions need no right to read keys: members of the group tty may open a terminal for writing only.
    static func terminal(_ path: String) throws(Errno) -> Descriptor {
        do {
            return try open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
        } catch .permissionDenied {
            return try open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK)
        }
    }
}
