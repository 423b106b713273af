// SPDX-License-Identifier: GPL-2.0-or-later

import BeaconServer
import Control
import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts

@testable import blewedge

@Suite("Saved data of the beacon server")
struct KeptTests {
    private let uuid: ServerUUID
    private let template: TrackRecord

    init() throws {
        let uuid = try #require(ServerUUID(badge))
        self.uuid = uuid
        template = try #require(
            TrackRecord(
                .uuid(uuid, major: 1, minor: nil),
                seconds: 1000,
                sightings: [.init(major: 1, minor: 2, keyCode: "k", rssi: -60, milliseconds: 10)]
            )
        )
    }

    private func region(_ major: UInt16, _ kind: ManagedRegion.Kind = .test) -> ManagedRegion {
        ManagedRegion(.uuid(uuid, major: major, minor: nil), kind)
    }

    private func record(_ number: UInt64) -> TrackRecord {
        TrackRecord(template.region, seconds: 1000, sightings: template.sightings, number: number) ?? template
    }

    @Test("SW-20: the result of an update is no difference, new, abandoned, or both")
    func sorting() throws {
        var kept = KeptRegions()
        let test = try #require(RegionScope("test"))
        kept.take([region(1), region(2), region(3, .owned)], of: .whole, at: 10)
        #expect(kept.difference == .new && kept.new.count == 3)
        kept.take([region(2), region(1)], of: test, at: 20)
        #expect(kept.difference == .none && kept.current.count == 3)
        kept.take([region(1)], of: test, at: 30)
        #expect(kept.difference == .abandoned && kept.abandoned == [region(2)])
        #expect(kept.current == [region(3, .owned), region(1)])
        kept.take([region(4)], of: test, at: 40)
        #expect(kept.difference == .newAndAbandoned)
        // A region that now belongs to somebody else is neither new nor listed twice.
        kept.take([region(3), region(4)], of: test, at: 50)
        #expect(kept.difference == .none && kept.current == [region(3), region(4)])
        #expect(try KeptRegions(parsing: Array(kept.text.utf8)) == kept)
    }

    @Test(
        "The interval counts for what a fetch covered, to the second, and a clock that was ahead stops nothing"
    )
    func interval() throws {
        var kept = KeptRegions()
        let (test, owned) = (try #require(RegionScope("test")), try #require(RegionScope("owned")))
        let dynamic = try #require(RegionScope("owned", beacons: .dynamic))
        #expect(kept.nextFetch(of: .whole, interval: 12, at: 0) == nil)
        kept.take([region(1, .owned)], of: owned, at: 1000)
        #expect(kept.nextFetch(of: owned, interval: 1, at: 4599) == 4600)
        #expect(kept.nextFetch(of: dynamic, interval: 1, at: 4599) == 4600)
        #expect(kept.nextFetch(of: owned, interval: 1, at: 4600) == nil)
        #expect(kept.nextFetch(of: test, interval: 1, at: 4599) == nil)
        #expect(kept.nextFetch(of: .whole, interval: 1, at: 4599) == nil)
        #expect(kept.nextFetch(of: owned, interval: 0, at: 1000) == nil)
        #expect(kept.nextFetch(of: owned, interval: 1, at: 999) == nil)
        #expect(kept.isFetched(owned, since: 1000, at: 1000) && !kept.isFetched(owned, since: 1001, at: 2000))
        #expect(!kept.isFetched(owned, since: 0, at: 999) && !kept.isFetched(.whole, since: 0, at: 2000))
        #expect(!kept.isFetched(owned, since: 3000, at: 2000))
        kept.take([region(1)], of: .whole, at: 5000)
        #expect(kept.nextFetch(of: test, interval: 1, at: 5001) == 8600)
    }

    @Test("The file is whole or not at all, and a garbled one says where")
    func regionsFile() throws {
        let directory = try TestDirectory()
        let store = RegionStore(FilePath(directory("state/regions.json")))
        #expect(try store.read() == KeptRegions())
        var kept = KeptRegions()
        kept.take([region(1)], of: .whole, at: 10)
        let written = try store.update { $0 = kept }
        #expect(written == kept)
        #expect(try store.read() == kept)
        try directory.write(#"{"version":1,"fetched":[],"regions":[{}]}"#, to: "state/regions.json")
        let fault = ServerAnswerFault(place: "regions[0].uuid", reason: "is missing")
        let path = FilePath(directory("state/regions.json"))
        #expect(throws: ServerFile.Failure.garbled(path, fault)) { try store.read() }
        #expect(CommandFailure(ServerFile.Failure.garbled(path, fault)).status == .configuration)
        let none = RegionStore("/proc/none/regions.json")
        #expect(throws: ServerFile.Failure.self) { _ = try none.update { $0 = kept } }
    }

    @Test("SW-7: A record is sent once, retried after 2, 4 and 8 s, and then dropped")
    func retries() throws {
        var queue = TrackQueue()
        var sender = TrackSender()
        queue.add(record(1))
        var now = Duration.seconds(100)
        for pause in [2, 4, 8] {
            #expect(sender.step(queue, at: now) == .send(record(1)))
            let isBegun = queue.begin(record(1))
            #expect(isBegun)
            let failed = queue.fail(record(1))
            let next = try #require(failed)
            #expect(next == .seconds(pause))
            sender.postpone(record(1), by: next, at: now)
            #expect(sender.step(queue, at: now) == .wait(.seconds(pause)))
            #expect(sender.step(queue, at: now + next - .nanoseconds(1)) == .wait(.nanoseconds(1)))
            now += next
        }
        #expect(sender.step(queue, at: now) == .send(record(1)))
        let begun = [queue.begin(record(1)), queue.begin(record(1))]
        #expect(begun == [true, false])
        let pause = queue.fail(record(1))
        #expect(pause == nil)
        #expect(queue.givenUp == 1 && queue.entries.isEmpty && sender.step(queue, at: now) == .done)
    }

    @Test("While one record waits for its next attempt the others are sent")
    func others() {
        var queue = TrackQueue()
        var sender = TrackSender()
        queue.add(record(1))
        queue.add(record(2))
        _ = queue.begin(record(1))
        sender.postpone(record(1), by: .seconds(2), at: .zero)
        #expect(sender.step(queue, at: .zero) == .send(record(2)))
        sender.postpone(record(2), by: .seconds(1), at: .zero)
        #expect(sender.step(queue, at: .zero) == .wait(.seconds(1)))
        #expect(sender.step(queue, at: .seconds(1)) == .send(record(2)))
        queue.accept(record(2))
        #expect(queue.last == record(2) && queue.sent == 1)
        #expect(sender.step(queue, at: .seconds(1)) == .wait(.seconds(1)))
    }

    @Test("1,000 records wait at most, the oldest is dropped and counted, and the file has them all")
    func bound() throws {
        var queue = TrackQueue()
        for number in 0..<1003 { queue.add(record(UInt64(number))) }
        #expect(queue.entries.count == 1000 && queue.dropped == 3 && queue.entries.first?.record == record(3))
        // The total number of sightings is limited too.
        let many = Array(repeating: template.sightings[0], count: 260)
        let wide = try #require(TrackRecord(template.region, seconds: 1000, sightings: many))
        var wideQueue = TrackQueue()
        for _ in 0..<100 { wideQueue.add(wide) }
        #expect(wideQueue.entries.count == 76 && wideQueue.dropped == 24)
        let directory = try TestDirectory()
        let store = TrackStore(FilePath(directory("tracks.json")))
        try store.update { $0 = queue }
        #expect(try store.read() == queue)
        var status = stat()
        #expect(stat(directory("tracks.json"), &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    /// Runs over a store.
    ///
    /// Sending fails with the errors in `faults` until they are used up, and only waiting advances the time.
    private func run(
        _ store: TrackStore,
        faults: [ServerFault?]
    ) throws -> (report: TrackRun.Report, sent: [UInt64], times: [Duration]) {
        var (faults, now) = (faults[...], Duration.zero)
        var (sent, times): ([UInt64], [Duration]) = ([], [])
        let send = { (record: TrackRecord) throws(ServerFault) -> ContactResult in
            sent.append(record.number)
            times.append(now)
            if let fault = faults.popFirst() ?? nil { throw fault }
            return ContactResult.marked
        }
        let report = try TrackRun(store, send: send, now: { now }, wait: { now += $0 }).run()
        return (report, sent, times)
    }

    @Test("A run sends what waits, at its times, and stops where nobody answers at all")
    func runs() throws {
        let directory = try TestDirectory()
        let store = TrackStore(FilePath(directory("tracks.json")))
        for number in 1...3 { try store.update { $0.add(record(UInt64(number))) } }
        let busy = ServerFault.http(503)
        let first = try run(store, faults: [busy, nil, nil, busy, busy, busy])
        let contacts = [record(2), record(3)].map { TrackRun.Contact($0, .marked) }
        #expect(first.report == TrackRun.Report(contacts: contacts, givenUp: 1, waiting: 0, fault: busy))
        #expect(first.sent == [1, 2, 3, 1, 1, 1])
        #expect(first.times == [0, 0, 0, 2, 6, 14].map { .seconds($0) })
        #expect(try store.read().givenUp == 1 && store.read().sent == 2)

        for number in 4...5 { try store.update { $0.add(record(UInt64(number))) } }
        let silent = ServerFault.request(.timedOut)
        let second = try run(store, faults: Array(repeating: silent, count: 8))
        #expect(second.report == TrackRun.Report(givenUp: 1, waiting: 1, fault: silent))
        #expect(second.sent == [4, 5, 4, 5, 4, 5, 4])
        // The earlier attempts were counted, so only one is left.
        let third = try run(store, faults: [silent])
        #expect(third.sent == [5] && third.report.givenUp == 1 && third.report.waiting == 0)
        #expect(try store.read().givenUp == 3)
    }

    @Test("An attempt is counted before it is made, so that a killed process repeats none for ever")
    func killed() throws {
        let directory = try TestDirectory()
        let store = TrackStore(FilePath(directory("tracks.json")))
        try store.update { $0.add(record(1)) }
        for attempt in 1...4 {
            let send = { (_: TrackRecord) throws(ServerFault) -> ContactResult in
                let seen = (try? store.read())?.entries.map(\.attempts)
                #expect(seen == [attempt])
                throw .http(500)
            }
            let end = TrackRun(store, send: send, now: { .zero }, wait: { _ in throw Errno.interrupted })
            if attempt < 4 { #expect(throws: Errno.interrupted) { try end.run() } }
            if attempt == 4 { #expect(try end.run().givenUp == 1) }
        }
        try store.update { queue in
            queue.add(record(2))
            for _ in 1...4 { _ = queue.begin(record(2)) }
        }
        #expect(try run(store, faults: []).sent == [])
        #expect(try store.read().givenUp == 2)
    }

    @Test("Two processes do not send at once, and what is added meanwhile is sent too")
    func together() throws {
        let directory = try TestDirectory()
        let path = FilePath(directory("tracks.json"))
        let store = TrackStore(path)
        try store.update { $0.add(record(1)) }
        var sent: [UInt64] = []
        let send = { (record: TrackRecord) throws(ServerFault) in
            sent.append(record.number)
            if sent.count > 1 { return ContactResult.marked }
            try? store.update { $0.add(self.record(2)) }
            #expect(throws: ServerFile.Failure.inUse(path)) {
                try TrackRun(store, send: { _ in .marked }, now: { .zero }, wait: { _ in }).run()
            }
            return .marked
        }
        #expect(try TrackRun(store, send: send, now: { .zero }, wait: { _ in }).run().contacts.count == 2)
        #expect(sent == [1, 2])
    }
}
