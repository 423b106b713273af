// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothPackets
import Control
import Daemon
import Devices
import LinuxIO
import Texts
import Typing

struct AskCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ask",
        abstract: "Send a command to the connected device, and print its reply.",
        usage: "blewedge ask <bytes> [<options>]",
        discussion: """
            If several clients send commands, each command waits until the previous command has been answered or has \
            timed out. The reply is printed in hexadecimal and is not typed. Data that is not part of the reply is \
            typed as usual. If no matching reply arrives in time, the exit status is 75. If the link is lost before \
            the reply, the exit status is 69, and the message says whether the command was sent. Without --reply, the \
            command succeeds when the bytes have been sent.

            Write bytes in hexadecimal (A5 01), text in quotes ("AT"), and the checksum of all preceding bytes as a \
            name in braces ({crc8-maxim}). The available checksums are \(Checksum.names). Commands and replies have \
            the same notation as the handshake of a profile. In a reply, ?? matches any byte, and * at the end matches \
            the rest of the notification.

            EXAMPLES:
              blewedge ask 'A5 01 {crc8-maxim}' --reply 'A5 81 ?? {crc8-maxim}'
              blewedge ask '"AT+BAT" 0D' --reply '"+BAT:" ?? ?? 0D' --within 1s --times 3
              blewedge ask '02 52 0D'
            """
    )

    @Argument(help: ArgumentHelp("Command to send.", valueName: "bytes"))
    var command: String

    @Option("Pattern of the expected reply.", value: "bytes")
    var reply: String?

    @Option("With --reply, wait up to this time for the reply, from 10ms to 60s (default: 2s).", value: "time")
    var within: TimeArgument?

    @Option(
        "With --reply, send the command up to this many times until a reply arrives (default: 1).",
        value: "number"
    )
    var times: Int?

    @OptionGroup var deviceOption: DeviceOption

    @OptionGroup var daemon: DaemonOptions

    func validate() throws {
        if reply == nil, within != nil || times != nil {
            throw ValidationError("--within and --times require --reply.")
        }
        do throws(ControlFault) {
            _ = try request()
        } catch {
            throw ValidationError(error.reason + ".")
        }
    }

    func run() throws {
        var client = try daemon.client()
        // Do not set a time-out, because earlier requests may take any time, and the daemon always answers.
        let answer = try client.ask(deviceOption.request(try request()), patience: nil)
        if daemon.json {
            try StandardStream.output.write(answer.plainLine + "\n")
        } else if reply == nil {
            Console.note(LogText.commandWritten.message())
        } else {
            try StandardStream.output.write(LocalName.printable(answer.value["reply"]?.string ?? "") + "\n")
        }
    }

    /// Parses the request by the same rules as the control socket does.
    private func request() throws(ControlFault) -> ControlRequest {
        var words = ["ask", ControlLine.written(command.utf8)]
        if let reply { words += ["reply", ControlLine.written(reply.utf8)] }
        if let within { words += ["within", TimeText.text(within.duration)] }
        if let times { words += ["times", "\(times)"] }
        return try ControlRequest(line: Array(words.joined(separator: " ").utf8))
    }
}
