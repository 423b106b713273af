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
        abstract: "Let the daemon connect to the chosen device, again after `disconnect`.",
        discussion: """
            A device that was left alone because it lacks the service is tried again, too. The daemon answers at once and \
            connects by itself from then on; `blewedge status --watch` shows how it goes.

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
        abstract: "Let the daemon close the link, and leave it closed.",
        discussion: """
            What still waits to be typed is dropped and counted. The device stays chosen; `blewedge connect` makes the link \
            again.

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
        abstract: "Discard what the device sends, until `resume`.",
        discussion: """
            The link stays. What comes meanwhile is counted as gated, and is never typed later.

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
        abstract: "Type again what the device sends, after `pause`.",
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
    static let done = LogText.reloaded

    @OptionGroup var daemon: DaemonOptions
}

struct StopCommand: SimpleRequestCommand {
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
    static let done = LogText.ends

    @OptionGroup var daemon: DaemonOptions
}

struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Follow what the daemon does: one JSON object a line.",
        discussion: """
            First the state as it stands, then each change of it, each connect and disconnect, and how much was received, \
            never what. Of beacons: "region" (entered, left or inside), "watching" (a switcher began or ended it), "advertising", \
            and "beaconAvailability": possible, or with cause and remedy why none can be watched (starting, no-adapter, off, \
            forbidden, unsupported, failed); nothing where no region is known. A line that the reader was too slow for is \
            left out, and the next has "missed": how many. Ends with status 69 when the daemon does.

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
            The device must be connected, and its profile must have a characteristic to write to. Done means that the \
            controller has the bytes; most such devices confirm nothing.

            EXAMPLES:
              blewedge send --text 'R'
              blewedge send --hex '02 52 0D'
            """
    )

    @Option("Send these bytes: pairs of digits, with or without spaces.", value: "digits")
    var hex: String?

    @Option(help: "Send this text, as UTF-8.")
    var text: String?

    @OptionGroup var daemon: DaemonOptions

    func validate() throws {
        guard (hex == nil) != (text == nil) else { throw ValidationError("send wants --hex or --text.") }
        guard let bytes else { throw ValidationError("--hex wants pairs of hexadecimal digits.") }
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

/// Command that only sends one request to the daemon.
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
            "The daemon's control socket; without it the user's own daemon is asked, then the system's.",
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
