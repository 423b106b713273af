// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO
import Texts
import Wedge

/// The messages of a daemon on standard error: for people, or for a journal, which adds the name and the time.
struct Journal {
    /// How much a line matters: syslog(3), sd-daemon(3).
    enum Priority: Int {
        case warning = 4
        case notice = 5
        case information = 6

        /// The priority of a state.
        init(_ state: Session.State) {
            self =
                switch state {
                case .lost, .failed, .unsupported, .bluetoothOff, .unauthorized: .warning
                case .connected, .disconnected, .unselected: .notice
                case .connecting: .information
                }
        }
    }

    /// Whether lines are for a journal.
    let isOn: Bool

    /// The language of the messages: English in a journal, as those of other programs, else the user's own.
    var language: Language { isOn ? .english : .current }

    /// For a journal where standard error is connected to it, or where that is `wanted`.
    init(wanted: Bool) {
        isOn = wanted || StandardStream.error.isJournal
    }

    /// Prints a line.
    func note(_ text: String, _ priority: Priority) {
        if isOn { try? StandardStream.error.write("<\(priority.rawValue)>\(text)\n") } else { Console.note(text) }
    }
}
