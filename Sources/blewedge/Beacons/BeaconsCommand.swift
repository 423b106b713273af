// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Beacons
import BluetoothAdapters
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

struct BeaconsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "beacons",
        abstract: "Detect beacons, measure their distances, or act as a beacon.",
        discussion: """
            iBeacon, AltBeacon and Eddystone-UID beacons are supported. A region has one of the forms UUID, \
            UUID/MAJOR, UUID/MAJOR/MINOR, eddystone:NAMESPACE and eddystone:NAMESPACE/INSTANCE. A region is entered \
            when its beacons are received twice within 2 s, and is left when no beacon is received for 30 s. The \
            section [beacons] of the configuration names the regions file, and assigns actions to regions. A region \
            can open the gate, type the key code of the beacon, or run the hook. Anyone can copy a beacon, so a \
            received beacon is no proof of identity.

            If a server is configured, the subcommands set-up, track, fetch, validate, test-log and send contact the \
            server, but only after you have agreed to its use. The daemon never contacts the server, because the \
            daemon has no network access. `blewedge beacons show-record` prints the data that would be sent to the \
            server.

            If a daemon is running, the daemon executes the command. If no daemon is running, the command uses the \
            adapter itself. Without a daemon, commands that watch, range or advertise run until Ctrl-C.

            EXAMPLES:
              blewedge beacons set-up                     Create the regions file.
              blewedge beacons range static               Show beacons and distances.
              blewedge beacons watch initial --json       Follow entries and exits.
              blewedge beacons designate A17C             Designate a beacon.
              blewedge beacons advertise E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2
            """,
        subcommands: [
            BeaconsStatusCommand.self, BeaconsCheckCommand.self, BeaconsRegionsCommand.self, BeaconsWatchCommand.self,
            BeaconsUnwatchCommand.self, BeaconsRangeCommand.self, BeaconsTrackCommand.self,
            BeaconsDesignateCommand.self,
            BeaconsDesignatedCommand.self, BeaconsUpdateCommand.self, BeaconsReleaseCommand.self,
            BeaconsAdvertiseCommand.self, BeaconsFetchCommand.self, BeaconsValidateCommand.self,
            BeaconsTestLogCommand.self, BeaconsSendCommand.self, BeaconsShowRecordCommand.self,
            BeaconsSetUpCommand.self, BeaconsClearCommand.self,
        ]
    )
}

extension BeaconMonitor.Group: ExpressibleByArgument {}

extension BeaconFrame.Format: ExpressibleByArgument {}

extension BeaconRegion: ExpressibleByArgument {
    /// Parses `UUID`, `UUID/MAJOR`, `UUID/MAJOR/MINOR`, `eddystone:NAMESPACE` or `eddystone:NAMESPACE/INSTANCE`.
    package init?(argument: String) {
        self.init(argument)
    }
}

extension BeaconIdentity: ExpressibleByArgument {
    /// Parses `UUID/MAJOR/MINOR` or `eddystone:NAMESPACE/INSTANCE`.
    package init?(argument: String) {
        self.init(argument)
    }
}

extension BeaconRequest.Place: ExpressibleByArgument {
    /// Parses `static`, `dynamic`, or a region.
    package init?(argument: String) {
        self.init(argument)
    }
}

struct WatchOptionFlags: ParsableArguments {
    @Flag(help: "Do not report when a region is entered.")
    var noEntry = false

    @Flag(help: "Do not report when a region is left.")
    var noExit = false

    @Flag(
        help:
            "Report the current regions when the gate's terminal comes to the foreground. Without a gate, report the current regions when watching starts."
    )
    var entryStateOnDisplay = false

    var options: WatchOptions {
        var options: WatchOptions = []
        if !noEntry { options.insert(.onEntry) }
        if !noExit { options.insert(.onExit) }
        if entryStateOnDisplay { options.insert(.entryStateOnDisplay) }
        return options
    }
}

/// The state of beacons when no daemon is running.
///
/// It consists of the configuration, the regions in it and from the server, and the designated beacons.
struct BeaconsAlone {
    let configuration: Configuration
    var monitor: BeaconMonitor

    init() throws(CommandFailure) {
        let paths = try DaemonPaths.current()
        configuration = try reporting(Configuration.read(_:mustExist:), paths.configurationFile, false)
        let settings = configuration.beacons
        var regions = try reporting(configuration.regions)
        regions.managed = try ServerFiles.managed(in: paths.state)
        monitor = BeaconMonitor(
            regions,
            designated: try DesignatedStore(paths.designated).read(),
            limit: settings.mostDesignated,
            settings: settings.settings,
            exponent: settings.pathLoss
        )
    }

