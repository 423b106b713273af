// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import TestSupport
import Testing

/// Terminal for a program, without echo, which does not report its size.
final class ProgramTerminal {
    /// End for the program.
    let line: Int32
    private var end: Int32
    private let directory: TestDirectory

    /// Creates a terminal on which `typed` was typed.
    init(typed: String) throws {
        directory = try TestDirectory()
        let terminal = try PseudoTerminal(linkedAt: directory("line"))
        line = open(terminal.device, O_RDWR | O_NOCTTY | O_CLOEXEC)
        end = fcntl(terminal.descriptor.unownedNumber, F_DUPFD_CLOEXEC, 3)
        try #require(line >= 0 && end >= 0)
        _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) & ~O_NONBLOCK)
        try #require(typed.isEmpty || write(end, typed, typed.utf8.count) == typed.utf8.count)
    }

    deinit { for number in [line, end] where number >= 0 { close(number) } }

    /// Returns the other end, which the caller must close; reading it fails once the program has closed its end.
    func detach() -> Int32 {
        defer { end = -1 }
        return end
    }
}
