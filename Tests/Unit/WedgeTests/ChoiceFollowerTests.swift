// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothHost
    import BluetoothPackets
    import Glibc
    import LinuxIO
    import SystemPackage
    import TestSupport
    import Testing

    @testable import Devices

    /// The watch on the selected device, with and without inotify.
    @Suite("The watch on the selected device", .virtualTime, .serialized, .timeLimit(.minutes(5)))
    struct ChoiceFollowerTests {
        private static func device(_ number: UInt64) -> SelectedDevice {
            SelectedDevice(DeviceAddress(BluetoothAddress(rawValue: 0xC0FF_EE00_0000 + number), .random), name: nil)
        }

        /// Follower whose results are recorded with their times in seconds.
        private final class Bench {
            let loop: EventLoop
            let directory: TestDirectory
            let store: ChoiceStore
            let follower: ChoiceFollower
            var told: [String] = []
            private let start = MonotonicClock.now

            init() throws {
                loop = try EventLoop()
                directory = try TestDirectory()
                store = ChoiceStore(FilePath(directory("state/selection")))
                follower = try ChoiceFollower(store, on: loop)
                follower.onChange = { [unowned self] result in
                    told.append("\((MonotonicClock.now - start).components.seconds) \(Self.text(result))")
                }
            }

            static func text(_ result: Result<SelectedDevice?, ChoiceStore.Failure>) -> String {
                switch result {
                case .success(let choice): choice.map { "\($0.device.address.rawValue & 0xFF)" } ?? "none"
                case .failure(.unreadable): "unreadable"
                case .failure: "other failure"
                }
            }

            func run(to seconds: Int) throws {
                let end = start + .seconds(seconds)
                #expect(try loop.run { MonotonicClock.now >= end })
            }

            /// Runs the loop until that many results were reported.
            func run(until count: Int) throws { #expect(try loop.run { told.count >= count }) }
        }

        @Test("Each change of the file is reported; other files, and changes after the end, are not")
        func changes() throws {
            let bench = try Bench()
            #expect(Bench.text(bench.follower.read()) == "none")
            try bench.store.write(Self.device(1))
            try bench.run(until: 1)
            try bench.directory.write("x", to: "state/other")
            try bench.store.write(Self.device(2))
            try bench.run(until: 2)
            try bench.store.forget()
            try bench.run(until: 3)
            #expect(bench.told == ["0 1", "0 2", "0 none"])
            bench.follower.end()
            try bench.store.write(Self.device(3))
            try bench.run(to: 5)
            #expect(bench.told.count == 3)
        }

        @Test("Without inotify, the file is compared every two seconds")
        func polling() throws {
            CallScript.use { $0.call == .inotifyInit ? .error(.noFunction) : nil }
            defer { CallScript.use(nil) }
            let bench = try Bench()
            try bench.run(to: 3)
            try bench.store.write(Self.device(1))
            try bench.run(to: 5)
            #expect(bench.told == ["4 1"])
            try bench.run(to: 11)
            try bench.store.forget()
            try bench.run(to: 13)
            #expect(bench.told == ["4 1", "12 none"])
            bench.follower.end()
            try bench.store.write(Self.device(3))
            try bench.run(to: 20)
            #expect(bench.told.count == 2)
            // Another error than a missing inotify is one of the directory.
            CallScript.use { $0.call == .inotifyInit ? .error(.tooManyOpenFiles) : nil }
            let error = ChoiceFollower.WatchError(
                directory: FilePath(bench.directory("state")),
                error: .tooManyOpenFiles
            )
            #expect(throws: error) { _ = try ChoiceFollower(bench.store, on: bench.loop) }
        }

        @Test("A file that cannot be read is read again after 1, 2 and 4 s, and reported once it can be read")
        func retries() throws {
            let bench = try Bench()
            try bench.store.write(Self.device(1))
            try bench.run(until: 1)
            CallScript.use { $0 == CallSite(.file, .open) ? .error(.tooManyOpenFiles) : nil }
            #expect(Bench.text(bench.follower.read()) == "unreadable")
            try bench.run(to: 6)
            #expect(bench.told.count == 1)
            CallScript.use(nil)
            // The reads after 1 and 3 s have failed; that after 7 s succeeds.
            try bench.run(to: 20)
            #expect(bench.told == ["0 1", "7 1"])
            // Another failure is reported, and the back-off begins anew.
            CallScript.use { $0 == CallSite(.file, .open) ? .error(.tooManyOpenFiles) : nil }
            _ = bench.follower.read()
            CallScript.use { $0 == CallSite(.file, .open) ? .error(.permissionDenied) : nil }
            try bench.run(to: 30)
            CallScript.use(nil)
            #expect(bench.told == ["0 1", "7 1", "21 unreadable"])
            bench.follower.end()
            try bench.run(to: 100)
            #expect(bench.told.count == 3)
        }
    }
#endif