    static func changing(_ body: (inout BeaconMonitor, DesignatedStore) throws -> JSONObject) throws -> JSONObject {
        let store = DesignatedStore(try DaemonPaths.current().designated)
        return try store.locked {
            var alone = try BeaconsAlone()
            return try body(&alone.monitor, store)
        }
    }
}

extension JSONObject {
    /// The object as a parsed JSON value.
    var value: JSONValue { (try? JSONValue(Array(text.utf8))) ?? .null }
}

/// Creates tables of beacons and regions for people from the answers for programs.
enum BeaconTables {
    /// Lists regions; `isSelection` is true if the answer contains only those that options select.
    static func regions(_ answer: JSONValue, isSelection: Bool) -> [String] {
        let regions = answer["regions"]?.array ?? []
        let none = isSelection ? BeaconText.noneSelected : .noRegions
        guard !regions.isEmpty else { return [none.text(.current)] }
        // Omit the server's columns if they would be empty, because most users do not use a server.
        guard regions.contains(where: { $0["type"] != nil }) else {
            return table(
                [BeaconText.columnRegion, .columnKinds, .columnName],
                regions.map { [text($0, "region"), kinds($0), text($0, "name")] }
            )
        }
        let words = ["type", "beacons", "update"]
        let managed: [any Localized] = [ManagedText.columnType, ManagedText.columnBeacons, ManagedText.columnUpdate]
        return table(
            [BeaconText.columnRegion, BeaconText.columnKinds] + managed + [BeaconText.columnName],
            regions.map { region in
                [text(region, "region"), kinds(region)]
                    + words.map { region[$0]?.string.map { word($0) } ?? "-" }
                    + [text(region, "name")]
            }
        )
    }

    static func designated(_ answer: JSONValue) -> [String] {
        let beacons = BeaconsAnswer.designated(answer)
        guard !beacons.isEmpty else { return [BeaconText.noDesignated.text(.current)] }
        return table(
            [BeaconText.columnCode, .columnBeacon, .columnSwitcher],
            beacons.map { [$0.code, $0.beacon, ($0.isSwitcher ? LabelText.yes : .no).text(.current)] }
        )
    }

    /// Returns the table of the beacons in ranged regions, nearest first.
    static func ranged(_ answer: JSONValue) -> [String] {
        let beacons = (answer["ranged"]?.array ?? []).flatMap { $0["beacons"]?.array ?? [] }
        return table(
            [BeaconText.columnBeacon, .columnSignal, .columnPower, .columnDistance, .columnCode],
            beacons.map {
                [text($0, "beacon"), text($0, "rssi"), text($0, "measuredPower"), distance($0), text($0, "keyCode")]
            }
        )
    }

    static func status(_ answer: JSONValue) -> [String] {
        let beacons = BeaconsAnswer(answer)
        var lines = [BeaconText.areWatched.text(.current, "\(beacons.watched)")]
        if let hindrance = beacons.hindrance { lines.append(hindrance.line(.current)) }
        lines += beacons.inside.map { BeaconText.insideRegion.text(.current, $0) }
        lines += designated(answer)
        if beacons.advertising == .on {
            lines.append(BeaconText.isBeacon.text(.current, beacons.advertised))
        } else if let fault = beacons.advertisingFault {
            lines.append(fault.line(.current))
        }
        return lines
    }

    private static func distance(_ beacon: JSONValue) -> String {
        let words: [String: BeaconText] = ["immediate": .immediate, "near": .near, "far": .far]
        let word = words[beacon["proximity"]?.string ?? ""] ?? .unknown
        let metres: Double? =
            switch beacon["metres"] {
            case .real(let metres): metres
            case .integer(let metres): Double(metres)
            default: nil
            }
        guard let metres else { return word.text(.current) }
        return "\(word.text(.current)) (\((metres * 10).rounded() / 10) m)"
    }

    private static func text(_ value: JSONValue, _ name: String) -> String {
        switch value[name] {
        case .string(let text): LocalName.printable(text)
        case .integer(let number): "\(number)"
        default: "-"
        }
    }

    /// Returns the text for a property of a managed region; if this version does not know the word, returns it
    /// unchanged.
    static func word(_ word: String) -> String {
        ManagedText(rawValue: word)?.text(.current) ?? LocalName.printable(word)
    }

