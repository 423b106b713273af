// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Control
import Texts

/// `blewedge send`.
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

    @Option(help: ArgumentHelp("Send these bytes: pairs of digits, with or without spaces.", valueName: "digits"))
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
