// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothAdapters
    import BluetoothHost
    import BluetoothPackets
    import Devices
    import LinuxIO
    import SystemPackage
    import TestSupport
    import Testing

    /// The search for a device on a radio that hears only what the test lets it hear.
    @Suite("The search for a device", .virtualTime, .serialized, .timeLimit(.minutes(5)))
    struct DeviceFinderTests {
        private static func name(_ name: String) -> [UInt8] { [UInt8(name.utf8.count + 1), 0x09] + Array(name.utf8) }

        private static func device(_ number: UInt64) -> DeviceAddress {
            DeviceAddress(BluetoothAddress(rawValue: 0xC0FF_EE00_0000 + number), .random)
        }

        /// Finder whose results are recorded as text.
        private final class Bench {
            let loop: EventLoop
            let radio = QuietRadio()
            let arbiter: RadioArbiter
            let finder: DeviceFinder
            var told: [String] = []
            private let start = MonotonicClock.now

            init(_ choice: DeviceSelector, wantsName: Bool = false) throws {
                loop = try EventLoop()
                arbiter = RadioArbiter(on: loop, using: radio)
                finder = DeviceFinder(choice, advertisedAt: nil, wantsName: wantsName, on: arbiter)
                finder.onResult = { [unowned self] in tell(Self.text($0)) }
                finder.onNamesake = { [unowned self] in tell("namesake \($0.address.address.rawValue & 0xFF)") }
            }

            private func tell(_ text: String) {
                let tenths = (MonotonicClock.now - start).components
                told.append("\(tenths.seconds).\(tenths.attoseconds / 100_000_000_000_000_000) \(text)")
            }

            private static func text(_ result: Result<DiscoveredDevice, DeviceFinder.Failure>) -> String {
                switch result {
                case .success(let device): "found \(device.address.address.rawValue & 0xFF)"
                case .failure(.several(let devices)): "several \(devices.count)"
                case .failure(.notHeard(let limit, let namesake)):
                    "not heard \(limit.components.seconds) \(namesake.map { $0.address.address.rawValue & 0xFF } ?? 0)"
                case .failure(.scan(let error)): "\(error)"
                }
            }

            /// Runs until a time since the beginning, in tenths of a second.
            func run(to tenths: Int) throws {
                let end = start + .milliseconds(100 * tenths)
                #expect(try loop.run { MonotonicClock.now >= end })
            }

            func hear(_ number: UInt64, _ data: [UInt8] = [], at tenths: Int) throws {
                try run(to: tenths)
                radio.advertise(DeviceFinderTests.device(number).address, data)
            }
        }

        @Test("Nothing is told after the limit, when the scan still runs until it is stopped; a restart begins anew")
        func limit() throws {
            let bench = try Bench(.address(Self.device(1).address))
            bench.finder.start(for: .seconds(10))
            bench.finder.start(for: .seconds(5))
            try bench.hear(2, at: 50)
            try bench.run(to: 150)
            #expect(bench.told == ["10.0 not heard 10 0"] && bench.radio.listening == 1 && bench.radio.scans == 1)
            try bench.hear(1, at: 160)
            #expect(bench.told.count == 1)
            var isStopped = false
            bench.finder.stop { isStopped = true }
            #expect(isStopped && bench.radio.listening == 0)
            bench.finder.start()
            try bench.hear(1, at: 300)
            #expect(bench.told.dropFirst() == ["30.0 found 1"])
            bench.finder.stop()
        }

        @Test("A name is taken after a second in which no other device had it; the known device is then taken at once")
        func names() throws {
            let bench = try Bench(.name("A"))
            bench.finder.start()
            try bench.hear(1, Self.name("A"), at: 10)
            try bench.hear(2, Self.name("B"), at: 12)
            try bench.run(to: 30)
            #expect(bench.told == ["2.0 found 1"])
            // Nothing is told until the caller wants another result.
            try bench.hear(1, Self.name("A"), at: 31)
            #expect(bench.told.count == 1)
            bench.finder.goOn()
            try bench.hear(1, Self.name("A"), at: 40)
            #expect(bench.told.dropFirst() == ["4.0 found 1"])
            bench.finder.stop()
            bench.told = []
            bench.finder.choice = .name("C")
            bench.finder.start()
            try bench.hear(3, Self.name("C"), at: 60)
            try bench.hear(4, Self.name("C"), at: 65)
            try bench.run(to: 80)
            #expect(bench.told == ["7.0 several 2"])
            bench.finder.stop()
            #expect(bench.radio.listening == 0)
        }

        @Test("A name at another address is told once for each device, from 3 s to 10 s, and a minute later again")
        func namesakes() throws {
            let bench = try Bench(.kept(SelectedDevice(Self.device(1), name: "A")))
            bench.finder.start(for: .seconds(80))
            for (number, tenths) in [(2, 10), (3, 40), (3, 45), (4, 50), (5, 110), (6, 710), (7, 780)]
                as [(UInt64, Int)]
            {
                try bench.hear(number, Self.name("A"), at: tenths)
            }
            try bench.run(to: 900)
            #expect(bench.told == ["4.0 namesake 3", "5.0 namesake 4", "71.0 namesake 6", "80.0 not heard 80 6"])
            bench.finder.stop()
            #expect(bench.radio.listening == 0)
        }

        @Test("A scan that fails is told with its cause, and the next one begins anew")
        func failure() throws {
            let bench = try Bench(.kept(SelectedDevice(Self.device(1), name: "A")))
            bench.finder.start(for: .seconds(20))
            try bench.run(to: 10)
            bench.radio.failScan(.unsupported)
            try bench.run(to: 300)
            #expect(bench.told == ["1.0 \(ScanError.unsupported)"])
            bench.finder.start()
            try bench.hear(1, at: 310)
            #expect(bench.told.dropFirst() == ["31.0 found 1"])
            bench.finder.stop()
        }

        @Test("Names are asked for where they are wanted, and after a failure")
        func active() throws {
            for (isThorough, wantsName, isActive) in [(false, false, false), (true, false, true), (false, true, true)] {
                let bench = try Bench(.address(Self.device(1).address), wantsName: wantsName)
                bench.finder.isThorough = isThorough
                bench.finder.start()
                #expect(bench.radio.isActive == isActive)
                try bench.hear(1, at: 10)
                try bench.run(to: 50)
                #expect(bench.told == [wantsName ? "3.0 found 1" : "1.0 found 1"])
                bench.finder.stop()
            }
        }

        @Test("A scan for a time gives what was heard, its failure once, and nothing after it was given up")
        func timed() throws {
            let bench = try Bench(.name("A"))
            var results: [String] = []
            func scan() -> TimedScan {
                TimedScan(at: DeviceTable(), for: .seconds(2), on: bench.arbiter) { result in
                    switch result {
                    case .success(let devices): results.append("\(devices.devices.count)")
                    case .failure(let error): results.append("\(error)")
                    }
                }
            }
            let first = scan()
            try bench.hear(1, at: 10)
            try bench.hear(2, at: 11)
            try bench.run(to: 30)
            #expect(results == ["2"] && bench.radio.listening == 0)
            let second = scan()
            try bench.run(to: 40)
            bench.radio.failScan(.unsupported)
            try bench.run(to: 90)
            #expect(results == ["2", "\(ScanError.unsupported)"])
            let third = scan()
            third.abandon()
            try bench.run(to: 150)
            #expect(results.count == 2 && bench.radio.listening == 0)
            withExtendedLifetime((first, second)) {}
        }

        @Test(
            "The directory of the selected device is made for everybody to read; one that cannot be watched is an error"
        )
        func follower() throws {
            let directory = try TestDirectory()
            let store = ChoiceStore(FilePath(directory("state/selection")))
            let loop = try EventLoop()
            let follower = try ChoiceFollower(store, on: loop)
            #expect(FileSystem.ownerAndMode(of: directory("state"))?.mode == 0o755)
            follower.end()
            try directory.write("", to: "file")
            #expect(throws: ChoiceFollower.WatchError.self) {
                _ = try ChoiceFollower(ChoiceStore(FilePath(directory("file/selection"))), on: loop)
            }
        }
    }
#endif
