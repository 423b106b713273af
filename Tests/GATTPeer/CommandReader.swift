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

    private func read() {
        while let line = readLine() { onLine(line.split(separator: " ").map(String.init)) }
        onLine(["quit"])
    }
}
