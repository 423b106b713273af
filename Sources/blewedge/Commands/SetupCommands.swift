// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothAdapters
import Configuration
import Control
import Cryptography
import Daemon
import Devices
import LinuxIO
import Setup
import Texts
import Typing

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out why nothing is typed.",
        discussion: """
            Looks at the kernel, the adapter, the rights, the keyboard, the choice, the daemon and the console, and changes \
            none of them. Each finding says what is wrong, why it matters and what mends it. A finding `blocks` when nothing is \
            typed until it is mended, `hinders` when what is typed may go wrong, and is a `note` else. With --json there is a \
            table of what the kernel has of all that is used: each row with its state, and what is done without it.

            EXAMPLES:
              blewedge doctor
              sudo blewedge doctor --json

            EXIT STATUS:
            That of the first finding but notes: 69 the adapter, a kernel's part, the daemon or the device is not there, or \
            Bluetooth is off; 77 a permission is missing; 78 the configuration, the choice, a layout or a terminal is not \
            what it has to be; 74 bytes were lost. 0 where nothing is found.
            """
    )

    @OptionGroup var adapterOptions: AdapterOptions

    @Option("The layout to compare with the console's, instead of the daemon's or the configuration's.", value: "name")
    var layout: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        if let layout, !layout.hasPrefix("console") { _ = try reporting(LayoutSource.layout, layout) }
        let places = try DaemonPaths.reachable()
        let facts = SystemFacts(at: places, adapter: adapterOptions.adapter, layout: layout)
        let findings = Doctor.findings(facts)
        let text =
            json
            ? Doctor.object(findings, kernel: Doctor.table(facts), mbedTLS: CryptographyLibrary.version).text + "\n"
            : Doctor.text(findings, .current)
        try StandardStream.output.write(text)
        if !json { Console.note(LogText.linkedIn.message(CryptographyLibrary.version)) }
        let status = Doctor.status(findings)
        guard status == .success else { throw status }
    }
}

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

    static func help() throws(CommandFailure) -> [HelpFile] {
        [HelpFile(.man, try ManualCommand.page())]
            + CompletionsCommand.Shell.allCases.map { HelpFile($0.reader, CompletionsCommand.script(for: $0)) }
    }
}

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
            // The guide counts as shown only on a terminal: output to a pipe may never be read.
            places.rememberGuide()
            return try options.show(.guide)
        }
        var model = TUIModel(language: options.language ?? .current)
        model.networkUses = places.networkUses
        model.isRoot = ProcessFacts.user == 0
        do throws(CommandFailure) {
            var client = try ControlClient(at: places.sockets)
            if let status = try client.status() { model.take(status) }
        } catch {
            model.lose(Reason(error))
        }
        model.take(SystemFacts(at: places.all, adapter: nil, layout: nil))
        let lines = GuidePage.lines(model, columns: 80).map(\.text) + [""] + Self.firstSteps(model.language)
        try StandardStream.output.write(lines.map { $0 + "\n" }.joined())
    }

    /// Returns the commands that correspond to the pages.
    private static func firstSteps(_ language: Language) -> [String] {
        let title = GuideText.commands.text(language, FirstSteps.device)
        let commands = FirstSteps.commands(hasManager: ServiceManager.ofThisMachine != nil)
        return ScreenText.wrapped(title, columns: 80) + commands.map { "    " + $0 }
    }
}
