// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Control
import Texts

/// `blewedge connect`.
struct ConnectCommand: DaemonVerb {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Let the daemon connect to the chosen device, again after `disconnect`.",
        discussion: """
            A device that was left alone because it lacks the service is tried again, too. The daemon answers at once and \
            connects by itself from then on; `blewedge status --watch` shows how it goes.

            EXAMPLES:
              blewedge connect
            """
    )

    static let request = ControlRequest.connect
    static let done = NoteText.connects

    @OptionGroup var daemon: DaemonOptions
}
