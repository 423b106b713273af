// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import Texts

/// The messages of a daemon on standard error: for people, or for a journal, which adds the name and the time.
///
/// Who reads them does not hold up the daemon: lines that are not read are kept up to a bound, and left out and counted beyond
/// it. To be used on the event loop's thread.
final class Journal {
    /// How much a line matters: syslog(3), sd-daemon(3).
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

    /// How long the end of the program is put off for a reader that is slow.
    private static let patience = Duration.seconds(2)

    let isOn: Bool
    private let lines: LineWriter?

    /// The language of the messages: English in a journal, as those of other programs, else the user's own.
    var language: Language { isOn ? .english : .current }

    /// For a journal where standard error is connected to it, or where that is `wanted`.
    init(wanted: Bool) {
        let isOn = wanted || StandardStream.error.isJournal
        self.isOn = isOn
        lines = try? LineWriter(.error) { count in
            let text = LogText.linesMissing.message("\(count)").text(isOn ? .english : .current)
            return Self.line(text, isOn ? .warning : nil)
        }
    }

    /// Writes what waits as soon as it is read, from now on.
    func join(_ loop: EventLoop) { lines?.join(loop) }

    /// Prints a line, without waiting for its reader.
    func note(_ text: String, _ priority: Priority) { lines?.write(Self.line(text, isOn ? priority : nil)) }

    /// Prints what went wrong, and what mends it, as every command does.
    func report(_ failure: CommandFailure) {
        Console.lines(of: failure).forEach { lines?.write(Self.line($0, nil)) }
    }

    func print(_ line: String) { lines?.write(line + "\n") }

    /// Waits a little for a reader that is slow; what it has not read by then is given up.
    func finish() { lines?.finish(within: Self.patience) }

    /// A line for a journal where it has a priority, else for people.
    private static func line(_ text: String, _ priority: Priority?) -> String {
        priority.map { "<\($0.rawValue)>\(Console.printable(text))\n" } ?? Console.line(text)
    }
}
