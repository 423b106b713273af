// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// Reads lines of standard input on a thread of its own, so that nothing else waits for them.
final class CommandReader: Sendable {
    private let onLine: @Sendable ([String]) -> Void

    /// `onLine` takes the words of each line; the end of the input is the word `quit`.
    init(onLine: @escaping @Sendable ([String]) -> Void) {
        self.onLine = onLine
    }

    /// Reads until the end.
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

    /// Lines by read(2): `readLine` would hold the lock of `stdin` while it waits, and glibc 2.41 waits for that at exit.
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
