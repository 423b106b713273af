// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Control
import Daemon
import LinuxIO
import SystemPackage
import Texts

/// `blewedge status`.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say what the daemon does: its state, the chosen device, what became of every byte.",
        discussion: """
            With --watch on a terminal it is drawn anew every second; into a pipe, or with --json, it is printed again each \
            time that it has changed. What was received is told by time and length, never by its contents. Without a \
            daemon the status is 69.

            EXAMPLES:
              blewedge status
              blewedge status --watch
              blewedge status --json | jq .state
            """
    )

    @Flag(help: "Go on, until Ctrl-C.")
    var watch = false

    @OptionGroup var daemon: DaemonOptions

    func run() throws {
        var client = try daemon.client()
        guard watch else { return try StandardStream.output.write(text(try client.ask(.status))) }
        let isDrawn = StandardStream.output.isTerminal && !daemon.json
        var table = LiveTable()
        var last: JSONValue?
        while true {
            let answer = try client.ask(.status)
            if isDrawn {
                let size = StandardStream.output.windowSize
                let lines = StatusText.lines(answer.value).map { DisplayWidth.cut($0, to: size?.columns ?? 80) }
                try StandardStream.output.write(table.frame(lines, rows: size?.rows ?? 24))
            } else if StatusText.lasting(answer.value) != last {
                try StandardStream.output.write(text(answer))
                last = StatusText.lasting(answer.value)
            }
            try client.rest(for: .seconds(1))
        }
    }

    private func text(_ answer: ControlClient.Answer) -> String {
        daemon.json ? answer.plainLine + "\n" : StatusText.lines(answer.value).map { $0 + "\n" }.joined()
    }
}
