// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import LinuxIO
import Texts

/// `blewedge manual`.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Print the manual page, which says what --help of every command does.",
        discussion: """
            EXAMPLES:
              blewedge manual | man -l -
              blewedge manual > /usr/local/share/man/man1/blewedge.1
            """
    )

    func run() throws { try StandardStream.output.write(try Self.page()) }

    /// The page of this program.
    static func page() throws(CommandFailure) -> String {
        do {
            let help = try JSONValue(Array(BlewedgeCommand._dumpHelp().utf8))
            return ManualText.page(ofHelp: help, version: BlewedgeCommand.programVersion)
        } catch {
            throw CommandFailure(.internal, CommandFaultText.noHelp, "\(error)")
        }
    }
}
