// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import Configuration
    import Control
    import Daemon
    import Glibc
    import Link
    import LinuxIO
    import SystemPackage
    import TestSupport
    import Testing
    import Texts

    @testable import blewedge

    @Suite("The user's command", .timeLimit(.minutes(5)))
    struct HookRunnerTests {
        @Test("The user's command hears of a link that is lost, and of the next one")
        func nextLink() throws {
            let directory = try TestDirectory()
            try directory.writeProgram(
                "#!/bin/sh\necho \"$BLEWEDGE_EVENT $BLEWEDGE_REASON\" >>'\(directory("events"))'\n",
                to: "hook"
            )
            let loop = try EventLoop()
            let runner = try HookRunner(directory("hook"), HookBarcodes(.dropNewest), on: loop) { _ in }
            let events = KeyboardEvents(isStream: false, hook: runner)
            let states: [(Session.State, String?)] = [(.connected, nil), (.connecting, "lost"), (.connected, nil)]
            var expected = ""
            for (state, reason) in states {
                // Repeating the same state causes no event.
                for _ in 0..<2 { events.take(state, nil, reason) }
                expected += reason.map { "disconnect \($0)\n" } ?? "connect \n"
                let isTold = try loop.run {
                    (try? FileSystem.contents(of: directory("events"), limit: 4096)) == Array(expected.utf8)
                }
                try #require(isTold, "\(expected)")
            }
            var isOver = false
            events.finish { isOver = true }
            #expect(try loop.run { isOver })
        }

        @Test("Without pidfd_open the user's command is run for one notice after the other, and its end is told")
        func oldKernel() throws {
            defer { CallScript.use(nil) }
            CallScript.use { $0.call == .pidfdOpen ? .error(.noFunction) : nil }
            let directory = try TestDirectory()
            try directory.writeProgram(
                "#!/bin/sh\necho \"$BLEWEDGE_EVENT\" >>'\(directory("events"))'\nexit 3\n",
                to: "hook"
            )
            let loop = try EventLoop()
            var notes: [String] = []
            let runner = try HookRunner(directory("hook"), HookBarcodes(.dropNewest), on: loop) {
                notes.append($0.english)
            }
            for occasion in [HookNotice.Occasion.connect, .beaconEntered, .disconnect] {
                runner.add(HookNotice(occasion))
            }
            let expected = Array("connect\nbeacon-entered\ndisconnect\n".utf8)
            let isNoted = try loop.run {
                (try? FileSystem.contents(of: directory("events"), limit: 4096)) == expected && !notes.isEmpty
            }
            #expect(isNoted)
            #expect(notes.count == 1 && notes.first?.contains("3") == true)
        }

        @Test("A notice without barcodes runs nothing, and the next one follows; the end is told when all have run")
        func emptyNotice() throws {
            let directory = try TestDirectory()
            try directory.writeProgram(
                "#!/bin/sh\necho \"$BLEWEDGE_EVENT $BLEWEDGE_COUNT\" >>'\(directory("events"))'\n",
                to: "hook"
            )
            let loop = try EventLoop()
            var notes: [String] = []
            let runner = try HookRunner(directory("hook"), HookBarcodes(.dropNewest), on: loop) {
                notes.append($0.english)
            }
            var ends = 0
            runner.drain { ends += 1 }
            #expect(ends == 1)
            for occasion in [HookNotice.Occasion.received, .connect, .received, .disconnect, .disconnect] {
                runner.add(HookNotice(occasion))
            }
            runner.drain { ends += 1 }
            #expect(ends == 1)
            #expect(try loop.run { ends > 1 })
            let events = try FileSystem.contents(of: directory("events"), limit: 4096)
            #expect(events == Array("connect 1\ndisconnect 2\n".utf8) && ends == 2 && notes.isEmpty)
        }

        @Test("A program that cannot be started is told of once; a command must be a program that can be executed")
        func missing() throws {
            let directory = try TestDirectory()
            try directory.writeProgram("#!/nonexistent/interpreter\n", to: "hook")
            let loop = try EventLoop()
            var notes: [String] = []
            let runner = try HookRunner(directory("hook"), HookBarcodes(.dropNewest), on: loop) {
                notes.append($0.english)
            }
            for occasion in [HookNotice.Occasion.connect, .disconnect] { runner.add(HookNotice(occasion)) }
            var isOver = false
            runner.drain { isOver = true }
            #expect(try loop.run { isOver })
            #expect(notes.count == 1)
            try directory.write("", to: "text")
            #expect(throws: Never.self) { try HookRunner.check("sh") }
            #expect(throws: Never.self) { try HookRunner.check("/bin/sh") }
            for command in ["", "sh/", "no such program", directory("text"), directory("none")] {
                let failure = #expect(throws: CommandFailure.self) { try HookRunner.check(command, named: "hook") }
                #expect(failure?.status == .configuration, "\(command)")
            }
        }
    }
#endif
