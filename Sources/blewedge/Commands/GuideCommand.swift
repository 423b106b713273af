// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Configuration
import Control
import Daemon
import LinuxIO
import Setup
import Texts

/// `blewedge guide`.
struct GuideCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guide",
        abstract: "Go from nothing to the first typed character, each step tested on the way.",
        discussion: """
            On a terminal it is a page with a field that shows what is typed. Elsewhere the steps are printed as they stand, \
            with what is to be done next, and the commands that do all of them.

            EXAMPLES:
              blewedge guide
              blewedge guide --language ja | cat
            """
    )

    @OptionGroup var options: TUIOptions

    func run() throws {
        let places = try TUIPlaces(socket: options.place.socket)
        if StandardStream.output.isTerminal, StandardInput.isTerminal {
            // Output to a pipe may never be read.
            places.rememberGuide()
            return try options.show(.guide)
        }
        var model = TUIModel(language: options.language ?? .current)
        model.networkUses = places.networkUses
        model.isRoot = ProcessFacts.user == 0
        do throws(CommandFailure) {
            var client = try ControlClient(at: places.sockets)
            if let status = TUIStatus(try client.ask(.status).value) { model.take(status) }
        } catch {
            model.lose(Reason(error))
        }
        model.take(SystemFacts(at: places.all, adapter: nil, layout: nil))
        let lines = GuidePage.lines(model, columns: 80).map(\.text) + [""] + Self.firstSteps(model.language)
        try StandardStream.output.write(lines.map { $0 + "\n" }.joined())
    }

    /// The commands that do the same as the pages.
    private static func firstSteps(_ language: Language) -> [String] {
        let title = GuideText.commands.text(language, FirstSteps.device)
        let commands = FirstSteps.commands(hasManager: ServiceManager.ofThisMachine != nil)
        return ScreenText.wrapped(title, columns: 80) + commands.map { "    " + $0 }
    }
}
