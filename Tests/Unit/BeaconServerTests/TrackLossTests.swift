// SPDX-License-Identifier: GPL-2.0-or-later

import BeaconServer
import Glibc
import LinuxIO
import SystemPackage
import TestSupport
import Testing
import Texts

@testable import blewedge

/// The file size limit applies to the whole process, so no other test may run at the same time.
@Suite("Tracks through losses", .timeLimit(.minutes(10)), .serialized)
struct TrackLossTests {
    private static func record(_ number: UInt64) throws -> TrackRecord {
        let uuid = try #require(ServerUUID(badge))
        return try #require(
            TrackRecord(
                .uuid(uuid, major: 1, minor: nil),
                seconds: 1000,
                sightings: [.init(major: 1, minor: 2, rssi: -60, milliseconds: 10)],
                number: number
            )
        )
    }

    /// Returns the keys and paths of the records that a server has received.
    private static func keys(_ server: ReferenceServer, of count: Int) throws -> [(path: String, key: String)] {
        var bodies: [String: String] = [:]
        return try (0..<count).map { _ in
            let request = try server.request()
            let key = try #require(try JSONValue(Array(request.body.utf8))["record"]?.string)
            #expect(bodies.updateValue(request.body, forKey: key) ?? request.body == request.body)
            return (request.path, key)
        }
    }

    @Test(
        "SW-7: after a day without network, a server that fails, is late or answers twice gets each record once by its key"
    )
    func day() throws {
        let server = try ReferenceServer()
        let store = TrackStore(FilePath(server.directory("state/tracks.json")))
        var now = Duration.zero
        func run(_ send: @escaping (TrackRecord) throws(ServerFault) -> ContactResult) throws -> TrackRun.Report {
            try TrackRun(store, send: send, now: { now }, wait: { now += $0 }).run()
        }
        var offline = try server.settings("fine")
        offline.address = try ServerAddress("https://localhost:1")
        offline.agreement = agreement(to: offline.address)
        let nobody = try ServerClient(offline)
        for hour in 0..<24 {
            try store.update { $0.add(try! Self.record(UInt64(hour))) }
            let start = now
            let report = try run(nobody.send)
            #expect(report.waiting == hour + 1 && report.givenUp == 0 && report.contacts.isEmpty)
            guard case .request(.unreachable) = report.fault else { return _ = Issue.record("\(report)") }
            #expect(now - start == .seconds(14))
            now += .seconds(3600)
        }
        var late = try server.settings("never")
        // Enough time for the server to receive the record on a busy machine.
        late.timeout = .seconds(10)
        let failing = [try server.client("status-500"), try ServerClient(late)]
        let twice = try server.client("twice")
        var sends = 0
        let report = try run { record throws(ServerFault) in
            sends += 1
            return try (sends <= failing.count ? failing[sends - 1] : twice).send(record)
        }
        #expect(report.contacts.count == 24 && report.waiting == 0 && report.fault == nil)
        let keys = try Self.keys(server, of: 26)
        #expect(Set(keys.map(\.key)).count == 24)
        #expect(keys.filter { $0.path == "/twice/track" }.map(\.key).count == 24)
        let queue = try store.read()
        #expect(queue.sent == 24 && queue.givenUp == 0 && queue.dropped == 0)
    }

    @Test("SW-7: a record whose process is killed while sending is sent by the next one, with the same key")
    func killed() async throws {
        let server = try ReferenceServer()
        let path = server.directory("state/tracks.json")
        let store = TrackStore(FilePath(path))
        for number in 1...2 { try store.update { $0.add(try! Self.record(UInt64(number))) } }
        let settings = try server.settings("cut")
        let (address, token, authorities) = (
            "\(settings.address)", "\(settings.tokenFile)", "\(settings.authorityFile ?? "")"
        )
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [
                path = path as String, address = address as String, token = token as String,
                authorities = authorities as String
            ] in
            var settings = ServerSettings(try ServerAddress(address), tokenFile: FilePath(token))
            settings.authorityFile = FilePath(authorities)
            settings.agreement = agreement(to: settings.address)
            let client = try ServerClient(settings)
            // The server receives the record, but this process gets no whole response.
            let send = { (record: TrackRecord) throws(ServerFault) -> ContactResult in
                _ = try? client.send(record)
                kill(getpid(), SIGKILL)
                return .marked
            }
            _ = try TrackRun(TrackStore(FilePath(path)), send: send, now: { .zero }, wait: { _ in }).run()
        }
        #expect(try store.read().entries.map(\.attempts) == [1, 0])
        let fine = try server.client("fine")
        let report = try TrackRun(store, send: fine.send, now: { .zero }, wait: { _ in }).run()
        #expect(report.contacts.count == 2)
        let keys = try Self.keys(server, of: 3)
        #expect(keys.map(\.key) == [1, 1, 2].map { "000000000000000\($0)" })
        #expect(try store.read().sent == 2)
    }

    @Test(
        "SW-7: on a full disk, no record is sent that cannot be counted, and a sent one keeps its key until it is counted"
    )
    func fullDisk() async {
        await #expect(processExitsWith: .success) {
            let directory = try TestDirectory()
            let path = FilePath(directory("tracks.json"))
            let store = TrackStore(path)
            try store.update { $0.add(try! Self.record(1)) }
            // The kernel refuses to extend the file beyond this size, as on a full disk.
            signal(SIGXFSZ, SIG_IGN)
            func setLimit(_ bytes: UInt) {
                var limit = rlimit()
                #expect(getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                limit.rlim_cur = min(bytes, limit.rlim_max)
                #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            }
            setLimit(64)
            var sent: [UInt64] = []
            var isFull = false
            let send = { (record: TrackRecord) throws(ServerFault) -> ContactResult in
                sent.append(record.number)
                if isFull { setLimit(64) }
                return .marked
            }
            let run = TrackRun(store, send: send, now: { .zero }, wait: { _ in })
            let failure = ServerFile.Failure.unwritable(path, .fileTooLarge)
            #expect(throws: failure) { try store.update { $0.add(try! Self.record(2)) } }
            #expect(throws: failure) { try run.run() }
            #expect(try sent.isEmpty && store.read().entries.map(\.record.number) == [1])
            setLimit(.max)
            isFull = true
            #expect(throws: failure) { try run.run() }
            #expect(try sent == [1] && store.read().sent == 0)
            setLimit(.max)
            isFull = false
            #expect(try run.run().contacts.map(\.record.number) == [1])
            #expect(try sent == [1, 1] && store.read().sent == 1 && store.read().entries.isEmpty)
        }
    }
}
