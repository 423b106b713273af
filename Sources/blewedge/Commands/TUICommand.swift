// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Configuration
import LinuxIO
import Texts

/// The options of the commands with pages.
struct TUIOptions: ParsableArguments {
    @OptionGroup var place: SocketOption

    @Option(
        help: ArgumentHelp(
            "en or ja. Without it the locale says it; a Linux console has no Japanese, and gets English.",
            valueName: "language"
        )
    )
    var language: Language?

    /// Shows the pages on the terminal, from this one on.
    func show(_ page: Page) throws {
        try TUIDriver(page: page, language: language ?? .current, places: try TUIPlaces(socket: place.socket)).run()
    }
}

extension Language: ExpressibleByArgument {}

/// `blewedge tui`.
struct TUICommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tui",
        abstract: "Pages for a terminal: devices, check, keypad, snippets, settings, guide and beacons.",
        discussion: """
            Works on a bare console and over ssh. F1 to F6 show the pages, F7 connects, F8 disconnects, F9 pauses and \
            resumes, F10 ends, F11 shows the page of beacons; Alt with the digit, or with b for F11, does the same. What a device sends is typed into these pages too where they have the focus: it \
            goes into their field, and is never taken for a command. Without a daemon the check page starts the installed service; \
            elsewhere Enter starts a daemon, which goes on when the pages end, and ends by `blewedge stop`. NO_COLOR leaves out the colours.

            EXAMPLES:
              blewedge tui
              blewedge tui --language ja
            """
    )

    @OptionGroup var options: TUIOptions

    func run() throws { try options.show(.devices) }
}
