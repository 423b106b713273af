// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Control
import Texts

/// `blewedge pause`.
struct PauseCommand: DaemonVerb {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Discard what the device sends, until `resume`.",
        discussion: """
            The link stays. What comes meanwhile is counted as gated, and is never typed later.

            EXAMPLES:
              blewedge pause
            """
    )

    static let request = ControlRequest.pause
    static let done = NoteText.paused

    @OptionGroup var daemon: DaemonOptions
}
