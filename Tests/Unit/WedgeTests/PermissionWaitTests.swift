// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothAdapters
    import ClockSupport
    import Configuration
    import Control
    import Daemon
    import Devices
    import Glibc
    import LinuxIO
    import Synchronization
    import SystemPackage
    import TestSupport
    import Testing
    import Texts

    /// Waiting for the permission to make a keyboard, which the test denies and then grants.
    @Suite("A daemon without permissions", .virtualTime, .serialized, .timeLimit(.minutes(5)))
    struct PermissionWaitTests {
        private static let adapter = AdapterTransport.h4(.unixSocket("/dev/null"))

        /// Error with which the keyboard's node cannot be opened; nil if it can.
        private final class Denial: Sendable {
            let error: Mutex<Errno?>

            init(_ error: Errno?) { self.error = Mutex(error) }

            var answer: CallScript.Answer {
                error.withLock { error in
                    if let error { .error(error) } else { .result(open("/dev/null", O_RDWR)) }
                }
            }
        }

        private func with(_ error: Errno?, _ body: (Denial) throws -> Void) throws {
            let denial = Denial(error)
            defer { CallScript.use(nil) }
            CallScript.use { $0.kind == .keyboard && $0.call == .open ? denial.answer : nil }
            try body(denial)
        }

        @Test("Only a missing permission is waited for, and only for what is needed")
        func missing() throws {
            for (error, hasKeyboard, isMissing) in [
                (Errno.permissionDenied, true, true), (.notPermitted, true, true), (.permissionDenied, false, false),
                (.operationNotSupportedByDevice, true, false), (.noSuchFileOrDirectory, true, false),
                (nil, true, false),
            ] as [(Errno?, Bool, Bool)] {
                try with(error) { _ in
                    let missing = PermissionWait.missing(for: Self.adapter, hasKeyboard: hasKeyboard)
                    #expect((missing?.status == .permission) == isMissing && (missing == nil) == !isMissing)
                }
            }
        }

        @Test("Status and stop are answered, and other requests are refused with the cause, until it is permitted")
        func waiting() throws {
            try with(.permissionDenied) { denial in
                let directory = try TestDirectory()
                let loop = try EventLoop()
                let paths = DaemonPaths(
                    configuration: FilePath(directory("config")),
                    state: FilePath(directory("state")),
                    runtime: FilePath(directory("run"))
                )
                let options = Daemon.Options(
                    paths: paths,
                    followsChoice: true,
                    terminal: nil,
                    allowsKeys: true,
                    labels: DaemonLabels(profile: "p", layout: "l", table: "t", program: "test")
                )
                let missing = try #require(PermissionWait.missing(for: Self.adapter, hasKeyboard: true))
                let wait = try PermissionWait(options, Self.adapter, hasKeyboard: true, missing: missing, on: loop)
                var told: [String] = []
                wait.onEvent = { event in
                    if case .state(let state, nil, let reason) = event {
                        told.append("\(state) \(reason?.cause == missing.cause)")
                    }
                }
                wait.onPermitted = { needsRestart in
                    told.append("permitted \(needsRestart)")
                    loop.stop()
                }
                wait.onStopAsked = { told.append("stop") }
                wait.begin()
                let client = try ControlPeer(paths.controlSocket.string, on: loop)
                try client.send("version 1 events\n")
                #expect(try loop.run { client.lines.count == 2 })
                let state = #"{"event":"state","state":"unauthorized","reason":"not permitted to open /dev/uinput""#
                #expect(client.lines.last?.hasPrefix(state) == true)
                func ask(_ request: ControlRequest) -> String {
                    var text = ""
                    wait.handle(request) { result in
                        switch result {
                        case .success(let object): text = object.text
                        case .failure(let failure): text = "\(failure.status) \(failure == missing)"
                        }
                    }
                    return text
                }
                #expect(
                    ask(.status).hasPrefix(#"{"state":"unauthorized","reason":"not permitted to open /dev/uinput""#)
                )
                #expect(ask(.pause) == "permission true" && ask(.stop) == "{}" && told.count == 1)
                #expect(try loop.run { told.last == "stop" })
                #expect(throws: CommandFailure.self) {
                    _ = try wait.conversation(for: PairingRequest(.name("A")))
                }
                let start = MonotonicClock.now
                #expect(try loop.run { MonotonicClock.now - start > .seconds(7) })
                #expect(told == ["unauthorized true", "stop"])
                denial.error.withLock { $0 = nil }
                let later = MonotonicClock.now
                #expect(try loop.run { told.count == 3 || MonotonicClock.now - later > .seconds(4) })
                #expect(MonotonicClock.now - later <= .seconds(3) + .milliseconds(10))
                #expect(try loop.run { MonotonicClock.now - later > .seconds(10) })
                #expect(told == ["unauthorized true", "stop", "permitted false"])
                #expect(FileSystem.exists(paths.controlSocket.string))
                wait.end(isOver: true)
                #expect(!FileSystem.exists(paths.controlSocket.string))
                client.close()
            }
        }
    }
#endif
