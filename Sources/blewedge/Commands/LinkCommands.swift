// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Wedge

/// A command that asks the daemon for one thing, and has nothing else to say.
protocol DaemonVerb: ParsableCommand {
    /// What the daemon is asked for.
    static var request: ControlRequest { get }
    /// What people read when it is done.
    static var done: NoteText { get }
    var daemon: DaemonOptions { get }
}

extension DaemonVerb {
    func run() throws { try daemon.tell(Self.request, done: Self.done.message()) }
}

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
