// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Control
import Daemon
import Devices
import Texts

/// A command that asks the daemon for one thing, and has nothing else to say.
protocol DaemonVerb: ParsableCommand {
    /// The request that the daemon is sent.
    static var request: ControlRequest { get }
    /// The note for people when it is done.
    static var done: NoteText { get }
    var daemon: DaemonOptions { get }
}

extension DaemonVerb {
    func run() throws { try daemon.tell(Self.request, done: Self.done.message()) }
}
