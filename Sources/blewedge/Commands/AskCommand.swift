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
            Commands of all clients are sent strictly one after another: the next one when the last has had its reply, or \
            its time is over. The reply is printed in hexadecimal, and is not typed; whatever else the device sends is. \
            Bytes are written as in the handshake of a profile: A5 01 in hexadecimal, "AT" in quotes, {crc8-maxim} and the \
            other checksums (\(Checksum.names)) of all bytes before them; in a reply ?? for any byte, and * at its end for \
            whatever else the same notification brings. Without --reply the command is done when it is written.

            Where no such reply comes in time the exit status is 75; where the link ends before, 69, and it is told whether \
            the command was written.

            EXAMPLES:
              blewedge ask 'A5 01 {crc8-maxim}' --reply 'A5 81 ?? {crc8-maxim}'
              blewedge ask '"AT+BAT" 0D' --reply '"+BAT:" ?? ?? 0D' --within 1s --times 3
              blewedge ask '02 52 0D'
            """
    )

    @Argument(help: ArgumentHelp("The command.", valueName: "bytes"))
    var command: String

    @Option("The reply that is waited for.", value: "bytes")
    var reply: String?

    @Option("With --reply: how long it may take, from 10ms to 60s (default: 2s).", value: "time")
    var within: TimeArgument?

    @Option(
        "With --reply: how often the command is written before the reply is given up (default: 1).",
        value: "number"
    )
    var times: Int?

    @OptionGroup var daemon: DaemonOptions

    func validate() throws {
        if reply == nil, within != nil || times != nil {
            throw ValidationError("--within and --times are for --reply.")
        }
        do throws(ControlFault) {
            _ = try request()
        } catch {
            throw ValidationError(error.reason + ".")
        }
    }

    func run() throws {
        var client = try daemon.client()
        // No time-out: earlier requests may take any time, and the daemon always answers.
        let answer = try client.ask(try request(), patience: nil)
        if daemon.json {
            try StandardStream.output.write(answer.plainLine + "\n")
        } else if reply == nil {
            Console.note(LogText.commandWritten.message())
        } else {
            try StandardStream.output.write(LocalName.printable(answer.value["reply"]?.string ?? "") + "\n")
        }
    }

    /// Returns the request, parsed by the rules of the control socket.
    private func request() throws(ControlFault) -> ControlRequest {
        var words = ["ask", ControlLine.written(command.utf8)]
        if let reply { words += ["reply", ControlLine.written(reply.utf8)] }
        if let within { words += ["within", TimeText.text(within.duration)] }
        if let times { words += ["times", "\(times)"] }
        return try ControlRequest(line: Array(words.joined(separator: " ").utf8))
    }
}
