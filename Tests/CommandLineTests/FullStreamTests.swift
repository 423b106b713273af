// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import TestSupport
import Testing
import Texts
import Wedge

@Suite("A daemon whose lines nobody reads", .timeLimit(.minutes(10)))
struct FullStreamTests {
    /// A pipe that is full, and that nobody reads; its end for a program blocks, as a shell's does.
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
        // It needs no right: its controller is not there, and what it types goes to a socket.
        let path = try programPath()
        let words = [path, "run", "--adapter", "h4:unix:\(home("none"))", "--to", "unix:\(home("wire"))"] + arguments
        var argv = words.map { strdup($0) } + [nil]
        defer { for word in argv { free(word) } }
        var environment = home.environment.map { strdup($0) } + [nil]
        defer { for variable in environment { free(variable) } }
        var child: pid_t = 0
        try #require(posix_spawn(&child, path, &actions, nil, &argv, &environment) == 0)
        defer { kill(child, SIGKILL) }

        // As soon as it listens.
        var state: String?
        while state == nil, waitpid(child, nil, WNOHANG) == 0 {
            guard var client = try? ControlClient(at: [home("control")]) else {
                usleep(5000)
                continue
            }
            state = try client.ask(.status).value["state"]?.string
            #expect(try client.ask(.stop).value["ok"]?.bool == true)
        }
        #expect(state == "bluetoothOff")
        var status: Int32 = 0
        #expect(waitpid(child, &status, 0) == child && status == 0)
    }
}
