// SPDX-License-Identifier: GPL-2.0-or-later

import CLinux

/// Standard input, where people answer a question.
package enum StandardInput {
    /// True where standard input is a terminal, so that somebody can answer.
    ///
    /// The corresponding C function is `isatty`.
    package static var isTerminal: Bool { isatty(0) == 1 }

    /// The next line, without its end; nil at the end of the input.
    package static func line() -> String? { readLine() }
}
