// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing

@Suite("Programs that are started", .timeLimit(.minutes(10)))
struct ChildProcessTests {
    /// Calls `body` with a script in a temporary directory, whose path is in `$BLEWEDGE_FOLDER`; the directory is
    /// deleted afterwards.
    private func withScript(_ lines: String, _ body: (_ script: String, _ folder: String) throws -> Void) throws {
        let directory = try TestDirectory()
        let script = directory("script")
        try directory.writeProgram("#!/bin/sh\n\(lines)\n", to: "script")
        try withExtendedLifetime(directory) { try body(script, directory.path) }
    }

    /// Waits for the end of a process on an event loop, like the product.
    private func end(of child: borrowing ChildProcess) throws -> ChildProcess.End? {
        let loop = try EventLoop()
        let registration = try loop.watch(child.descriptor, for: .readable) { _ in loop.stop() }
        try loop.run()
        loop.unwatch(registration, child.descriptor)
        return child.takeEnd()
    }

    @Test("The program finds our variables, replaced by those given; its end comes through the loop")
    func environment() throws {
        setenv("BLEWEDGE_TEST_OLD", "1", 1)
        setenv("BLEWEDGETEST", "kept", 1)
        let lines = """
            { echo "$BLEWEDGE_EVENT:$BLEWEDGE_REASON:$BLEWEDGE_TEST_OLD:$BLEWEDGETEST"; cat; } >"$BLEWEDGE_FOLDER/out"
            exit 3
            """
        try withScript(lines) { script, folder in
            let child = try ChildProcess(
                script,
                environment: [
                    ("BLEWEDGE_EVENT", "connect"), ("BLEWEDGE_FOLDER", folder), ("BLEWEDGE_REASON", "a b; $(c) 'd'"),
                ],
                replacing: "BLEWEDGE_"
            )
            #expect(try end(of: child) == .exited(3))
            #expect(FileSystem.line(of: folder + "/out") == "connect:a b; $(c) 'd'::kept")
        }
    }

    @Test("A program is ended with all that it has started")
    func stopped() throws {
        let lines = """
            trap '' INT TERM
            sleep 60 & echo $! >"$BLEWEDGE_FOLDER/pid"; mv "$BLEWEDGE_FOLDER/pid" "$BLEWEDGE_FOLDER/ready"; wait
            """
        try withScript(lines) { script, folder in
            let child = try ChildProcess(script, environment: [("BLEWEDGE_FOLDER", folder)], replacing: "BLEWEDGE_")
            #expect(child.takeEnd() == nil)
            while !FileSystem.exists(folder + "/ready") { usleep(1000) }
            child.stop()
            #expect(try end(of: child) == .killed(SIGKILL))
            let line = try #require(FileSystem.line(of: folder + "/ready"))
            let sleeper = try #require(pid_t(line))
            // The grandchild has either disappeared, or is a zombie until its new parent waits for it.
            var waited = 0
            while waited < 120_000, let state = FileSystem.line(of: "/proc/\(sleeper)/stat"), !state.contains(") Z ") {
                usleep(1000)
                waited += 1
            }
            #expect(waited < 120_000)
        }
    }

    @Test("T31: a program has no capability and can get none, as root too; one that acts for its user has the user's")
    func privileges() throws {
        func lines(_ privileges: ChildProcess.Privileges) throws -> [String: String] {
            var found: [String: String] = [:]
            try withScript("cat /proc/self/status >\"$BLEWEDGE_FOLDER/out\"") { script, folder in
                let child = try ChildProcess(
                    script,
                    environment: [("BLEWEDGE_FOLDER", folder)],
                    replacing: "BLEWEDGE_",
                    privileges: privileges
                )
                #expect(try end(of: child) == .exited(0))
                let text = String(
                    decoding: try FileSystem.contents(of: folder + "/out", limit: 1 << 16),
                    as: UTF8.self
                )
                for line in text.split(separator: "\n") {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    if parts.count == 2 { found[String(parts[0])] = parts[1].filter { $0 != "\t" && $0 != " " } }
                }
            }
            return found
        }
        let none = try lines(.none)
        for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] { #expect(none[set] == "0000000000000000", "\(set)") }
        #expect(none["NoNewPrivs"] == "1")
        // The privileges of this thread have not changed.
        let own = String(
            decoding: try FileSystem.contents(of: "/proc/thread-self/status", limit: 1 << 16),
            as: UTF8.self
        )
        let ours = try lines(.ours)
        #expect(own.contains("NoNewPrivs:\t\(ours["NoNewPrivs"] ?? "?")"))
        #expect(own.contains("CapEff:\t\(ours["CapEff"] ?? "?")"))
        // This check means something only if the tests run as root.
        if ProcessFacts.user == 0 { #expect(ours["CapEff"] != "0000000000000000") }
    }

    @Test("A program that cannot be run is an error with its cause")
    func missing() throws {
        #expect(throws: Errno.noSuchFileOrDirectory) {
            _ = try ChildProcess("/nonexistent/program", environment: [], replacing: "BLEWEDGE_")
        }
        let directory = try TestDirectory()
        try directory.write("", to: "file")
        #expect(throws: Errno.permissionDenied) {
            _ = try ChildProcess(directory("file"), environment: [], replacing: "BLEWEDGE_")
        }
    }
}
