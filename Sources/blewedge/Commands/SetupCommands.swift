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
        abstract: "Find out why blewedge types nothing.",
        discussion: """
            The command checks the kernel, the adapter, the permissions, the keyboard, the selected device, the daemon \
            and the console, without changing anything. Each finding describes a problem, its effect and its fix. A \
            finding is marked `blocks` if nothing can be typed, `hinders` if text may be typed incorrectly, and `note` \
            in all other cases. With --json, the output also lists the kernel features that blewedge uses, their \
            availability, and the fallback for each missing feature.

            EXAMPLES:
              blewedge doctor
              sudo blewedge doctor --json
              blewedge doctor --all

            EXIT STATUS:
            The exit status depends on the first finding that is not a note. The status is 0 if there is no such \
            finding, 69 if the adapter, a kernel feature, the daemon or the device is missing or if Bluetooth is off, \
            74 if bytes were lost, 77 if a permission is missing, and 78 if the configuration, the selection, a layout \
            or a terminal is wrong.
            """
    )

    @OptionGroup var adapterOptions: AdapterOptions

    @Option(
        "Keyboard layout to compare with the layout of the console. By default, the layout of the daemon or the configuration is compared.",
        value: "name",
        completion: Completion.layouts
    )
    var layout: String?

    @Flag(help: "List all possible findings with their effects and fixes, without checking this machine.")
    var all = false

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    func run() throws {
        if all {
            return try StandardStream.output.write(json ? Doctor.causesObject().text + "\n" : Doctor.causes(.current))
        }
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
        abstract: "Install blewedge as a service on this machine.",
        discussion: """
            The command installs blewedge as a sandboxed service for systemd, OpenRC, runit, sysvinit or BusyBox's \
            init. Under systemd, the service starts when an adapter appears. Under init systems other than systemd, \
            the service starts at boot. The command also creates the user `blewedge` and a group. Only root and the \
            user `blewedge` may create virtual keyboards, and members of the group may query the service. If needed, \
            the command loads kernel modules, now and at each boot, and unblocks the radio.

            The command also installs the manual pages, and completion scripts for the installed shells. In files such \
            as /etc/inittab, the command only adds lines. The command prints each step, and does not replace files \
            that already exist or that belong to a package. The installed files come from the directory udev/ of the \
            source code.

            EXAMPLES:
              blewedge setup --dry-run
              sudo blewedge setup
              sudo blewedge setup --remove
            """
    )

    @Flag(help: "Print the steps without executing them.")
    var dryRun = false

    @Flag(
        help:
            "Remove everything that `setup` installed, except the user, the selection, the configuration and the program."
    )
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
        [
            HelpFile(.man, try ManualCommand.page()),
            HelpFile(.configurationPage, ManualText.configurationPage(version: BlewedgeCommand.programVersion)),
        ]
            + CompletionsCommand.Shell.allCases.map { HelpFile($0.reader, CompletionsCommand.script(for: $0)) }
    }
}

struct GuideCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guide",
        abstract: "Set up blewedge step by step, and test each step.",
        discussion: """
            On a terminal, the command opens a page with a field that shows the typed text. If the output is not a \
            terminal, the command prints the state of each set-up step, the next action, and the commands for all \
            steps.

            EXAMPLES:
              blewedge guide
              blewedge guide --language ja | cat
            """
    )

    @OptionGroup var options: TUIOptions

    func run() throws {
        let places = try TUIPlaces(socket: options.place.socket)
        if StandardStream.output.isTerminal, StandardInput.isTerminal {
            // Remember that the guide was shown only if it was printed on a terminal, because output to a pipe may
            // remain unread.
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

    /// Returns the commands that do the same as the terminal pages.
    private static func firstSteps(_ language: Language) -> [String] {
        let title = GuideText.commands.text(language, FirstSteps.device)
        let commands = FirstSteps.commands(hasManager: ServiceManager.ofThisMachine != nil)
        return ScreenText.wrapped(title, columns: 80) + commands.map { "    " + $0 }
    }
}
