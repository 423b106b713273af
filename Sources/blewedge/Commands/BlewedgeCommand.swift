// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Configuration
import Cryptography
import Keystrokes
import LinuxIO
import SystemPackage
import Texts

/// Reads the command line, carries out the command, and ends the process with its exit status (D-10).
func runCommandLine() -> Never {
    Process.ignoreBrokenPipes()
    Process.keepOwnersPermissions()
    do throws(Errno) {
        try Process.openStandardStreams()
    } catch {
        // There may be no stream on which to print a message.
        Process.exit(ExitStatus.inputOutput.rawValue)
    }
    // The arguments of the command line are read from /proc.
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
        // A broken pipe is no error: the program at its other end wants no more output.
        Process.exit(ExitStatus.success.rawValue)
    } catch let error as Errno {
        Console.report(CommandFailure(.inputOutput, CommandFaultText.systemCall, "\(error)"))
        Process.exit(ExitStatus.inputOutput.rawValue)
    } catch {
        // Help, the version, and errors of the parser are printed in its own words; errors go to standard error.
        let isHelp = BlewedgeCommand.exitCode(for: error) == .success
        let text = BlewedgeCommand.fullMessage(for: error)
        do throws(Errno) {
            if !text.isEmpty { try (isHelp ? StandardStream.output : .error).write(text + "\n") }
        } catch {
            // A broken pipe is no error: the program at its other end wants no more output.
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
        abstract: "Types what a Bluetooth LE device sends, without bluetoothd, D-Bus or a desktop.",
        discussion: """
            EXAMPLES:
              blewedge                             The pages for a terminal.
              blewedge demo                        See it work: no adapter, no privilege.
              blewedge demo --tui                  Try the pages before simulated devices.
              blewedge scan                        Show the devices around.
              blewedge run --device LINBLE-TEST    Type what a paired device sends.
              blewedge pair LINBLE-TEST            Pair with a device.
              blewedge use LINBLE-TEST             Choose it for good, for a daemon.
              blewedge status --watch              See what the daemon does.
              blewedge gatt LINBLE-TEST            Show what a device offers.
              blewedge simulate                    Be such a device: send lines.
              blewedge bench                       Measure this machine against C.

            HOW IT WORKS:
            A device is found by a scan, connected to, and asked for its serial service. What it notifies passes a table \
            (what each byte types), a layout and a pace, and leaves as keys of a virtual keyboard. Every received byte is \
            typed, discarded by the table, rejected by a rule, gated while typing is paused, or lost in a named place; \
            `status` has the sum. `run` does this in the foreground, or as the daemon that `setup` makes a service of. The \
            daemon is spoken to over its control socket: the socket's group may read (status, scan, events), its owner and \
            root may change and press keys too. A network is used in two cases only: the commands and the \
            timer of beacons ask the server that beacons.server names, and `h4:tcp` reaches a controller. What was received \
            is never sent, and stands in no log unless an option asks for it.

            FILES:
              /etc/blewedge/blewedge.toml  The settings; see `config show --commented`.
              /etc/blewedge/snippets.json  The texts of `snippet`.
              /var/lib/blewedge/selection  The chosen device.
              /var/lib/blewedge/bonds      The keys of paired devices.
              /var/lib/blewedge/devices    When each device was last connected.
              /run/blewedge/control        The daemon's control socket.
            Of other users than root: ~/.config/blewedge, ~/.local/state/blewedge and $XDG_RUNTIME_DIR/blewedge, or where \
            the XDG variables say.

            ENVIRONMENT:
              BLEWEDGE_LANG                en or ja: the language for people.
              LC_ALL, LC_MESSAGES, LANG    The same where BLEWEDGE_LANG is not set.
            A bare console, whose font has no Japanese, gets English; help, JSON and the journal are English always.

            EXIT STATUS:
              0 done · 64 wrong usage · 69 no adapter, Bluetooth is off, or no daemon runs
              70 fault of the program · 74 reading or writing failed · 75 time-out
              77 permission missing · 78 wrong configuration
              130 and 143 after SIGINT and SIGTERM
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
                    ClearCommand.self,
                ]
            ),
            CommandGroup(
                name: "Settings",
                subcommands: [
                    ConfigCommand.self, TableCommand.self, CompletionsCommand.self, ManualCommand.self,
                ]
            ),
            CommandGroup(name: "Testing", subcommands: [SimulateCommand.self, CaptureCommand.self, BenchCommand.self]),
        ]
    )

    /// Shows the guide the first time and the devices later (LK-11), or prints the help if there is no terminal.
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
    /// Rejects an unknown command, and suggests the nearest name; returns nil if every word may be valid.
    static func unknownCommand(in words: some Sequence<String>) -> CommandFailure? {
        var command: any ParsableCommand.Type = BlewedgeCommand.self
        var path = "blewedge"
        for (index, word) in words.enumerated() {
            let commands = command.configuration.subcommands
            if word.hasPrefix("-") || commands.isEmpty { return nil }
            if index == 0, word == "help" { continue }
            guard let next = commands.first(where: { $0.configuration.commandName == word }) else {
                // Only the program itself has a `help` command.
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
