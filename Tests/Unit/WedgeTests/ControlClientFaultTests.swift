// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import Control
    import Daemon
    import LinuxIO
    import SystemPackage
    import TestSupport
    import Testing
    import Texts

    /// A client whose daemon is the test, on the same thread, and whose system calls fail.
    @Suite("Failures of the control socket's client", .virtualTime, .timeLimit(.minutes(5)))
    struct ControlClientFaultTests {
        private static let answer = Array("{\"ok\":true,\"version\":1}\n".utf8)

        /// Calls `body` with a client, and with its daemon's end of the connection.
        private func with(_ body: (inout ControlClient, borrowing LocalStream) throws -> Void) throws {
            defer { CallScript.use(nil) }
            let directory = try TestDirectory()
            let listener = try LocalListener(at: directory("control"), mode: 0o600)
            var client = try ControlClient(at: [directory("control")])
            guard let daemon = try listener.accept() else {
                Issue.record("no client")
                return
            }
            try body(&client, daemon)
        }

        private func ask(
            _ client: inout ControlClient,
            _ request: ControlRequest = .status,
            patience: Duration = .seconds(2)
        ) -> CommandFailure? {
            do throws(CommandFailure) {
                _ = try client.ask(request, patience: patience)
                return nil
            } catch {
                return error
            }
        }

        @Test(
            "A failed call is reported with its error; a daemon that has closed the connection is asked for its last words"
        )
        func calls() throws {
            let cases: [(CallSite.Call, Errno, CommandFailure?)] = [
                (.send, .noFunction, CommandFailure(.inputOutput, ControlFaultText.cannotAsk, "\(Errno.noFunction)")),
                (.send, .brokenPipe, nil),
                (.read, .noFunction, CommandFailure(.inputOutput, ControlFaultText.cannotRead, "\(Errno.noFunction)")),
                (.read, .connectionReset, CommandFailure(.inputOutput, ControlFaultText.closed)),
            ]
            for (call, error, failure) in cases {
                try with { client, daemon in
                    _ = try daemon.write(Self.answer)
                    CallScript.use { $0.kind == .client && $0.call == call ? .error(error) : nil }
                    let found = ask(&client)
                    #expect(found == failure, "\(call) \(error)")
                }
            }
        }

        @Test(
            "A request that is too long is not sent; one that the daemon does not answer ends with the patience"
        )
        func patience() throws {
            try with { client, daemon in
                let long = CommandFailure(.usage, ControlFaultText.tooLong, "4096")
                let tooLong = ask(&client, .send([UInt8](repeating: 0, count: 2048)))
                #expect(tooLong == long)
                var buffer = [UInt8](repeating: 0, count: 8192)
                let unsent = try daemon.descriptor.read(into: &buffer)
                #expect(unsent == .wouldBlock)
                let start = MonotonicClock.now
                let unanswered = ask(&client)
                #expect(unanswered == CommandFailure(.timeout, ControlFaultText.noAnswer))
                #expect(MonotonicClock.now - start == .seconds(2))
                let sent = try daemon.descriptor.read(into: &buffer)
                #expect(sent == .done(17))
                #expect(String(decoding: buffer.prefix(17), as: UTF8.self) == "version 1 status\n")
            }
        }

        @Test("A pause between requests lasts its time, and ends early if the daemon closes the connection")
        func rest() throws {
            try with { client, daemon in
                let start = MonotonicClock.now
                var failure: CommandFailure?
                do throws(CommandFailure) { try client.rest(for: .seconds(3)) } catch { failure = error }
                #expect(failure == nil && MonotonicClock.now - start == .seconds(3))
                try daemon.finishWriting()
                do throws(CommandFailure) { try client.rest(for: .seconds(3)) } catch { failure = error }
                #expect(failure == CommandFailure(.unavailable, ControlFaultText.ended))
                #expect(MonotonicClock.now - start == .seconds(3))
            }
        }
    }
#endif
