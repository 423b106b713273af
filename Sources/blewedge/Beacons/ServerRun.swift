// SPDX-License-Identifier: GPL-2.0-or-later

import BeaconServer
import Beacons
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// The files that store the server's regions, the tracks to send, and the user's agreement.
struct ServerFiles {
    var regions: FilePath
    var tracks: FilePath
    var agreement: FilePath

    init(in directory: FilePath) {
        regions = directory.appending("beacon-regions.json")
        tracks = directory.appending("beacon-tracks.json")
        agreement = directory.appending("beacon-agreement.json")
    }

    /// Returns the server's regions that are stored in a directory.
    static func managed(in directory: FilePath) throws(CommandFailure) -> ManagedRegions {
        let kept: KeptRegions
        do throws(ServerFile.Failure) {
            kept = try RegionStore(ServerFiles(in: directory).regions).read()
        } catch {
            throw CommandFailure(error)
        }
        func entries(_ regions: [ManagedRegion]) -> [ManagedRegions.Entry] {
            regions.compactMap { region in
                BeaconRegion(region.region.description).map {
                    ManagedRegions.Entry(
                        $0,
                        name: region.name ?? "",
                        type: region.kind.rawValue,
                        beacons: region.variety.rawValue
                    )
                }
            }
        }
        return ManagedRegions(
            entries(kept.current),
            new: entries(kept.new).map(\.region),
            abandoned: entries(kept.abandoned),
            result: kept.fetched.isEmpty ? nil : kept.difference.rawValue
        )
    }

    func remove() throws(CommandFailure) {
        do throws(ServerFile.Failure) {
            try RegionStore(regions).remove()
            try TrackStore(tracks).remove()
            try AgreementStore(agreement).remove()
        } catch {
            throw CommandFailure(error)
        }
    }

    static func current() throws(CommandFailure) -> ServerFiles { ServerFiles(in: try DaemonPaths.current().state) }
}

/// Performs the beacon server commands; each method prints the result of its command.
struct ServerRun {
    private var settings: ServerSettings
    private let files: ServerFiles
    private let output: ServerOutput

    init(_ settings: ServerSettings, files: ServerFiles, _ output: ServerOutput) {
        (self.settings, self.files, self.output) = (settings, files, output)
    }

    /// Asks for the user's agreement, unless the user has already agreed, and adds the result to the answer for
    /// programs.
    ///
    /// Throws an error if the user does not agree, or if `ask` is nil and `isAgreed` is false.
    func setUp(isAgreed: Bool, ask: (() throws -> Bool)?, _ answer: inout JSONObject) throws {
        let agreement = try agreement(isAgreed: isAgreed, ask: ask)
        answer.add("agreement", agreement.members)
        if !output.isJSON {
            output.note(BeaconServerText.agreed.message(WallClock.universal(agreement.seconds), agreement.server))
        }
        var run = self
        run.settings.agreement = agreement
        try run.prepare(since: WallClock.seconds(at: .zero), &answer)
    }

    /// Fetches the official regions (SW-21), unless they were fetched since `start`.
    ///
    /// `start` is in seconds since 1970-01-01 00:00:00 UTC.
    func prepare(since start: Int, _ answer: inout JSONObject) throws {
        let store = RegionStore(files.regions)
        let now = WallClock.seconds
        var kept = try store.read()
        let isFetched = kept.isFetched(.official, since: start, at: now)
        if !isFetched {
            // Ignore the update interval, which only `fetch` observes.
            let regions = try ServerClient(settings).fetch(.official, after: KeptRegions(), at: now)
            kept = try store.update { $0.take(regions, of: .official, at: now) }
            answer.add("result", kept.difference.rawValue)
        }
        answer.add("official", kept.current.filter { RegionScope.official.covers($0) }.map(\.members))
        guard !output.isJSON else { return }
        if isFetched { return output.note(BeaconServerText.prepared.message()) }
        try tell(kept)
    }

    private func agreement(isAgreed: Bool, ask: (() throws -> Bool)?) throws -> ServerAgreement {
        if let agreement = settings.agreement, agreement.server == settings.address.description { return agreement }
        let text = BeaconServerText.agreement.message("\(settings.address)")
        guard isAgreed || ask != nil else { throw ServerFault.notAgreed(settings.address) }
        output.note(text)
        guard try isAgreed || ask?() == true else { throw ServerFault.notAgreed(settings.address) }
        let shown = text.text(.current)
        let agreement = ServerAgreement(to: settings.address, at: WallClock.seconds, shownText: shown)
        try AgreementStore(files.agreement).keep(agreement)
        return agreement
    }

    /// Throws an error unless the user has agreed to the use of the server.
    func requireAgreement() throws { _ = try agreement(isAgreed: false, ask: nil) }

    /// Fetches the regions of a scope, compares them with the stored regions, and stores them.
    func fetch(_ scope: RegionScope) throws {
        let store = RegionStore(files.regions)
        let now = WallClock.seconds
        let regions = try ServerClient(settings).fetch(scope, after: try store.read(), at: now)
        // Read the stored regions again, because another process may have changed them in the meantime.
        let kept = try store.update { $0.take(regions, of: scope, at: now) }
        if output.isJSON {
            var object = JSONObject()
            object.add("ok", true)
            object.add("result", kept.difference.rawValue)
            object.add("regions", kept.current.map(\.members))
            object.add("new", kept.new.map(\.members))
            object.add("abandoned", kept.abandoned.map(\.members))
            return try output.tell(object)
        }
        try tell(kept)
    }

