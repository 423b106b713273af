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
            Examines the kernel, the adapter, the permissions, the keyboard, the selected device, the daemon and the \
            console, and changes nothing. Each finding says what is wrong, its effect and its fix. A finding `blocks` \
            if nothing can be typed, `hinders` if text may be typed wrongly, and is otherwise a `note`. The output of \
            --json also has a table of the kernel features that blewedge uses: whether each is available, and the \
            fallback without it.

            EXAMPLES:
              blewedge doctor
              sudo blewedge doctor --json

            EXIT STATUS:
            The status of the first finding that is not a note: 69 the adapter, a kernel feature, the daemon or the \
            device is missing, or Bluetooth is off; 77 a permission is missing; 78 the configuration, the selection, a \
            layout or a terminal is wrong; 74 bytes were lost. 0 if there is no such finding.
            """
    )

    @OptionGroup var adapterOptions: AdapterOptions

    @Option(
        "Layout to compare with the console's, instead of the daemon's or the configuration's.",
        value: "name",
        completion: Completion.layouts
    )
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
        abstract: "Install blewedge as a service on this machine.",
        discussion: """
            Installs the files in udev/ of the source code: the user `blewedge`, the only one that may create virtual \
            keyboards; a group whose members may query the service; the modules to load at each start; and a sandboxed \
            service for systemd, OpenRC, runit, sysvinit or BusyBox's init. With systemd, the service starts when an \
            adapter appears; otherwise it starts at boot. Lines are added to files such as /etc/inittab, whose other \
            contents stay. If needed, modules are loaded and the radio is unblocked. The manual page, and completions \
            for the installed shells, are installed too. Each step is shown. Files that exist already, or belong to a \
            package, stay unchanged.

            EXAMPLES:
              blewedge setup --dry-run
              sudo blewedge setup
              sudo blewedge setup --remove
            """
    )

    @Flag(help: "Show the steps without doing them.")
    var dryRun = false

    @Flag(help: "Remove what setup installed; the user, the selection, the configuration and the program stay.")
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
        abstract: "Set up typing step by step, with a test of each step.",
        discussion: """
            On a terminal, opens a page with a field that shows the typed text. Elsewhere, it prints the state of \
            each step, the next thing to do, and the commands that do all of the steps.

            EXAMPLES:
              blewedge guide
              blewedge guide --language ja | cat
            """
    )

    @OptionGroup var options: TUIOptions

    func run() throws {
        let places = try TUIPlaces(socket: options.place.socket)
        if StandardStream.output.isTerminal, StandardInput.isTerminal {
            // Remember that the guide was shown only if it was printed on a terminal, because nobody may read output to
            // a pipe.
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
