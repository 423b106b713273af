// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import Texts

/// The log of a daemon on standard error: for people, or for a journal, which adds the program's name and the time.
///
/// Printing never blocks the daemon: up to a limit, lines wait to be written; further lines are discarded and counted.
/// Use it on the event loop's thread.
final class Journal {
    /// The priority of a line, as in syslog(3) and sd-daemon(3).
    enum Priority: Int {
        case warning = 4
        case notice = 5
        case information = 6

        init(_ state: Session.State) {
            self =
                switch state {
                case .lost, .failed, .unsupported, .bluetoothOff, .unauthorized: .warning
                case .connected, .disconnected, .unselected: .notice
                case .connecting: .information
                }
        }
    }

    /// Time limit for writing the remaining lines when the program ends.
    private static let patience = Duration.seconds(2)

    let isOn: Bool
    private let lines: LineWriter?

    /// Language of the messages: English in a journal, as other programs use it there; otherwise the user's language.
    var language: Language { isOn ? .english : .current }

    /// Creates a log.
    ///
    /// Its lines have the format of the journal if standard error is connected to one, or if `wanted` is true.
    init(wanted: Bool) {
        let isOn = wanted || StandardStream.error.isJournal
        self.isOn = isOn
        lines = try? LineWriter(.error) { count in
            let text = LogText.linesMissing.message("\(count)").text(isOn ? .english : .current)
            return Self.line(text, isOn ? .warning : nil)
        }
    }

    /// Registers with the event loop, so that waiting lines are written as soon as standard error becomes writable.
    func join(_ loop: EventLoop) { lines?.join(loop) }

    /// Prints a line without blocking.
    func note(_ text: String, _ priority: Priority) { lines?.write(Self.line(text, isOn ? priority : nil)) }

    /// Prints a failure and its remedy, in the format that all commands use.
    func report(_ failure: CommandFailure) {
        Console.lines(of: failure).forEach { lines?.write(Self.line($0, nil)) }
    }

    func print(_ line: String) { lines?.write(line + "\n") }

    /// Writes waiting lines within `patience`, and discards the rest.
    func finish() { lines?.finish(within: Self.patience) }

    /// Formats a line: for a journal if it has a priority, otherwise for people.
    private static func line(_ text: String, _ priority: Priority?) -> String {
        priority.map { "<\($0.rawValue)>\(Console.printable(text))\n" } ?? Console.line(text)
    }
}
