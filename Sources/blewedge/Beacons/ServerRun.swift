// SPDX-License-Identifier: GPL-2.0-or-later

import BeaconServer
import Beacons
import BluetoothLE
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// The files of the server's side.
struct ServerFiles {
    /// The managed regions.
    var regions: FilePath
    /// The tracks that have to be sent.
    var tracks: FilePath

    /// Those in a directory.
    init(in directory: FilePath) {
        regions = directory.appending("beacon-regions.json")
        tracks = directory.appending("beacon-tracks.json")
    }

    /// The server's regions that are kept in a directory.
    static func managed(in directory: FilePath) throws(CommandFailure) -> [RegionFile.Entry] {
        do throws(ServerFile.Failure) {
            return try RegionStore(ServerFiles(in: directory).regions).read().current.compactMap { region in
                BeaconRegion(region.region.description).map { RegionFile.Entry($0, name: region.name ?? "") }
            }
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Removes both; files that do not exist are no error.
    func remove() throws(CommandFailure) {
        do throws(ServerFile.Failure) {
            try RegionStore(regions).remove()
            try TrackStore(tracks).remove()
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Those of this process.
    static func current() throws(CommandFailure) -> ServerFiles { ServerFiles(in: try DaemonPaths.current().state) }
}

/// What the commands do that ask a server of beacons; each prints its outcome.
struct ServerRun {
    private let settings: ServerSettings
    private let files: ServerFiles
    private let output: ServerOutput

    /// Runs for a server.
    init(_ settings: ServerSettings, files: ServerFiles, _ output: ServerOutput) {
        (self.settings, self.files, self.output) = (settings, files, output)
    }

    /// Fetches the regions of a scope, sorts them, and keeps them.
    func fetch(_ scope: RegionScope) throws {
        let store = RegionStore(files.regions)
        let now = WallClock.seconds
        let regions = try ServerClient(settings).fetch(scope, after: try store.read(), at: now)
        // Another process may have fetched others meanwhile.
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
        let counts = [kept.current, kept.new, kept.abandoned].map { "\($0.count)" }
        output.note(
            kept.difference == .none
                ? BeaconServerText.noDifference.message(counts[0])
                : BeaconServerText.fetched.message(counts[0], counts[1], counts[2])
        )
        for (text, regions) in [(BeaconServerText.isNew, kept.new), (.isAbandoned, kept.abandoned)] {
            for region in regions {
                let line = [region.region.description, region.name.map(LocalName.printable)].compactMap { $0 }
                try output.write(text.text(.current, line.joined(separator: "  ")) + "\n")
            }
        }
    }

    /// Has an event of a region logged.
    func log(_ event: ServerRequest.Event, of region: ServerRegion) throws {
        try ServerClient(settings).log(event, of: region, at: WallClock.seconds)
        try done(BeaconServerText.logged.message())
    }

    /// Has a one-time beacon validated; one that is invalid fails.
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

    /// Sends what waits; fails where a record was given up.
    func send(
        now: @escaping () -> Duration = { MonotonicClock.now },
        wait: @escaping (Duration) throws -> Void = { try ServerRun.pause($0) }
    ) throws {
        let client = try ServerClient(settings)
        let run = TrackRun(TrackStore(files.tracks), send: client.send, now: now, wait: wait)
        let report = try run.run()
        if output.isJSON {
            var object = JSONObject()
            object.add("ok", report.fault == nil)
            object.add("sent", report.sent)
            object.add("givenUp", report.givenUp)
            object.add("waiting", report.waiting)
            if let fault = report.fault { object.add(membersOf: ServerOutput.members(of: fault)) }
            try output.tell(object)
        } else {
            output.note(
                BeaconServerText.sentAll.message("\(report.sent)", "\(report.givenUp)", "\(report.waiting)")
            )
        }
        if let fault = report.fault { throw CommandFailure(givenUp: report.givenUp, fault) }
    }

    /// Prints what would be sent, a record a line, and what was sent last.
    static func showRecords(in files: ServerFiles, _ output: ServerOutput) throws {
        let queue = try TrackStore(files.tracks).read()
        if output.isJSON {
            var object = JSONObject()
            object.add("ok", true)
            object.add(membersOf: queue.counts)
            object.add("records", queue.entries.map(\.record.members))
            object.add("last", queue.last?.members)
            return try output.tell(object)
        }
        for entry in queue.entries { try output.write(entry.record.members.text + "\n") }
        if queue.entries.isEmpty { output.note(BeaconServerText.nothingWaits.message()) }
        let last = queue.last?.members.text
        output.note(last.map { BeaconServerText.lastSent.message($0) } ?? BeaconServerText.noneSent.message())
    }

    private func done(_ message: Message) throws {
        guard output.isJSON else { return output.note(message) }
        var object = JSONObject()
        object.add("ok", true)
        try output.tell(object)
    }

    /// Does nothing for so long.
    private static func pause(_ time: Duration) throws {
        let loop = try EventLoop.ofCommand()
        _ = loop.schedule(at: MonotonicClock.now + time) { loop.stop() }
        try loop.run()
    }
}
