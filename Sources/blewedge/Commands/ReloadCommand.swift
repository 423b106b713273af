// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Control
import Texts

/// `blewedge reload`.
struct ReloadCommand: DaemonVerb {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Let the daemon read its configuration again.",
        discussion: """
            Its tables, profiles and snippets are read again too. One that is wrong is refused with what is wrong and \
            where, and the daemon goes on with the old one. `systemctl reload blewedge` and SIGHUP do the same; \
            `blewedge config check` tells of faults beforehand.

            EXAMPLES:
              blewedge reload
            """
    )

    static let request = ControlRequest.reload
    static let done = NoteText.reloaded

    @OptionGroup var daemon: DaemonOptions
}
