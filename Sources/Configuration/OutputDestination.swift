// SPDX-License-Identifier: GPL-2.0-or-later

import Texts

/// Where what a device sends goes.
package enum OutputDestination: Hashable, Sendable, CustomStringConvertible {
    case keyboard
    /// Written to standard output: the text that would be typed, or the bytes as received (D-7).
    case standardOutput
    /// A pseudo-terminal, found at this path; both ways.
    case terminal(String)
    /// A local socket at this path; both ways, to every client.
    case socket(String)

    /// How one is written, for people.
    package static let form = PlainText.ends.text(.english)
    /// The longest path: what a local socket's address holds (unix(7)).
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

/// What becomes of lines for which the queue before a reader of another end has no room.
package enum SlowReaderPolicy: String, CaseIterable, Sendable {
    /// Nothing more is taken from the ring until every reader has room, and there is one.
    case wait
    /// The oldest lines of which the reader has got nothing make room.
    case dropOldest = "drop-oldest"
    /// The line that comes is dropped, to its end.
    case dropNewest = "drop-newest"
}
