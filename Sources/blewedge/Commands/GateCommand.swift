// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

struct GateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gate",
        abstract: "Let another instance of blewedge type the data.",
        subcommands: [GateGiveCommand.self]
    )
}

struct GateGiveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "give",
        abstract: "Resume typing in another instance of blewedge, and pause typing in this instance.",
        discussion: """
            The command opens the gate of the other instance, and closes the gate of this instance. If the gate of the \
            other instance cannot be opened, the gate of this instance stays unchanged. An instance is a daemon with \
            its own runtime directory, and has the name of that directory. For example, a daemon that is started with \
            RUNTIME_DIRECTORY=/run/till is the instance `till`. If the runtime directories of the two instances have \
            different parent directories, give the full path of the other runtime directory.

            EXAMPLES:
              blewedge gate give till
              RUNTIME_DIRECTORY=/run/till blewedge gate give blewedge
              blewedge gate give /run/user/1000/blewedge --json
            """
    )

    @Argument(help: ArgumentHelp("Name or runtime directory of the other instance.", valueName: "name"))
    var name: String

    @OptionGroup var daemon: DaemonOptions

    func validate() throws {
        if ["", ".", ".."].contains(name) { throw ValidationError("give requires the name of an instance.") }
    }

    func run() throws {
        var own = try daemon.client()
        let socket = place(beside: own.path)
        var other = try instance(at: socket)
        if own.process == other.process { throw CommandFailure(.usage, ControlFaultText.sameInstance, name) }
        let wasPaused = try open(&other)
        do throws(CommandFailure) {
            _ = try own.ask(.pause)
        } catch {
            if wasPaused { _ = try? other.ask(.pause) }
            throw error
        }
        try show(socket)
    }

    private func instance(at socket: String) throws(CommandFailure) -> ControlClient {
        do throws(CommandFailure) {
            return try ControlClient(at: [socket])
        } catch {
            guard error.kind == .noDaemon else { throw error }
            throw CommandFailure(.unavailable, ControlFaultText.noInstance, name, socket)
        }
    }

    /// Opens the gate of the other instance, and returns true if the gate was closed.
    ///
    /// If this fails, restores the gate before throwing the error.
    private func open(_ other: inout ControlClient) throws(CommandFailure) -> Bool {
        let wasPaused = try other.status()?.isPaused ?? false
        do throws(CommandFailure) {
            _ = try other.ask(.resume)
        } catch {
            throw CommandFailure(error.status, ControlFaultText.otherRefuses, name, error.cause, remedy: error.remedy)
        }
        let status = try other.status()
        guard status?.isTyping == true else {
            if wasPaused { _ = try other.ask(.pause) }
            let cause = status?.gate?.cause ?? ReasonText.paused.message()
            throw CommandFailure(
                .unavailable,
                ControlFaultText.gateStaysClosed,
                name,
                cause,
                remedy: status?.gate?.remedy
            )
        }
        return wasPaused
    }

    /// Returns the control socket of the named instance; its directory is next to that of this instance.
    private func place(beside socket: String) -> String {
        let directory =
            name.contains("/")
            ? FilePath(name) : FilePath(socket).removingLastComponent().removingLastComponent().appending(name)
        return directory.appending("control").string
    }

    private func show(_ socket: String) throws {
        var answer = JSONObject()
        answer.add("ok", true)
        answer.add("version", ControlRequest.version)
        answer.add("given", name)
        answer.add("socket", socket)
        try daemon.show(answer, done: LogText.given.message(name))
    }
}
