// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Configuration
import Cryptography
import Keystrokes
import LinuxIO
import SystemPackage
import Texts

/// Parses the command line, executes the command, and ends the process with its exit status (D-10).
func runCommandLine() -> Never {
    Process.ignoreBrokenPipes()
    Process.keepOwnersPermissions()
    do throws(Errno) {
        try Process.openStandardStreams()
    } catch {
        // Do not print a message, because there may be no stream for it.
        Process.exit(ExitStatus.inputOutput.rawValue)
    }
    // Check that /proc exists, because the command line arguments are read from it.
    guard FileSystem.exists("/proc/self/cmdline") else {
        Console.report(CommandFailure(.unavailable, CommandFaultText.noProc))
        Process.exit(ExitStatus.unavailable.rawValue)
    }
    do {
        if let failure = CommandFailure.unknownCommand(in: CommandLine.arguments.dropFirst()) { throw failure }
        var command = try BlewedgeCommand.parseAsRoot()
        try command.run()
        Process.exit(ExitStatus.success.rawValue)
    } catch let failure as CommandFailure {
        Console.report(failure)
        Process.exit(failure.status.rawValue)
    } catch let status as ExitStatus {
        Process.exit(status.rawValue)
    } catch Errno.brokenPipe {
        // A broken pipe is not an error: the program that reads the output does not need more of it.
        Process.exit(ExitStatus.success.rawValue)
    } catch let error as Errno {
        Console.report(CommandFailure(.inputOutput, CommandFaultText.systemCall, "\(error)"))
        Process.exit(ExitStatus.inputOutput.rawValue)
    } catch {
        // The parser formats help, the version, and its own errors; errors are printed on standard error.
        let isHelp = BlewedgeCommand.exitCode(for: error) == .success
        let text = BlewedgeCommand.fullMessage(for: error)
        do throws(Errno) {
            if !text.isEmpty { try (isHelp ? StandardStream.output : .error).write(text + "\n") }
        } catch {
            // A broken pipe is not an error: the program that reads the output does not need more of it.
            if isHelp, error != .brokenPipe {
                Console.report(CommandFailure(.inputOutput, CommandFaultText.noOutput, "\(error)"))
                Process.exit(ExitStatus.inputOutput.rawValue)
            }
        }
        Process.exit(isHelp ? ExitStatus.success.rawValue : ExitStatus.usage.rawValue)
    }
}

