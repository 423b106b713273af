// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
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

// Subcommands of `blewedge beacons` that use a server.

struct BeaconsFetchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Fetch the managed regions from the server.",
        usage: "blewedge beacons fetch [<type>] [<options>]",
        discussion: """
            The types are service (the official ones of the server's operator), test, owned (the application's own) and \
            third-party. What is fetched is sorted into what was known, what is new and what is abandoned, and kept; what is watched \
            stays as it is. Within the interval after a fetch nobody is asked (error 1500). Where the server has no \
            regions for the application (1400), or fails, what was kept stays.

            EXAMPLES:
              blewedge beacons fetch --server https://beacons.example --token-file token
              blewedge beacons fetch owned --beacons dynamic --json
              blewedge beacons fetch service --beacons static
            """
    )

    @Argument(help: ArgumentHelp("Which regions: \(RegionScope.words.joined(separator: ", ")).", valueName: "type"))
    var type = RegionScope.whole.word

    @Option(
        "Of service or owned regions, only those of such beacons.",
        value: ManagedRegion.Variety.allCases.map(\.rawValue).joined(separator: "|")
    )
    var beacons: ManagedRegion.Variety?

    @Option(
        "The hours after a fetch in which the server is not asked again (default: the configuration's).",
        value: "hours"
    )
    var updateInterval: Int?

    @OptionGroup var server: ServerOptions

    func validate() throws {
        guard RegionScope.words.contains(type) else {
            throw ValidationError("fetch wants one of \(RegionScope.words.joined(separator: ", ")).")
        }
        if RegionScope(type, beacons: beacons) == nil {
            throw ValidationError("--beacons is for service and owned regions.")
        }
        if let updateInterval, !(0...8760).contains(updateInterval) {
            throw ValidationError("The hours are from 0 to 8760.")
        }
    }

    func run() throws {
        guard let scope = RegionScope(type, beacons: beacons) else {
            throw CommandFailure(.usage, BeaconServerFaultText.scopeWithoutVariety)
        }
        try server.perform(hours: updateInterval) { try $0.fetch(scope) }
    }
}

struct BeaconsTestLogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test-log",
        abstract: "Have the server log an event of a region, in test mode.",
        usage: "blewedge beacons test-log <region> <event> [<options>]",
        discussion: """
            EXAMPLES:
              blewedge beacons test-log 4A1C0D9E-5B8F-4E57-9B7E-1C2D3E4F5A6B/12 enter
            """
    )

    @Argument(help: ArgumentHelp("UUID[/MAJOR[/MINOR]], or eddystone:NAMESPACE[/INSTANCE].", valueName: "region"))
    var region: String

    @Argument(
        help: ArgumentHelp(
            "What happened there.",
            valueName: ServerRequest.Event.allCases.map(\.rawValue).joined(separator: "|")
        )
    )
    var event: ServerRequest.Event

    @Flag(help: "This is a test, whatever the configuration's test-mode says.")
    var testMode = false

    @OptionGroup var server: ServerOptions

    func run() throws {
        guard let region = ServerRegion(region) else {
            throw CommandFailure(.usage, BeaconServerFaultText.regionMalformed, region)
        }
        try server.perform(isTestMode: testMode) { try $0.log(event, of: region) }
    }
}

struct BeaconsValidateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Ask the server whether a one-time beacon is what it says.",
        usage: "blewedge beacons validate <uuid> <major> <minor> [<options>]",
        discussion: """
            Ends with 0 for a valid beacon, with 77 for an invalid one. The errors 2001 to 2005 are the application's, the \
            region's, the beacon's, the server's, and that it cannot be reached.

            EXAMPLES:
              blewedge beacons validate 4A1C0D9E-5B8F-4E57-9B7E-1C2D3E4F5A6B 12 3456 --json
            """
    )

    @Argument(help: ArgumentHelp("The beacon's UUID.", valueName: "uuid"))
    var uuid: String

    @Argument(help: ArgumentHelp("The first of its numbers.", valueName: "major"))
    var major: UInt16

    @Argument(help: ArgumentHelp("The second of its numbers.", valueName: "minor"))
    var minor: UInt16

    @OptionGroup var server: ServerOptions

    func run() throws {
        guard let uuid = ServerUUID(uuid) else {
            throw CommandFailure(.usage, BeaconServerFaultText.uuidMalformed, uuid)
        }
        try server.perform { try $0.validate(OnetimeBeacon(uuid, major: major, minor: minor)) }
    }
}

