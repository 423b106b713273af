// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Control
import Texts

/// `blewedge stop`.
struct StopCommand: DaemonVerb {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "End the daemon.",
        discussion: """
            The link is closed, and what waits to be typed is dropped and counted. Where systemd runs the daemon, \
            `systemctl stop blewedge` does the same.

            EXAMPLES:
              blewedge stop
            """
    )

    static let request = ControlRequest.stop
    static let done = NoteText.ends

    @OptionGroup var daemon: DaemonOptions
}
