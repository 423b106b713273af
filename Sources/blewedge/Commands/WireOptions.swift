// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Configuration
import Control
import Daemon
import Devices
import Texts

/// The options for the kind of device, and for the place where its bytes go.
struct WireOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The serial service: \(Profile.builtIn.map(\.name).joined(separator: ", ")), one of the configuration, a file by its path, or \(Configuration.anyProfile) for whichever the device offers.",
            valueName: "name|path"
        )
    )
    var profile: String?

    @Option(
        help: ArgumentHelp(
            "Where goes what is received: \(WireDestination.form). A terminal and a socket carry bytes to the device too.",
            valueName: "end"
        )
    )
    var to: String?

    @Flag(help: "With another end than the keyboard: the bytes as received, not the text that would be typed.")
    var raw = false

    @Option(
        help: ArgumentHelp(
            "With another end than the keyboard: what becomes of lines while 64 KiB wait for a reader.",
            discussion: """
                drop-newest (the default) drops the line that comes, drop-oldest what waits longest, and wait takes no more \
                until every reader has room, and there is one. Only whole lines are dropped: what is typed up to an Enter, a \
                scan of scan mode, or what comes before a silence of 100 ms; one of 4096 bytes ends there. Bytes count as \
                typed when one reader at least took their whole line, else as undelivered; what one reader did not get is \
                counted as missed.
                """,
            valueName: "policy"
        )
    )
    var slowReader: SlowReaderPolicy?

    /// Puts what was given in the place of what the file says.
    func apply(to configuration: inout Configuration) throws(CommandFailure) {
        if let profile { configuration.profile = profile }
        if let to {
            guard let destination = WireDestination(to) else {
                throw CommandFailure(.usage, CommandFaultText.endWanted, PlainText.ends.message())
            }
            configuration.destination = destination
        }
        if raw { configuration.isRaw = true }
        if let slowReader { configuration.slowReader = slowReader }
        if configuration.isRaw, configuration.destination == .keyboard {
            throw CommandFailure(.usage, CommandFaultText.rawWantsEnd)
        }
    }
}
