// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO
package import SystemPackage

/// Reason why a layout, a table, the snippets, or keys requested by clients cannot be used.
package enum TypingError: Error, Equatable, Sendable {
    /// Reason why a key or character cannot be typed.
    package enum Obstacle: Equatable, Sendable {
        /// The byte table of the keypad is full.
        case tooManyKeys
        case notDeclared
        case layoutLacks(Unicode.Scalar, layout: String)
        case table(CompiledTable.Failure)
    }

    case layout(String, XKBKeymap.Failure)
    case console(layout: String, terminal: String, Errno)
    case tableUnreadable(String, Errno)
    case snippetsUnreadable(String, Errno)
    /// The file at this path is not valid UTF-8.
    case notText(String)
    /// The file at this path, or the table of this name, has a syntax error.
    case faulty(String, reason: String)
    case snippetWithoutBarcodes(title: String)
    case snippetNotTypable(title: String, BarcodeAffix.Fault)
    case snippetBarcodes(BarcodeRules.Fault)
    case keypad(CompiledTable.Failure)
    case unknownSnippet(String, known: [String])
    /// A step of a client's request, such as `clear`, cannot be typed.
    case notTypable(String, Obstacle)
}

/// Reason why there is no virtual keyboard, or why it cannot type.
package enum KeyboardError: Error, Equatable, Sendable {
    case notMade(Errno)
    case forbiddenKeys(ForbiddenKeys)
    /// The keyboard rejected events, which count as lost and are not retried.
    case notWritten(Errno)
    case noEventNode
    case eventsUnreadable(node: String, Errno)
    case ringTaken
    case noDataPath(reason: String)
    /// The foreground terminal cannot be watched.
    case noGate(terminal: Int, Errno)
}
