// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import Beacons
    import BluetoothHost
    import BluetoothPackets
    import Configuration
    import Control
    import LinuxIO
    import SystemPackage
    import TestSupport
    import Testing
    import Texts

    @testable import Daemon
    @testable import Devices

    /// Parts of the daemon, on a radio that hears only what the test lets it hear.
    @Suite("Parts of the daemon", .virtualTime, .serialized, .timeLimit(.minutes(5)))
    struct DaemonPartsTests {
        private static let badges = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
        private static let gates = "11111111-DFFB-48D2-B060-D0F5A71096E0"

        private func run(_ bench: DaemonBench, for time: Duration) throws {
            let end = MonotonicClock.now + time
            #expect(try bench.until { MonotonicClock.now >= end })
        }

        @Test("The answer to `beacons status`, and the beacons of the daemon's status, as a whole")
        func beaconStatus() throws {
            let bench = try DaemonBench()
            var settings = BeaconConfiguration()
            settings.watched = [.initial]
            settings.actions = [
                BeaconAction(name: "till", region: try #require(BeaconRegion(Self.badges + "/1/2")), deed: .type),
                BeaconAction(name: "door", region: try #require(BeaconRegion(Self.gates)), deed: .gate),
            ]
            let regions = "static \(Self.badges) Badges\nstatic \(Self.gates) Gates\nkey \(Self.badges)/1/2 A17C\n"
            let daemon = try bench.make(beacons: settings, regions: regions)
            daemon.start { _ in }
            #expect(try bench.until { bench.radio.listening == 1 })
            let identity = try #require(BeaconIdentity(Self.badges + "/1/2"))
            let frame = try #require(BeaconFrame(.iBeacon, identity, measuredPower: -59))
            let data = try AdvertisementLayout(frame.content(), canBeAsked: false).data
            for _ in 0..<2 { bench.radio.advertise(BluetoothAddress(rawValue: 0xC6C7_C8C9_CACB), data) }
            try run(bench, for: .seconds(2))
            _ = try bench.ask(.beacons(.advertise(frame))).get()
            let inside = "\"\(Self.badges)\",\"\(Self.badges)/1/2\""
            let sighting = #""name":"Badges","inside":true,"secondsAgo":2,"beacon":"\#(Self.badges)/1/2""#
            let counts =
                #""reports":2,"heard":2,"badEvents":0,"leftOut":0,"displaced":0,"regionsLeftOut":0,"#
                + #""codesTaken":1,"codesDropped":0"#
            let status = try bench.ask(.beacons(.status)).get().text
            #expect(
                status == #"{"available":true,"availability":"possible","known":2,"#
                    + #""watched":["\#(Self.badges)","\#(Self.gates)","\#(Self.badges)/1/2"],"inside":[\#(inside)],"#
                    + #""actions":[{"name":"till","region":"\#(Self.badges)/1/2","do":"type"},"#
                    + #"{"name":"door","region":"\#(Self.gates)","do":"gate"}],"designated":[],"#
                    + #""sightings":[{"region":"\#(Self.badges)",\#(sighting)},"#
                    + #"{"region":"\#(Self.badges)/1/2",\#(sighting)},"#
                    + #"{"region":"\#(Self.gates)","name":"Gates","inside":false}],"#
                    + #""advertising":"on","advertised":"\#(Self.badges)/1/2","format":"ibeacon","counts":{\#(counts)}}"#
            )
            let part = #""beacons":{"available":true,"watched":3,"inside":2,"advertising":true,\#(counts),"#
            #expect(daemon.status.object.text.contains(part + #""unauthenticatedActions":["till","door"]}"#))
            try bench.end()
        }

        @Test("Scans of clients one after another keep what was heard, until one begins anew; a second one is refused")
        func scans() throws {
            let bench = try DaemonBench()
            let daemon = try bench.make()
            daemon.start { _ in }
            try run(bench, for: .milliseconds(50))
            func names(_ answer: Result<JSONObject, CommandFailure>?) throws -> [String] {
                let object = try JSONValue(Array(try #require(answer).get().text.utf8))
                guard case .array(let devices)? = object["devices"] else { return ["no devices"] }
                return devices.map { $0["address"]?.string ?? "" }
            }
            var first: Result<JSONObject, CommandFailure>?
            daemon.handle(.scan(for: .seconds(2), isAnew: true)) { first = $0 }
            #expect(try bench.until { bench.radio.listening == 1 })
            let refused = try bench.ask(.scan(for: .seconds(1), isAnew: false))
            #expect(throws: CommandFailure(.timeout, AdapterFaultText.scannedAlready)) { try refused.get() }
            bench.radio.advertise(BluetoothAddress(rawValue: 0xC0FF_EE00_0001), [])
            #expect(try bench.until { first != nil })
            #expect(try names(first) == ["C0:FF:EE:00:00:01"])
            #expect(try names(bench.ask(.scan(for: .seconds(1), isAnew: false))) == ["C0:FF:EE:00:00:01"])
            #expect(try names(bench.ask(.scan(for: .seconds(1), isAnew: true))).isEmpty)
            try bench.end()
        }

        @Test("A selection that the file system does not let us write is used all the same; another failure is one")
        func unwritable() throws {
            let directory = try TestDirectory()
            let store = ChoiceStore(FilePath(directory("selection")))
            let keeper = try ChoiceKeeper(store, follows: false, on: EventLoop())
            let choice = SelectedDevice(DeviceAddress(BluetoothAddress(rawValue: 0xC0FF_EE00_0001), .random), name: "A")
            defer { CallScript.use(nil) }
            for error in [Errno.readOnlyFileSystem, .permissionDenied, .notPermitted, .noSpace] {
                CallScript.use { $0 == CallSite(.file, .rename) ? .error(error) : nil }
                guard error == .noSpace else {
                    let note = try keeper.write(choice)?.english
                    #expect(note?.contains("A") == true && note?.contains(directory("selection")) == true, "\(error)")
                    continue
                }
                #expect(throws: CommandFailure.self) { _ = try keeper.write(choice) }
            }
            CallScript.use(nil)
            #expect(try keeper.write(choice) == nil && store.read() == choice)
            try keeper.forget()
            #expect(try store.read() == nil && keeper.read() == nil)
        }

        @Test("Requests that need a device or a configuration are refused without one; the others are answered")
        func requests() throws {
            let bench = try DaemonBench()
            let daemon = try bench.make()
            daemon.start { _ in }
            let refusals: [(ControlRequest, CommandFailure)] = [
                (.connect, CommandFailure(.unavailable, ControlFaultText.nothingChosen)),
                (.disconnect, CommandFailure(.unavailable, ControlFaultText.nothingChosen)),
                (.reload, CommandFailure(.unavailable, ControlFaultText.noConfiguration)),
            ]
            for (request, failure) in refusals {
                #expect(throws: failure) { try bench.ask(request).get() }
            }
            for request in [ControlRequest.forget, .pause, .resume, .received, .events] {
                #expect(try bench.ask(request).get().text == "{}")
            }
            _ = try bench.ask(.pause).get()
            let failure = #expect(throws: CommandFailure.self) { try bench.ask(.clear).get() }
            #expect(failure?.status == .unavailable && failure?.cause.english.contains("paused") == true)
            let start = MonotonicClock.now
            var stopped: Duration?
            daemon.onStopAsked = { stopped = MonotonicClock.now - start }
            #expect(try bench.ask(.stop).get().text == "{}" && stopped == nil)
            #expect(try bench.until { stopped != nil })
            try bench.end()
        }

        @Test("A device that waits for the user's word is kept for 60 s, once, and only for the same selector")
        func awaitedWord() {
            let device = DeviceAddress(BluetoothAddress(rawValue: 0xC0FF_EE00_0001), .random)
            let found = FoundDevice(kept: SelectedDevice(device, name: "A"), heard: device, isKeyboard: true)
            let start = Duration.seconds(5)
            let times: [(Duration, isFresh: Bool?)] = [
                (.zero, true), (Session.closingTimeout - .nanoseconds(1), true), (Session.closingTimeout, false),
                (.seconds(60) - .nanoseconds(1), false), (.seconds(60), nil),
            ]
            for (time, isFresh) in times {
                var word = AwaitedWord(.name("A"), found, now: start)
                let taken = word.take(.name("A"), now: start + time)
                #expect(taken?.isFresh == isFresh && (taken == nil || taken?.device == found), "\(time)")
                #expect(word.take(.name("A"), now: start) == nil)
            }
            var other = AwaitedWord(.name("A"), found, now: start)
            #expect(other.take(.name("B"), now: start) == nil && other.take(.name("A"), now: start) == nil)
        }

        @Test("Received values are reported at once, and then at most ten times per second")
        func reports() throws {
            let loop = try EventLoop()
            let reporter = ReceivedReporter(on: loop)
            let start = MonotonicClock.now
            var reports: [String] = []
            reporter.onReport = { report in
                let time = (MonotonicClock.now - start) / .milliseconds(1)
                reports.append("\(Int(time)) \(report.values) \(report.bytes)")
            }
            #expect(reporter.last == nil)
            reporter.received(9, isTold: false)
            #expect(reporter.last?.length == 9 && reporter.last?.time == MonotonicClock.now)
            for length in 1...3 { reporter.received(length, isTold: true) }
            #expect(try loop.run { MonotonicClock.now >= start + .milliseconds(150) })
            #expect(reports == ["0 1 1", "100 2 5"])
            reporter.received(7, isTold: true)
            reporter.flush()
            reporter.flush()
            #expect(try loop.run { MonotonicClock.now >= start + .milliseconds(400) })
            #expect(reports == ["0 1 1", "100 2 5", "150 1 7"] && reporter.last?.length == 7)
        }
    }
#endif
