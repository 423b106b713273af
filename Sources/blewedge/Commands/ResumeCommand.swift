// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Control
import Texts

/// `blewedge resume`.
struct ResumeCommand: DaemonVerb {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Type again what the device sends, after `pause`.",
        discussion: """
            EXAMPLES:
              blewedge resume
            """
    )

    static let request = ControlRequest.resume
    static let done = NoteText.resumed

    @OptionGroup var daemon: DaemonOptions
}
