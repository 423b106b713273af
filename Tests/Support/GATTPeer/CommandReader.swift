// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// Reads lines of standard input on its own thread, so that reading blocks nothing else.
final class CommandReader: Sendable {
    private let onLine: @Sendable ([String]) -> Void

    /// Creates a reader that passes the words of each line to `onLine`, and `quit` at the end of the input.
    init(onLine: @escaping @Sendable ([String]) -> Void) {
        self.onLine = onLine
    }

    /// Starts the thread, which reads until the end of the input.
    func start() {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        pthread_create(
            &thread,
            nil,
            { context in
                if let context { Unmanaged<CommandReader>.fromOpaque(context).takeRetainedValue().read() }
                return nil
            },
            context
        )
    }

    /// Reads lines with read(2): `readLine` would hold the lock of `stdin` while waiting, and glibc 2.41 waits for this
    /// lock at exit.
    private func read() {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while Glibc.read(STDIN_FILENO, &byte, 1) == 1 {
            if byte != UInt8(ascii: "\n") {
                line.append(byte)
            } else {
                onLine(String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init))
                line = []
            }
        }
        onLine(["quit"])
    }
}
