// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Wedge

/// `blewedge connect`.
struct ConnectCommand: ParsableCommand {
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

    @OptionGroup var daemon: DaemonOptions

    func run() throws { try daemon.tell(.connect, done: NoteText.connects.message()) }
}

/// `blewedge disconnect`.
struct DisconnectCommand: ParsableCommand {
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

    @OptionGroup var daemon: DaemonOptions

    func run() throws { try daemon.tell(.disconnect, done: NoteText.disconnected.message()) }
}

/// `blewedge pause`.
struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Discard what the device sends, until `resume`.",
        discussion: """
            The link stays. What comes meanwhile is counted as gated, and is never typed later.

            EXAMPLES:
              blewedge pause
            """
    )

    @OptionGroup var daemon: DaemonOptions

    func run() throws { try daemon.tell(.pause, done: NoteText.paused.message()) }
}

/// `blewedge resume`.
struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Type again what the device sends, after `pause`.",
        discussion: """
            EXAMPLES:
              blewedge resume
            """
    )

    @OptionGroup var daemon: DaemonOptions

    func run() throws { try daemon.tell(.resume, done: NoteText.resumed.message()) }
}

/// `blewedge reload`.
struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Let the daemon read its configuration again.",
        discussion: """
            One that is wrong is refused with what is wrong and where, and the daemon goes on with the old one. \
            `blewedge config check` tells the same beforehand.

            EXAMPLES:
              blewedge reload
            """
    )

    @OptionGroup var daemon: DaemonOptions

    func run() throws { try daemon.tell(.reload, done: NoteText.reloaded.message()) }
}

/// `blewedge stop`.
struct StopCommand: ParsableCommand {
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

    @OptionGroup var daemon: DaemonOptions

    func run() throws { try daemon.tell(.stop, done: NoteText.ends.message()) }
}