    /// Prints, for people, the regions that a fetch has changed.
    private func tell(_ kept: KeptRegions) throws {
        let counts = [kept.current, kept.new, kept.abandoned].map { "\($0.count)" }
        output.note(
            kept.difference == .none
                ? BeaconServerText.noDifference.message(counts[0])
                : BeaconServerText.fetched.message(counts[0], counts[1], counts[2])
        )
        for (text, regions) in [(BeaconServerText.isNew, kept.new), (.isAbandoned, kept.abandoned)] {
            for region in regions {
                let words = [region.kind.rawValue, region.variety.rawValue].map { BeaconTables.word($0) }
                let line =
                    [region.region.description] + words + [region.name.map(LocalName.printable)].compactMap { $0 }
                try output.write(text.text(.current, line.joined(separator: "  ")) + "\n")
            }
        }
    }

    func log(_ event: ServerRequest.Event, of region: ServerRegion) throws {
        try ServerClient(settings).log(event, of: region, at: WallClock.seconds)
        try done(BeaconServerText.logged.message())
    }

    /// Validates a one-time beacon; throws an error if it is invalid.
    func validate(_ beacon: OnetimeBeacon) throws {
        let isValid = try ServerClient(settings).validate(beacon)
        if output.isJSON {
            var object = JSONObject()
            object.add("ok", true)
            object.add("valid", isValid)
            try output.tell(object)
        } else if isValid {
            output.note(BeaconServerText.valid.message())
        }
        guard isValid else { throw CommandFailure(.permission, BeaconServerText.invalid.message()) }
    }

    /// Stores a record, and sends all pending records, unless another process is already sending them.
    ///
    /// Throws an error if a record was given up; while the server is unreachable, records stay pending.
    func keep(_ record: TrackRecord, wait: @escaping (Duration) throws -> Void = { try ServerRun.pause($0) }) throws {
        try TrackStore(files.tracks).update { $0.add(record) }
        output.note(BeaconText.trackKept.message())
        let report: TrackRun.Report
        do { report = try transmit(now: { MonotonicClock.now }, wait: wait) } catch ServerFile.Failure.inUse { return }
        guard let fault = report.fault else { return }
        if report.givenUp > 0 { throw CommandFailure(givenUp: report.givenUp, fault) }
        output.note(CommandFailure(fault).cause)
    }

    /// Sends the pending records; throws an error if a record was given up, or if the server is unreachable.
    func send(
        now: @escaping () -> Duration = { MonotonicClock.now },
        wait: @escaping (Duration) throws -> Void = { try ServerRun.pause($0) }
    ) throws {
        let report = try transmit(now: now, wait: wait)
        guard let fault = report.fault else { return }
        throw report.givenUp > 0 ? CommandFailure(givenUp: report.givenUp, fault) : CommandFailure(fault)
    }

    /// Sends the pending records, and prints the results.
    private func transmit(
        now: @escaping () -> Duration,
        wait: @escaping (Duration) throws -> Void
    ) throws -> TrackRun.Report {
        let client = try ServerClient(settings)
        let run = TrackRun(TrackStore(files.tracks), send: client.send, now: now, wait: wait)
        let report = try run.run()
        report.contacts.forEach(output.onContact)
        if output.isJSON {
            var object = JSONObject()
            object.add("ok", report.fault == nil)
            object.add("sent", report.contacts.count)
            object.add("givenUp", report.givenUp)
            object.add("waiting", report.waiting)
            object.add("contacts", report.contacts.map(\.members))
            if let fault = report.fault { object.add(membersOf: ServerOutput.members(of: fault)) }
            try output.tell(object)
        } else {
            for contact in report.contacts {
                try output.write(contact.result.text(.current, contact.record.region.description) + "\n")
            }
            output.note(
                BeaconServerText.sentAll.message("\(report.contacts.count)", "\(report.givenUp)", "\(report.waiting)")
            )
        }
        return report
    }

    /// Prints the pending records, one per line, and the record that was sent last.
    ///
    /// `user` is the application's identifier for its user, which is sent with each record.
    static func showRecords(in files: ServerFiles, of user: String?, _ output: ServerOutput) throws {
        let queue = try TrackStore(files.tracks).read()
        func members(_ record: TrackRecord) -> JSONObject { ServerRequest.track(record).members(of: user) }
        if output.isJSON {
            var object = JSONObject()
            object.add("ok", true)
            object.add(membersOf: queue.counts)
            object.add("records", queue.entries.map { members($0.record) })
            object.add("last", queue.last.map(members))
            return try output.tell(object)
        }
        for entry in queue.entries { try output.write(members(entry.record).text + "\n") }
        if queue.entries.isEmpty { output.note(BeaconServerText.nothingWaits.message()) }
        let last = queue.last.map { members($0).text }
        output.note(last.map { BeaconServerText.lastSent.message($0) } ?? BeaconServerText.noneSent.message())
    }

    private func done(_ message: Message) throws {
        guard output.isJSON else { return output.note(message) }
        var object = JSONObject()
        object.add("ok", true)
        try output.tell(object)
    }

    private static func pause(_ time: Duration) throws {
        let loop = try EventLoop.ofCommand()
        _ = loop.schedule(at: MonotonicClock.now + time) { loop.stop() }
        try loop.run()
    }
}
