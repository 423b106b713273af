// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// The options of every command that speaks to the daemon.
struct DaemonOptions: ParsableArguments {
    @OptionGroup var place: SocketOption

    @Flag(help: "Print the daemon's answer, one JSON object on a line.")
    var json = false

    /// A connection to the daemon.
    func client() throws(CommandFailure) -> ControlClient { try place.client() }

    /// Asks the daemon for one thing; `done` tells people that it is done.
    func tell(
        _ request: ControlRequest,
        patience: Duration = ControlClient.patience,
        done: Message? = nil
    ) throws {
        var client = try client()
        try show(try client.ask(request, patience: patience), done: done)
    }

    /// Prints an answer for programs, or that it is done for people.
    func show(_ answer: ControlClient.Answer, done: Message?) throws {
        if json {
            try StandardStream.output.write(answer.plainLine + "\n")
        } else if let message = answer.value.message("note") ?? done {
            Console.note(message)
        }
    }

    /// Prints an object for programs, or that it is done for people, where no daemon was asked.
    func show(_ object: JSONObject, done: Message) throws {
        if json { try StandardStream.output.write(object.text + "\n") } else { Console.note(done) }
    }

    /// Does it through the daemon, or alone where none runs that would be meant.
    func perform(_ through: (inout ControlClient) throws -> Void, alone: () throws -> Void) throws {
        do {
            var client = try client()
            try through(&client)
        } catch let failure as CommandFailure where failure.kind == .noDaemon && place.socket == nil {
            try alone()
        }
    }
}
