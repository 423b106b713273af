// SPDX-License-Identifier: GPL-2.0-or-later

import Configuration
import Control
import Daemon
import Glibc
import LinuxIO
import TestSupport
import Testing
import Texts

@Suite("A daemon whose lines nobody reads", .timeLimit(.minutes(10)))
struct FullStreamTests {
    /// Creates a full pipe without a reader; its write end is blocking, as a shell's pipe is.
    private func fullPipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let flags = fcntl(ends[1], F_GETFL)
        _ = fcntl(ends[1], F_SETFL, flags | O_NONBLOCK)
        while write(ends[1], "x", 1) == 1 {}
        _ = fcntl(ends[1], F_SETFL, flags)
        return (ends[0], ends[1])
    }

    @Test(
        "D-9: with standard error, or both streams, stuck, it answers its clients, and ends when it is told to",
        arguments: [["--foreground"], ["--json"], ["--events"]]
    )
    func stuck(arguments: [String]) throws {
        let home = try TestDirectory()
        let full = try fullPipe()
        defer {
            close(full.read)
            close(full.write)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, full.write, 1)
        posix_spawn_file_actions_adddup2(&actions, full.write, 2)
        // The program needs no privileges, because its controller does not exist and it types to a socket.
        let path = try programPath()
        let words = [path, "run", "--adapter", "h4:unix:\(home("none"))", "--to", "unix:\(home("wire"))"] + arguments
        var argv = words.map { strdup($0) } + [nil]
        defer { for word in argv { free(word) } }
        var environment = home.environment.map { strdup($0) } + [nil]
        defer { for variable in environment { free(variable) } }
        var child: pid_t = 0
        try #require(posix_spawn(&child, path, &actions, nil, &argv, &environment) == 0)
        defer { kill(child, SIGKILL) }

        // Waits until the program listens on its control socket.
        var state: String?
        while state == nil, waitpid(child, nil, WNOHANG) == 0 {
            guard var client = try? ControlClient(at: [home("control")]) else {
                usleep(5000)
                continue
            }
            state = try client.ask(.status, patience: nil).value["state"]?.string
            #expect(try client.ask(.stop, patience: nil).value["ok"]?.bool == true)
        }
        #expect(state == "bluetoothOff")
        var status: Int32 = 0
        #expect(waitpid(child, &status, 0) == child && status == 0)
    }
}

@Suite("A standard output that is full", .timeLimit(.minutes(5)))
struct FullOutputTests {
    @Test(
        "Every command that prints says so and ends with 74, help and version too",
        arguments: [
            ["--version"], ["--help"], ["help", "run"], ["run", "--help"], ["manual"], ["table", "show"], ["profiles"],
            ["config", "show", "--commented"], ["completions", "bash"], ["doctor"], ["doctor", "--json"],
            ["demo", "--fast", "--barcodes", "2"], ["demo", "--barcodes", "1"], ["demo", "--fast", "--json"],
        ]
    )
    func full(arguments: [String]) throws {
        let outcome = try run(arguments, file: "/dev/full")
        #expect(outcome.status == 74, "\(outcome)")
        #expect(outcome.error.contains("No space left on device"), "\(outcome)")
    }

    @Test("A daemon whose lines could not be written says so at its end, with 74", arguments: ["--json", "--events"])
    func daemon(option: String) throws {
        let home = try TestDirectory()
        let program = try RunningProgram(
            ["run", "--adapter", "h4:unix:\(home("none"))", "--to", "unix:\(home("wire"))", option],
            environment: home.environment,
            file: "/dev/full"
        )
        var isStopped = false
        while !isStopped {
            usleep(5000)
            guard var client = try? ControlClient(at: [home("control")]) else { continue }
            isStopped = try client.ask(.stop, patience: nil).value["ok"]?.bool == true
        }
        let outcome = try program.end()
        #expect(outcome.status == 74 && outcome.error.contains("cannot write to standard output"), "\(outcome)")
    }
}

@Suite("A mask that takes the owner's permissions", .timeLimit(.minutes(5)))
struct MaskTests {
    @Test("Directories, files and sockets are their owner's to use", arguments: ["0177", "0777", "0700"])
    func mask(mask: String) throws {
        let home = try TestDirectory()
        let environment = ["CONFIGURATION_DIRECTORY", "STATE_DIRECTORY", "RUNTIME_DIRECTORY"].map {
            "\($0)=\(home("new"))/\($0.prefix(3))"
        }
        let prelude = "umask \(mask)"
        let use = ["use", "F0:F1:F2:F3:F4:F5", "--type", "random", "--security", "none"]
        _ = try run(use, environment: environment, prelude: prelude)
        let program = try RunningProgram(
            ["run", "--adapter", "h4:unix:\(home("none"))", "--to", "unix:\(home("wire"))"],
            environment: environment,
            prelude: prelude
        )
        let socket = home("new/RUN/control")
        var modes: [String: UInt32] = [:]
        var isStopped = false
        while !isStopped {
            usleep(5000)
            guard var client = try? ControlClient(at: [socket]) else { continue }
            // An answer shows that the program has started; the socket accepts clients before that.
            _ = try client.ask(.status, patience: nil)
            for path in ["new", "new/RUN", "new/STA", "new/RUN/control", "new/RUN/control.owner", "wire"] {
                modes[path] = FileSystem.ownerAndMode(of: home(path))?.mode
            }
            isStopped = try client.ask(.stop, patience: nil).value["ok"]?.bool == true
        }
        #expect(try program.end().status == 0)
        for directory in ["new", "new/RUN"] { #expect(modes[directory].map { $0 & 0o700 } == 0o700, "\(directory)") }
        #expect(modes["new/STA"].map { $0 & 0o700 } ?? 0o700 == 0o700)
        #expect(modes["new/RUN/control"] == 0o660 && modes["new/RUN/control.owner"] == 0o600 && modes["wire"] == 0o600)
    }
}
