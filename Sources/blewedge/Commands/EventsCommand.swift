// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Control
import LinuxIO
import Texts

/// `blewedge events`.
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