struct BeaconsSendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send the tracks that wait.",
        usage: "blewedge beacons send [<options>]",
        discussion: """
            Each is sent once, and after a failure at most three times again, 2, 4 and 8 s later; then it is given up and \
            counted. Where nobody answers, the others wait for the next run. What the server has made of each is printed, and told \
            to the clients of a daemon that runs.

            EXAMPLES:
              blewedge beacons send --server https://beacons.example --token-file token
            """
    )

    @OptionGroup var server: ServerOptions

    func run() throws { try server.perform { try $0.send() } }
}

struct BeaconsShowRecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show-record",
        abstract: "Print the tracks that wait, exactly as they would be sent, and the last one that was.",
        discussion: """
            EXAMPLES:
              blewedge beacons show-record
            """
    )

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        do {
            let file = try DaemonPaths.current().configurationFile
            let configured = try reporting(Configuration.read(_:mustExist:), file, false).beacons
            try ServerRun.showRecords(in: try .current(), of: configured.userID, ServerOutput(isJSON: json))
        } catch let failure as ServerFile.Failure {
            throw CommandFailure(failure)
        }
    }
}

extension ManagedRegion.Variety: ExpressibleByArgument {}

extension ServerRequest.Event: ExpressibleByArgument {}

/// Files for the server's regions, for the tracks to send, and for the user's agreement.
struct ServerFiles {
    var regions: FilePath
    var tracks: FilePath
    var agreement: FilePath

    init(in directory: FilePath) {
        regions = directory.appending("beacon-regions.json")
        tracks = directory.appending("beacon-tracks.json")
        agreement = directory.appending("beacon-agreement.json")
    }

    /// Returns the server's regions that are saved in a directory.
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

/// Implementation of the beacon server commands; each prints its outcome.
struct ServerRun {
    private var settings: ServerSettings
    private let files: ServerFiles
    private let output: ServerOutput

    init(_ settings: ServerSettings, files: ServerFiles, _ output: ServerOutput) {
        (self.settings, self.files, self.output) = (settings, files, output)
    }

    /// Gets the user's agreement, unless it is given already, and adds it to the answer for programs.
    ///
    /// Throws if the user does not agree, or if `ask` is nil and `isAgreed` false.
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

    /// Fetches the official regions (SW-21), unless they were fetched since `start`, in seconds since 1970 UTC.
    func prepare(since start: Int, _ answer: inout JSONObject) throws {
        let store = RegionStore(files.regions)
        let now = WallClock.seconds
        var kept = try store.read()
        let isFetched = kept.isFetched(.official, since: start, at: now)
        if !isFetched {
            // The update interval is that of `fetch`.
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

    /// Throws unless the user has agreed to the use of the server.
    func requireAgreement() throws { _ = try agreement(isAgreed: false, ask: nil) }

    /// Fetches the regions of a scope, compares them with the saved ones, and saves them.
    func fetch(_ scope: RegionScope) throws {
        let store = RegionStore(files.regions)
        let now = WallClock.seconds
        let regions = try ServerClient(settings).fetch(scope, after: try store.read(), at: now)
        // Another process may have saved other regions meanwhile.
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

    /// Prints the changes of a fetch for people.
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

    /// Validates a one-time beacon; throws if it is invalid.
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

    /// Saves a record, and sends all pending ones; leaves that to another process that is sending.
    ///
    /// Throws if a record was given up; while the server is unreachable, they wait.
    func keep(_ record: TrackRecord, wait: @escaping (Duration) throws -> Void = { try ServerRun.pause($0) }) throws {
        try TrackStore(files.tracks).update { $0.add(record) }
        output.note(BeaconText.trackKept.message())
        let report: TrackRun.Report
        do { report = try transmit(now: { MonotonicClock.now }, wait: wait) } catch ServerFile.Failure.inUse { return }
        guard let fault = report.fault else { return }
        if report.givenUp > 0 { throw CommandFailure(givenUp: report.givenUp, fault) }
        output.note(CommandFailure(fault).cause)
    }

    /// Sends the pending records; throws if a record was given up, or the server is unreachable.
    func send(
        now: @escaping () -> Duration = { MonotonicClock.now },
        wait: @escaping (Duration) throws -> Void = { try ServerRun.pause($0) }
    ) throws {
        let report = try transmit(now: now, wait: wait)
        guard let fault = report.fault else { return }
        throw report.givenUp > 0 ? CommandFailure(givenUp: report.givenUp, fault) : CommandFailure(fault)
    }

    /// Sends the pending records, and prints what became of them.
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

    /// Prints the pending records of a user, one per line, and the record sent last.
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
