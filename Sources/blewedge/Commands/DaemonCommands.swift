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
        abstract: "Connect the daemon to the selected device, for example after `blewedge disconnect`.",
        discussion: """
            The daemon also retries a device that it rejected before because the device had no serial service. The \
            command returns at once, and the daemon connects in the background. To see the progress of the connection, \
            use `blewedge status --watch`.

            EXAMPLES:
              blewedge connect
              blewedge connect --device scanner2
            """
    )

    static let request = ControlRequest.connect
    static let done = LogText.connects

    @OptionGroup var deviceOption: DeviceOption

    @OptionGroup var daemon: DaemonOptions

    var deviceName: String? { deviceOption.device }
}

struct DisconnectCommand: SimpleRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect",
        abstract: "Disconnect the daemon from the device until `blewedge connect`.",
        discussion: """
            Data that has not been typed yet is dropped and counted. The device stays selected, and `blewedge connect` \
            reconnects to the device.

            EXAMPLES:
              blewedge disconnect
              blewedge disconnect --device scanner2
            """
    )

    static let request = ControlRequest.disconnect
    static let done = LogText.disconnected

    @OptionGroup var deviceOption: DeviceOption

    @OptionGroup var daemon: DaemonOptions

    var deviceName: String? { deviceOption.device }
}

struct PauseCommand: SimpleRequestCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Stop typing received data until `blewedge resume`.",
        discussion: """
            The link to the device stays open. Data that arrives while typing is paused is counted as gated, and is \
            never typed.

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
        abstract: "Resume typing received data after `blewedge pause`.",
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
            The daemon also reloads its tables, profiles and snippets. If the new configuration has an error, the \
            daemon reports the position and the cause of the error, and keeps the old configuration. `systemctl reload \
            blewedge` and the signal SIGHUP also reload the configuration. To find errors before you reload, run \
            `blewedge config check`.

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
            The daemon closes its link, and drops and counts data that has not been typed yet. If systemd runs the \
            daemon, `systemctl stop blewedge` also stops it.

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
        abstract: "Print the daemon's events as they occur, as one JSON object per line.",
        discussion: """
            The command prints the current state, and then an event for each change of state, for example when the \
            device is connected or disconnected, and the number of received bytes. Received data is never printed. If \
            the program that reads the output is too slow, lines are skipped, and the next line contains the number of \
            skipped lines in "\(ControlEvent.missedName)". When the daemon ends, the command exits with status 69.

            The event "region" reports that a region was entered or left, or that the machine is inside a region. The \
            event "watching" reports that a switcher beacon started or stopped the watching of regions. The event \
            "advertising" reports whether this machine acts as a beacon. The event "beaconAvailability" reports that \
            beacons can be received, or the cause (starting, no-adapter, off, forbidden, unsupported or failed) and \
            the fix. The event "beaconAvailability" is omitted if no region is known.

            EVENTS AND MEMBERS:
            \(ControlEvent.listing)

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
        usage: "blewedge send (--hex <digits> | --text <text>) [<options>]",
        discussion: """
            The device must be connected, and its profile must have a writable characteristic. The command succeeds \
            when the controller has accepted the bytes, because most devices do not confirm them.

            EXAMPLES:
              blewedge send --text 'R'
              blewedge send --hex '02 52 0D'
            """
    )

    @Option("Bytes to send, as pairs of hexadecimal digits with or without spaces.", value: "digits")
    var hex: String?

    @Option(help: "Text to send, encoded as UTF-8.")
    var text: String?

    @OptionGroup var deviceOption: DeviceOption

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
        try daemon.tell(deviceOption.request(.send(bytes)))
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
    /// Name of the device in the configuration; nil for the only device, and for requests that concern no device.
    var deviceName: String? { get }
}

extension SimpleRequestCommand {
    var deviceName: String? { nil }

    func run() throws { try daemon.tell(Self.request.of(deviceName), done: Self.done.message()) }
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
