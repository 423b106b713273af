// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

struct ConnectCommand: SimpleRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Connect the daemon to the selected device, for example after `disconnect`.",
        discussion: """
            It also retries a device that was given up because it lacks the serial service. The command returns at \
            once, and the daemon connects in the background; `blewedge status --watch` shows the progress.

            EXAMPLES:
              blewedge connect
            """
    )

    static let request = ControlRequest.connect
    static let done = LogText.connects

    @OptionGroup var daemon: DaemonOptions
}

struct DisconnectCommand: SimpleRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect",
        abstract: "Close the daemon's link, and keep it closed.",
        discussion: """
            Data that waits to be typed is dropped and counted. The device stays selected; `blewedge connect` connects \
            to it again.

            EXAMPLES:
              blewedge disconnect
            """
    )

    static let request = ControlRequest.disconnect
    static let done = LogText.disconnected

    @OptionGroup var daemon: DaemonOptions
}

struct PauseCommand: SimpleRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Stop typing received data, until `resume`.",
        discussion: """
            The link stays open. Data received while paused is counted as gated, and is never typed.

            EXAMPLES:
              blewedge pause
            """
    )

    static let request = ControlRequest.pause
    static let done = LogText.paused

    @OptionGroup var daemon: DaemonOptions
}

struct ResumeCommand: SimpleRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Type received data again, after `pause`.",
        discussion: """
            EXAMPLES:
              blewedge resume
            """
    )

    static let request = ControlRequest.resume
    static let done = LogText.resumed

    @OptionGroup var daemon: DaemonOptions
}

struct ReloadCommand: SimpleRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reload the daemon's configuration.",
        discussion: """
            Tables, profiles and snippets are reloaded too. If the new configuration has an error, it is rejected with \
            the position and the cause, and the daemon keeps the old one. `systemctl reload blewedge` and SIGHUP do \
            the same; `blewedge config check` finds errors beforehand.

            EXAMPLES:
              blewedge reload
            """
    )

    static let request = ControlRequest.reload
    static let done = LogText.reloaded

    @OptionGroup var daemon: DaemonOptions
}

struct StopCommand: SimpleRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop",
        abstract: "Stop the daemon.",
        discussion: """
            The link is closed, and data that waits to be typed is dropped and counted. If systemd runs the daemon, \
            `systemctl stop blewedge` does the same.

            EXAMPLES:
              blewedge stop
            """
    )

    static let request = ControlRequest.stop
    static let done = LogText.ends

    @OptionGroup var daemon: DaemonOptions
}

struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Follow the daemon's events, one JSON object per line.",
        discussion: """
            Prints the current state, then each change of state, each connect and disconnect, and the number of bytes \
            received, but never the data. Events of beacons are "region" (entered, left or inside), "watching" \
            (started or stopped by a switcher), "advertising", and "beaconAvailability": possible, or the cause \
            (starting, no-adapter, off, forbidden, unsupported, failed) and the remedy. The last one is omitted if no \
            region is known. If the consumer is too slow, lines are skipped, and the next line has their number in \
            "missed". Exits with status 69 when the daemon ends.

            EXAMPLES:
              blewedge events
              blewedge events | jq --unbuffered 'select(.event == "beaconAvailability")'
              blewedge events | jq --unbuffered -r 'select(.event == "state").state'
            """
    )

    @OptionGroup var place: SocketOption

    func run() throws {
        var client = try place.client()
        _ = try client.ask(.events)
        while let event = try client.next() { try StandardStream.output.write(event.plainLine + "\n") }
        throw CommandFailure(.unavailable, ControlFaultText.ended)
    }
}

struct SendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send bytes to the connected device.",
        discussion: """
            The device must be connected, and its profile must have a writable characteristic. The command succeeds \
            when the controller has the bytes; most devices confirm nothing.

            EXAMPLES:
              blewedge send --text 'R'
              blewedge send --hex '02 52 0D'
            """
    )

    @Option("Bytes to send: pairs of hexadecimal digits, with or without spaces.", value: "digits")
    var hex: String?

    @Option(help: "Text to send, as UTF-8.")
    var text: String?

    @OptionGroup var daemon: DaemonOptions

    func validate() throws {
        guard (hex == nil) != (text == nil) else { throw ValidationError("send requires --hex or --text.") }
        guard let bytes else { throw ValidationError("--hex requires pairs of hexadecimal digits.") }
        guard 1...ControlRequest.mostBytes ~= bytes.count else {
            throw ValidationError("send takes 1 to \(ControlRequest.mostBytes) bytes.")
        }
    }

    func run() throws {
        guard let bytes else { throw CommandFailure(.usage, CommandFaultText.incomplete) }
        try daemon.tell(.send(bytes))
    }

    private var bytes: [UInt8]? {
        if let hex { return GATTCommand.bytes(hex) }
        return text.map { Array($0.utf8) }
    }
}

/// A command that sends a single request to the daemon.
protocol SimpleRequestCommand: ParsableCommand {
    static var request: ControlRequest { get }
    static var done: LogText { get }
    var daemon: DaemonOptions { get }
}

extension SimpleRequestCommand {
    func run() throws { try daemon.tell(Self.request, done: Self.done.message()) }
}

struct SocketOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Control socket of the daemon. By default, the command uses your own daemon if it is running, or else the system's daemon.",
            valueName: "path"
        ),
        completion: .file()
    )
    var socket: String?

    func paths() throws(CommandFailure) -> [String] {
        if let socket { return [socket] }
        return try DaemonPaths.reachable().map(\.controlSocket.string)
    }

    func client() throws(CommandFailure) -> ControlClient { try ControlClient(at: try paths()) }
}
