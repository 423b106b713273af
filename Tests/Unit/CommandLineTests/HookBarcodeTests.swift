// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import Configuration
    import Daemon
    import Glibc
    import Keystrokes
    import Link
    import LinuxIO
    import TestSupport
    import Testing
    import Texts
    import Typing

    @testable import blewedge

    /// Path of barcodes from a link to the hook's standard input, with a keyboard as a second output.
    @Suite("Barcodes for the hook", .serialized, .timeLimit(.minutes(5)))
    struct HookBarcodeTests {
        private final class Bench {
            let directory: TestDirectory
            let runner: HookRunner
            let keyboards: [VirtualKeyboard]
            private(set) var notes: [String] = []
            private(set) var typed = ""
            private let loop: EventLoop
            private let screen: TextKeyboard
            private let text: TextOutput
            private let events: KeyboardEvents
            private let source: TextSource
            private var sent = 0

            /// Runs `script` as the hook, with the directory of the bench in `$DIR`.
            init(
                _ script: String,
                _ policy: SlowReaderPolicy = .dropNewest,
                limit: Duration = HookQueue.timeLimit
            ) throws {
                Process.ignoreBrokenPipes()
                directory = try TestDirectory()
                try directory.writeProgram("#!/bin/sh\nDIR='\(directory.path)'\n\(script)\n", to: "hook")
                let loop = try EventLoop()
                self.loop = loop
                let barcodes = HookBarcodes(policy)
                var note: ((String) -> Void)?
                runner = try HookRunner(directory("hook"), barcodes, limit: limit, on: loop) { note?($0.english) }
                events = KeyboardEvents(isStream: false, hook: runner)
                screen = try TextKeyboard(layout: .us)
                text = try TextOutput(to: barcodes, name: "hook", layout: .us, on: loop)
                let typing = TypingSettings(
                    table: try CompiledTable(ByteTable(.linble), layout: .us),
                    pacer: Pacer(try Pace(stall: 0, queue: .small)),
                    maximumAge: nil,
                    capsLock: .ignore,
                    verifies: false
                )
                keyboards = try [screen, text.screen].map { screen in
                    try VirtualKeyboard(typing, on: loop, screen: screen) { _ in }
                }
                text.join(keyboards[1])
                source = TextSource(for: keyboards, on: loop)
                note = { [unowned self] in notes.append($0) }
            }

            var hook: Ledger.Snapshot { keyboards[1].bytes }

            func tell(_ text: String) {
                sent += text.utf8.count
                source.receive(Array(text.utf8).span, epoch: 1, isFromOpenDevice: true)
            }

            func run(until isDone: () -> Bool) throws -> Bool {
                try loop.run(within: .seconds(60)) {
                    typed += screen.screen.takeText()
                    return isDone()
                }
            }

            /// Runs the event loop for a millisecond.
            func turn() throws {
                _ = loop.schedule(at: MonotonicClock.now + .milliseconds(1)) { [loop] in loop.stop() }
                try loop.run()
            }

            func contents(_ name: String) -> String {
                String(decoding: (try? FileSystem.contents(of: directory(name), limit: 1 << 20)) ?? [], as: UTF8.self)
            }

            /// Ends like the program; returns true if every byte is accounted for.
            func end() throws -> Bool {
                var open = 3
                for keyboard in keyboards { keyboard.stop { open -= 1 } }
                _ = try run { open == 1 }
                text.endLine()
                events.finish { open -= 1 }
                guard try run(until: { open == 0 }) else { return false }
                text.close()
                return keyboards.map(\.bytes).allSatisfy { bytes in
                    bytes.received == UInt64(sent) && bytes.waiting == 0 && bytes.received == bytes.typed + bytes.lost
                }
            }
        }

        @Test("X-18: the hook receives complete barcodes in order on its standard input, and nowhere else")
        func read() throws {
            let bench = try Bench(
                """
                if [ "$BLEWEDGE_EVENT" = received ]; then
                  cat >"$DIR/run"
                  [ "$BLEWEDGE_LENGTH $BLEWEDGE_COUNT" = "$(wc -c <"$DIR/run") $(wc -l <"$DIR/run")" ] || echo no >>"$DIR/wrong"
                  cat "$DIR/run" >>"$DIR/read"
                  tr '\\0' '\\n' </proc/$$/environ >>"$DIR/shown"
                  tr '\\0' '\\n' </proc/$$/cmdline >>"$DIR/shown"
                fi
                """
            )
            var expected = ""
            for number in 0..<300 {
                bench.tell("secret-\(number)\r")
                expected += "secret-\(number)\n"
            }
            // After a silence, an unterminated barcode becomes a line as well.
            bench.tell("last")
            expected += "last\n"
            #expect(
                try bench.run { bench.contents("read").utf8.count == expected.utf8.count && bench.hook.waiting == 0 }
            )
            #expect(bench.contents("read") == expected)
            #expect(bench.contents("wrong").isEmpty)
            #expect(bench.contents("shown").contains("BLEWEDGE_EVENT=received"))
            #expect(!bench.contents("shown").contains("secret"))
            #expect(bench.hook.typed == bench.hook.received && bench.notes.isEmpty)
            #expect(try bench.end())
        }

        @Test(
            "X-18: barcodes that a hook does not read completely are counted as lost and reported; typing continues",
            arguments: [("exec <&-", 0), ("head -c 4 >/dev/null", 0), ("dd bs=1 count=6 >/dev/null 2>&1", 1)]
        )
        func unread(script: String, read: UInt64) throws {
            // The first run of the hook blocks until both barcodes of the second run are queued.
            let bench = try Bench(
                "if [ ! -e \"$DIR/first\" ]; then : >\"$DIR/first\"; cat >/dev/null; cat \"$DIR/go\"; exit; fi\n"
                    + script
            )
            try #require(mkfifo(bench.directory("go"), 0o600) == 0)
            bench.tell("one\r")
            #expect(try bench.run { FileSystem.exists(bench.directory("first")) && bench.typed == "one\n" })
            bench.tell("first\r")
            bench.tell("second\r")
            #expect(try bench.run { bench.typed == "one\nfirst\nsecond\n" })
            let go = open(bench.directory("go"), O_WRONLY)
            close(go)
            #expect(try bench.run { bench.hook.waiting == 0 })
            #expect(bench.hook.typed == 4 + read * 6 && bench.hook.lost(.undelivered) == 13 - read * 6)
            let named = bench.notes.filter { $0.contains("left \(2 - read) barcodes on standard input unread") }
            #expect(named.count == 1, "\(bench.notes)")
            #expect(bench.notes.allSatisfy { !$0.contains("second") })
            #expect(try bench.end())
        }

        @Test(
            "X-18: while a hook hangs, typing continues, 4096 barcodes are queued, and the rest is dropped by the policy"
        )
        func hangs() throws {
            // The time limit of the hook must not end before all barcodes are typed.
            let bench = try Bench("echo $$ >\"$DIR/pid\"; exec sleep 600", .dropOldest, limit: .seconds(600))
            for number in 0..<20_000 {
                bench.tell("\(100_000 + number)\r")
                guard number % 256 == 255 else { continue }
                try bench.turn()
                try #require(try bench.run { bench.keyboards[0].bytes.waiting == 0 })
            }
            #expect(try bench.run { bench.keyboards[0].bytes.typed == 140_000 })
            #expect(bench.typed == (0..<20_000).map { "\(100_000 + $0)\n" }.joined())
            #expect(try bench.run { bench.hook.waiting <= 2 << 16 && bench.hook.lost(.undelivered) > 0 })
            // The shell has read its script by then.
            #expect(try bench.run { FileSystem.line(of: bench.directory("pid"))?.isEmpty == false })
            try bench.directory.writeProgram("#!/bin/sh\ncat >>'\(bench.directory("read"))'\n", to: "hook")
            // Ends the process group of the hook, as the time limit does.
            let number = try #require(FileSystem.line(of: bench.directory("pid")).flatMap { pid_t($0) })
            try #require(kill(-number, SIGKILL) == 0)
            #expect(try bench.run { bench.hook.waiting == 0 })
            #expect(bench.notes.count == 1 && bench.notes.first?.contains("left") == true, "\(bench.notes)")
            // The next run receives the newest barcodes.
            #expect(
                bench.hook.typed == UInt64(bench.contents("read").utf8.count)
                    && bench.hook.typed == UInt64(LineQueue.mostLines * 7)
            )
            #expect(bench.contents("read").hasSuffix("119998\n119999\n"))
            #expect(try bench.end())
            #expect(bench.hook.lost == bench.hook.lost(.undelivered))
        }

        @Test(
            "X-18: a hung hook is killed after its time limit, and its barcodes are lost; the next run receives the next ones"
        )
        func limit() throws {
            let bench = try Bench(
                "[ -e \"$DIR/hung\" ] || { : >\"$DIR/hung\"; exec sleep 600; }\nexec cat >>\"$DIR/read\"",
                limit: .seconds(10)
            )
            bench.tell("A1\r")
            #expect(try bench.run { FileSystem.exists(bench.directory("hung")) })
            bench.tell("B2\r")
            #expect(try bench.run { bench.hook.received == 6 && bench.hook.waiting == 0 })
            #expect(bench.hook.lost(.undelivered) == 3 && bench.contents("read") == "B2\n")
            #expect(bench.notes.count == 2 && bench.notes[0].contains("was stopped after 10 s"), "\(bench.notes)")
            #expect(bench.typed == "A1\nB2\n")
            #expect(try bench.end())
        }

        @Test(
            "X-18: children of a hook that has exited are not waited for: the next barcode runs it again, and typing continues"
        )
        func forks() throws {
            let bench = try Bench("echo run >>\"$DIR/runs\"\nsleep 600 &\necho $! >>\"$DIR/children\"")
            for number in 1...3 {
                bench.tell("B\(number)\r")
                #expect(try bench.run { bench.contents("children").split(separator: "\n").count == number })
                #expect(try bench.run { bench.hook.lost(.undelivered) == UInt64(number * 3) })
            }
            #expect(bench.typed == "B1\nB2\nB3\n")
            #expect(try bench.end())
            for child in bench.contents("children").split(separator: "\n") { kill(pid_t(child) ?? 0, SIGKILL) }
        }
    }
#endif
