// SPDX-License-Identifier: GPL-2.0-or-later

import Texts

/// Destination of the data that a device sends.
package enum OutputDestination: Hashable, Sendable, CustomStringConvertible {
    case keyboard
    /// Standard output: the text that would be typed, or the bytes as received (D-7).
    case standardOutput
    /// A pseudo-terminal at this path, which another program can read and write.
    case terminal(String)
    /// A local socket at this path, which any client can read and write.
    case socket(String)

    /// Syntax of a destination, for messages and help.
    package static let form = PlainText.ends.text(.english)
    /// Maximum length of a path, limited by the address of a local socket (unix(7)).
    package static let longestPath = 107

    package init?(_ text: String) {
        func path(_ prefix: String) -> String? {
            let path = text.dropFirst(prefix.count)
            guard text.hasPrefix(prefix), path.hasPrefix("/"), path.utf8.count <= Self.longestPath else { return nil }
            return String(path)
        }
        switch text {
        case "keyboard": self = .keyboard
        case "stdout": self = .standardOutput
        default:
            if let path = path("pty:") {
                self = .terminal(path)
            } else if let path = path("unix:") {
                self = .socket(path)
            } else {
                return nil
            }
        }
    }

    package var description: String {
        switch self {
        case .keyboard: "keyboard"
        case .standardOutput: "stdout"
        case .terminal(let path): "pty:\(path)"
        case .socket(let path): "unix:\(path)"
        }
    }
}

/// Policy for lines that do not fit into the queue of an output client.
package enum SlowReaderPolicy: String, CaseIterable, Sendable {
    /// Stop reading from the ring until there is a client and every client's queue has room.
    case wait
    /// Drop the oldest lines of which the client has not received any part.
    case dropOldest = "drop-oldest"
    /// Drop the line that has just arrived, up to its end.
    case dropNewest = "drop-newest"
}
