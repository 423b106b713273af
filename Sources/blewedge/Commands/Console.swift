// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import Texts
import Wedge

/// Notes for people on standard error, beside the data on standard output.
enum Console {
    /// Prints a line of progress to standard error.
    static func note(_ text: String) {
        try? StandardStream.error.write("blewedge: \(text)\n")
    }

    /// Prints a message to standard error, in the language of this process.
    static func note(_ message: Message) { note(message.text(.current)) }

    /// Prints what went wrong, and what mends it.
    static func report(_ failure: CommandFailure) {
        note(failure.cause)
        if let remedy = failure.remedy { note(NoteText.toMend.message(remedy)) }
    }
}
