// SPDX-License-Identifier: GPL-2.0-or-later

/// Why a text is refused, and where.
package struct ConfigurationFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, counted from 1; nil where no single line is at fault.
    package var line: Int?
    /// The description of the fault: the value that is there, and the one that is wanted.
    package var reason: String

    /// A fault in a line.
    package init(line: Int?, reason: String) {
        self.line = line
        self.reason = reason
    }

    /// Line and reason.
    package var description: String { line.map { "line \($0): \(reason)" } ?? reason }
}