struct BlewedgeCommand: ParsableCommand {
    static let programVersion = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "blewedge",
        abstract: "Types data from Bluetooth LE serial devices as keystrokes.",
        discussion: """
            EXAMPLES:
              blewedge                             Open the pages for a terminal.
              blewedge demo                        Try blewedge without an adapter or root.
              blewedge demo --tui                  Try the pages with simulated devices.
              blewedge scan                        Show the devices nearby.
              blewedge run --device LINBLE-TEST    Type the data of a paired device.
              blewedge pair LINBLE-TEST            Pair with a device.
              blewedge use LINBLE-TEST             Select the device for the daemon.
              blewedge status --watch              Follow the state of the daemon.
              blewedge gatt LINBLE-TEST            Show the services of a device.
              blewedge simulate                    Act as a serial device: send lines.
              blewedge bench                       Measure the speed of this machine.

            HOW IT WORKS:
            blewedge scans for a device, connects to it, and subscribes to its serial service. A table maps each \
            received byte to text or keys, and a keyboard layout maps text to keys. blewedge presses the keys on a \
            virtual keyboard, at a speed that the application can follow. blewedge counts every received byte as \
            typed, discarded, rejected, gated or lost, and `blewedge status` shows the counts. A byte is discarded by \
            the table, rejected by a rule, gated while typing is paused, or lost, for example because the buffer is \
            full.

            `blewedge run` types received data, either in the foreground or as a daemon. `blewedge setup` installs the \
            daemon as a service. Other commands use the control socket of the daemon. Members of the socket's group \
            may query the daemon, scan and follow events. Only root and the owner of the socket may change settings \
            and press keys.

            blewedge uses a network for only two purposes. The beacon commands and a timer contact the server that is \
            set as beacons.server in the configuration, and `--adapter h4:tcp:HOST:PORT` connects to a controller. \
            blewedge never sends received data over a network, and logs received data only if an option requests this.

            FILES:
              /etc/blewedge/blewedge.toml    Settings; see blewedge.toml(5).
              /etc/blewedge/snippets.json    Saved texts for `blewedge snippet`.
              /var/lib/blewedge/selection    Selected device.
              /var/lib/blewedge/bonds        Keys of paired devices.
              /var/lib/blewedge/devices      Date of each device's last connection.
              /var/lib/blewedge/hid-devices  Services and report maps of paired keyboards.
              /run/blewedge/control          Control socket of the daemon.
            Users other than root have their own files in ~/.config/blewedge, ~/.local/state/blewedge and \
            $XDG_RUNTIME_DIR/blewedge. The variables XDG_CONFIG_HOME and XDG_STATE_HOME replace ~/.config and \
            ~/.local/state.

            ENVIRONMENT:
              BLEWEDGE_LANG                Language of messages: en or ja.
              LC_ALL, LC_MESSAGES, LANG    Language if BLEWEDGE_LANG is not set.
              NO_COLOR                     If this variable is set, pages have no colours.
            On a Linux console, messages are in English, because the console's font has no Japanese characters. Help, \
            JSON and journal entries are always in English.

            EXIT STATUS:
              0         Success.
              64        Wrong usage.
              69        There is no adapter, Bluetooth is off, or no daemon is running.
              70        Internal error.
              74        Read or write error.
              75        Time-out.
              77        Missing permission.
              78        Wrong configuration.
              130, 143  Terminated by SIGINT or SIGTERM.
            """,
        version: "\(programVersion)\nmbedTLS \(CryptographyLibrary.version), linked in",
        groupedSubcommands: [
            CommandGroup(
                name: "First",
                subcommands: [
                    DemoCommand.self, GuideCommand.self, TUICommand.self, SetupCommand.self, DoctorCommand.self,
                ]
            ),
            CommandGroup(
                name: "Device",
                subcommands: [
                    ScanCommand.self, UseCommand.self, ForgetCommand.self, DevicesCommand.self, PairCommand.self,
                    BondsCommand.self, ProfilesCommand.self, GATTCommand.self, BeaconsCommand.self,
                ]
            ),
            CommandGroup(
                name: "Daemon",
                subcommands: [
                    RunCommand.self, StatusCommand.self, EventsCommand.self, ConnectCommand.self,
                    DisconnectCommand.self,
                    SendCommand.self, AskCommand.self, ReloadCommand.self, StopCommand.self,
                ]
            ),
            CommandGroup(
                name: "Typing",
                subcommands: [
                    PauseCommand.self, ResumeCommand.self, GateCommand.self, KeyCommand.self, SnippetCommand.self,
                    ClearCommand.self, ValueCommand.self,
                ]
            ),
            CommandGroup(
                name: "Settings",
                subcommands: [
                    ConfigCommand.self, TableCommand.self, CompletionsCommand.self, ManualCommand.self,
                ]
            ),
            CommandGroup(
                name: "Testing",
                subcommands: [SimulateCommand.self, CaptureCommand.self, HIDCommand.self, BenchCommand.self]
            ),
        ]
    )

    /// Shows the guide the first time, and the device list after that (LK-11); without a terminal, prints the help.
    func run() throws {
        guard StandardStream.output.isTerminal, StandardInput.isTerminal else { throw CleanExit.helpRequest() }
        let places = try TUIPlaces(socket: nil)
        let isFirstTime = places.isFirstTime
        places.rememberGuide()
        try TUIDriver(page: isFirstTime ? .guide : .devices, language: .current, places: places).run()
    }
}

extension ExitStatus: Error {}

extension CommandFailure {
    /// Returns an error for an unknown command, which suggests the most similar name; nil if all words may be valid.
    static func unknownCommand(in words: some Sequence<String>) -> CommandFailure? {
        var command: any ParsableCommand.Type = BlewedgeCommand.self
        var path = "blewedge"
        for (index, word) in words.enumerated() {
            let commands = command.configuration.subcommands
            if word.hasPrefix("-") || commands.isEmpty { return nil }
            if index == 0, word == "help" { continue }
            guard let next = commands.first(where: { $0.configuration.commandName == word }) else {
                // Suggest `help` only as the first word, because only the program itself has a `help` command.
                let names = commands.compactMap { $0.configuration.commandName } + [index == 0 ? "help" : "--help"]
                guard let near = NearestName.of(word, among: names) else {
                    return CommandFailure(.usage, CommandFaultText.noCommand, "\(path) \(word)", path)
                }
                return CommandFailure(.usage, CommandFaultText.noCommandBut, "\(path) \(word)", path, near)
            }
            command = next
            path += " \(word)"
        }
        return nil
    }
}
