// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Control
import Texts

/// `blewedge disconnect`.
struct DisconnectCommand: DaemonVerb {
    static let configuration = CommandConfiguration(
        commandName: "disconnect",
        abstract: "Let the daemon close the link, and leave it closed.",
        discussion: """
            What still waits to be typed is dropped and counted. The device stays chosen; `blewedge connect` makes the link \
            again.

            EXAMPLES:
              blewedge disconnect
            """
    )

    static let request = ControlRequest.disconnect
    static let done = NoteText.disconnected

    @OptionGroup var daemon: DaemonOptions
}
