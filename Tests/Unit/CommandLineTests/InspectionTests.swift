// SPDX-License-Identifier: GPL-2.0-or-later

import Control
import Glibc
import LinuxIO
import TestSupport
import Testing

@Suite("The memory of a keyboard", .timeLimit(.minutes(5)))
struct InspectionTests {
    /// Returns true if an unprivileged program of this user, such as a hook, can read the memory of a process.
    private func isOpen(_ process: Int32) throws -> Bool {
        let arguments = ["if=/proc/\(process)/maps", "of=/dev/null", "count=1", "status=none"]
        return try ChildProcess("/bin/dd", arguments: arguments, environment: [], replacing: "BLEWEDGE_").waitForEnd()
            == .exited(0)
    }

    @Test("A program of the keyboard's user, as a hook is, cannot look into the keyboard's memory")
    func memory() throws {
        let home = try TestDirectory()
        let variables = home.environment.map { variable in
            let parts = variable.split(separator: "=", maxSplits: 1)
            return (name: String(parts[0]), value: String(parts[1]))
        }
        // The other process is unprivileged as well; otherwise, its memory would be inaccessible in any case.
        let other = try ChildProcess("/bin/sleep", arguments: ["60"], environment: [], replacing: "BLEWEDGE_")
        let keyboard = try ChildProcess(
            try programPath(),
            arguments: ["run", "--adapter", "h4:unix:\(home("none"))", "--to", "unix:\(home("wire"))"],
            environment: variables,
            replacing: "BLEWEDGE_"
        )
        defer {
            keyboard.stop()
            other.stop()
        }
        var process: Int32?
        while process == nil, keyboard.takeEnd() == nil {
            process = (try? ControlClient(at: [home("control")]))?.process
            usleep(5000)
        }
        let entries = ProcessEntry.all().filter { $0.name == "sleep" }
        #expect(try entries.contains { try isOpen($0.pid) }, "it can look into nothing: it proves nothing")
        #expect(try !isOpen(try #require(process)))
        // The owner of the process is visible nevertheless.
        #expect(ProcessFacts.user(of: try #require(process)) == geteuid())
    }
}