    /// Returns the text for the kinds of a region; a kind that this version does not know is included unchanged.
    private static func kinds(_ region: JSONValue) -> String {
        let kinds = (region["kinds"]?.array ?? []).compactMap(\.string).map { word in
            let isKnown = RegionKinds.words.contains { $0.word == word }
            return (isKnown ? BeaconText(rawValue: word)?.text(.current) : nil) ?? LocalName.printable(word)
        }
        return kinds.isEmpty ? "-" : kinds.joined(separator: ", ")
    }

    private static func table(_ columns: [any Localized], _ rows: [[String]]) -> [String] {
        DisplayWidth.table([columns.map { $0.text(.current) }] + rows)
    }
}

extension DaemonOptions {
    /// Prints an answer: as JSON for programs, or as lines for people.
    func print(_ answer: JSONValue, _ lines: (JSONValue) -> [String]) throws {
        let text = json ? answer.withoutForms.text + "\n" : lines(answer).map { $0 + "\n" }.joined()
        try StandardStream.output.write(text)
    }

    /// Sends a beacon request to the daemon, or calls `alone` if no daemon is running, and prints the answer.
    @discardableResult
    func ask(
        _ request: BeaconRequest,
        _ lines: (JSONValue) -> [String],
        filter: (JSONValue) -> JSONValue = { $0 },
        alone: () throws -> JSONObject
    ) throws -> JSONValue {
        var answer = JSONValue.null
        try perform { client in
            answer = try client.ask(.beacons(request)).value
        } alone: {
            answer = try alone().value
        }
        try print(filter(answer), lines)
        return answer
    }
}

/// A run in the foreground that watches or ranges regions, or advertises a beacon.
///
/// It ends when the time has elapsed or a signal arrives.
final class BeaconRun {
    private let foreground: ForegroundRun
    private let duration: Duration?
    private var service: BeaconService?
    private var advertiser: BeaconAdvertiser?

    var onEvent: ((BeaconMonitor.Event, BeaconMonitor) -> Void)?
    /// Handler called when the time has elapsed, before the run ends.
    var onOver: ((BeaconMonitor) -> Void)?

    init(_ transport: AdapterTransport, for duration: Duration?) throws(CommandFailure) {
        foreground = try ForegroundRun(transport)
        self.duration = duration
        foreground.onFinish = { [unowned self] completion in
            if let advertiser { return _ = advertiser.stop(completion: completion) }
            guard let service else { return completion() }
            service.end(completion: completion)
        }
    }

    /// Passes received advertisements to `monitor`; throws the exit status unless it is success.
    func listen(_ monitor: BeaconMonitor, note: Message?) throws {
        try foreground.run(note: note) { [unowned self] radio in
            let service = BeaconService(monitor, on: radio)
            self.service = service
            service.onEvent = { [unowned self, unowned service] event in onEvent?(event, service.monitor) }
            service.onFailure = { [unowned self] error in foreground.finish(.failure(CommandFailure(error))) }
            service.onStarted = { [unowned self, unowned service] in
                service.displayStarted()
                endInTime()
            }
        }
    }

    func advertise(_ frame: BeaconFrame, isJSON: Bool) throws {
        try foreground.run { [unowned self] radio in
            let advertiser = BeaconAdvertiser(on: radio)
            self.advertiser = advertiser
            advertiser.onChange = { [unowned self, unowned advertiser] in
                switch advertiser.state {
                case .off, .starting: break
                case .on:
                    tell(frame, radio.adapter?.name ?? "", isJSON)
                    endInTime()
                case .failed: if let failure = advertiser.failure { foreground.finish(.failure(failure)) }
                }
            }
            advertiser.start(frame)
        }
    }

    func print(_ text: String) { foreground.print(text) }

    func finish() { foreground.finish(.success(.success)) }

    private func tell(_ frame: BeaconFrame, _ adapter: String, _ isJSON: Bool) {
        guard isJSON else { return Console.note(BeaconText.advertising.message("\(frame.identity)", adapter)) }
        var object = JSONObject()
        object.add("event", "advertising")
        object.add("advertised", "\(frame.identity)")
        object.add("format", frame.format.rawValue)
        object.add("adapter", adapter)
        print(object.text + "\n")
    }

    private func endInTime() {
        guard let duration else { return }
        _ = foreground.loop.schedule(at: MonotonicClock.now + duration) { [unowned self] in
            if let service { onOver?(service.monitor) }
            foreground.finish(.success(.success))
        }
    }
}
