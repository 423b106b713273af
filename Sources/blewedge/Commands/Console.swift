// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import Texts

/// Notes for people on standard error, beside the data on standard output.
enum Console {
    /// Prints a line of progress to standard error.
    static func note(_ text: String) {
        try? StandardStream.error.write(line(text))
    }

    /// Prints a message to standard error, in the language of this process.
    static func note(_ message: Message) { note(message.text(.current)) }

    /// Prints what went wrong, and what mends it.
    static func report(_ failure: CommandFailure) { report(Reason(failure)) }

    /// Prints a reason, and its remedy.
    static func report(_ reason: Reason) { lines(of: reason).forEach { note($0) } }

    /// Whether somebody is there to be asked: all three streams are a terminal's, and no program reads the answer.
    static func mayAsk(isJSON: Bool) -> Bool {
        !isJSON && StandardInput.isTerminal && StandardStream.output.isTerminal && StandardStream.error.isTerminal
    }

    /// Asks a question that yes or no answers; whatever is not yes is no.
    static func isYes(_ question: String) throws -> Bool {
        try StandardStream.error.write(printable(question))
        return ["y", "yes"].contains(StandardInput.line()?.lowercased() ?? "")
    }

    /// What went wrong, and what mends it, in the language of this process.
    static func lines(of failure: CommandFailure) -> [String] { lines(of: Reason(failure)) }

    private static func lines(of reason: Reason) -> [String] {
        [reason.cause, reason.remedy.map { NoteText.toMend.message($0) }].compactMap { $0?.text(.current) }
    }

    /// A note with its end.
    static func line(_ text: String) -> String { "blewedge: \(printable(text))\n" }

    /// A text of several lines with nothing in them that must not be shown as it is.
    static func printable(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { LocalName.printable(String($0)) }
            .joined(separator: "\n")
    }
}
