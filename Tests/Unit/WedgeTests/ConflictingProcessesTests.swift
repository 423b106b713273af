// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import TestSupport
import Testing

@testable import Daemon

@Suite struct ConflictingProcessesTests {
    @Test(
        "X-6: conflicting adapter managers are reported; the list is read every 5 s; if it cannot be read, they are unknown"
    )
    func names() throws {
        let directory = try TestDirectory()
        func add(_ process: String, _ command: String) throws {
            try #require(mkdir(directory(process), 0o755) == 0)
            try directory.write("\(command)\n", to: "\(process)/comm")
        }
        try add("12", "bluetoothd")
        var blind = ConflictingProcesses(proc: directory.path)
        #expect(blind.names(now: .seconds(100)) == nil)
        try add("1", "init")
        try add("13", "bash")
        try add("self", "bluetoothd")
        var rivals = ConflictingProcesses(proc: directory.path)
        #expect(rivals.names(now: .seconds(100)) == ["bluetoothd (process 12)"])
        try add("14", "bluetoothd")
        #expect(rivals.names(now: .seconds(104))?.count == 1)
        #expect(rivals.names(now: .seconds(105))?.sorted() == ["bluetoothd (process 12)", "bluetoothd (process 14)"])
    }
}
