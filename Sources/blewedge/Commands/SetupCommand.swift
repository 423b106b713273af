// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Configuration
import LinuxIO
import Setup
import Texts

/// `blewedge setup`.
struct SetupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Make it a service of this machine.",
        discussion: """
            Installs what udev/ of the source has: the user `blewedge`, who alone may make keyboards, and the group whose \
            members may ask the service how it stands, the modules that are loaded at every start, and a service of \
            systemd, OpenRC, runit, sysvinit or BusyBox's init that may do no more than it needs: with systemd it starts when \
            there is an adapter, else with the machine. To files of others, such as /etc/inittab, it adds lines of its own. \
            Loads modules and unblocks the radio where that is what is missing. Installs the manual page and what the shells \
            that are there complete commands with. Each step is shown; what is there already is left alone, and so is what a \
            package has installed.

            EXAMPLES:
              blewedge setup --dry-run
              sudo blewedge setup
              sudo blewedge setup --remove
            """
    )

    @Flag(help: "Show the steps, and do none of them.")
    var dryRun = false

    @Flag(help: "Remove what setup installed; the user, the choice, the configuration and the program stay.")
    var remove = false

    func run() throws {
        var facts = SetupFacts.collect()
        facts.help = try Self.help()
        let steps = remove ? SetupPlan.removing(facts) : SetupPlan.installing(facts)
        if steps.isEmpty {
            try StandardStream.output.write(SetupText.nothingToDo.text(.current) + "\n")
        }
        guard dryRun || steps.isEmpty || ProcessFacts.user == 0 else {
            throw CommandFailure(.permission, SetupFaultText.notPermitted)
        }
        let runner = SetupRunner()
        for step in steps {
            try StandardStream.output.write(step.text(.current) + "\n")
            if !dryRun { try runner.perform(step) }
        }
        if !dryRun || facts.isPackaged { SetupPlan.notes(facts, isRemoving: remove).forEach { Console.note($0) } }
        if !dryRun, !remove { Console.note(SetupPlan.nextSteps(facts)) }
    }

    /// The manual page and the completions of this program.
    static func help() throws(CommandFailure) -> [HelpFile] {
        [HelpFile(.man, try ManualCommand.page())]
            + CompletionsCommand.Shell.allCases.map { HelpFile($0.reader, CompletionsCommand.script(for: $0)) }
    }
}
