// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BeaconServer
import Beacons
import BluetoothAdapters
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import Setup
import SystemPackage
import Texts

struct BeaconsStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show watched regions, entered regions, designated beacons, and the beacon of this machine."
    )

    @OptionGroup var daemon: DaemonOptions

    func run() throws {
        var client = try daemon.client()
        try daemon.print(try client.ask(.beacons(.status)).value, BeaconTables.status)
    }
}

struct BeaconsRegionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "regions",
        abstract: "List the known regions and their kinds.",
        usage: "blewedge beacons regions [<options>]",
        discussion: """
            The regions file marks regions with the words `static` and `dynamic`. The kind `initial` means that the \
            regions file marks the region as static, and the kind `dynamic` means that the file marks the region as \
            dynamic. A region of the kind `managed` comes from the server. A region of the kind `designated` belongs \
            to a designated beacon. The kind `reserved` means that the region is initial or designated, or that it is \
            part of a static region.

            Each managed region has one of the types service, test, owned and third-party, and the kind of its beacons \
            is static or dynamic. After an update, the state of a managed region is new or unchanged. To list the \
            regions that the last update removed, use `--update abandoned`.

            EXAMPLES:
              blewedge beacons regions
              blewedge beacons regions --type owned --beacons dynamic
              blewedge beacons regions --update new --json
            """
    )

    @Option(
        "Show only managed regions of this type.",
        value: ManagedRegion.Kind.allCases.map(\.rawValue).joined(separator: "|")
    )
    var type: ManagedRegion.Kind?

    @Option(
        "Show only managed regions with this kind of beacon.",
        value: ManagedRegion.Variety.allCases.map(\.rawValue).joined(separator: "|")
    )
    var beacons: ManagedRegion.Variety?

    @Option(
        "Show only managed regions that have this state after the last update.",
        value: ManagedRegions.Update.allCases.map(\.rawValue).joined(separator: "|")
    )
    var update: ManagedRegions.Update?

    @OptionGroup var daemon: DaemonOptions

    func run() throws {
        let list = { (answer: JSONValue) in BeaconTables.regions(answer, isSelection: isSelection) }
        try daemon.ask(.regions, list, filter: filtered) {
            JSONObject(regionsOf: try BeaconsAlone().monitor)
        }
    }

    private var isSelection: Bool { type != nil || beacons != nil || update != nil }

    /// Returns the answer with only the regions that the options select; without options, returns it unchanged.
    private func filtered(_ answer: JSONValue) -> JSONValue {
        let wanted = [("type", type?.rawValue), ("beacons", beacons?.rawValue), ("update", update?.rawValue)]
        guard isSelection else { return answer }
        let regions = answer[update == .abandoned ? "abandoned" : "regions"]?.array ?? []
        let selected = regions.filter { region in
            wanted.allSatisfy { name, word in word == nil || region[name]?.string == word }
        }
        // Before the first update, there is no result.
        let result = answer["update"].map { [("update", $0)] } ?? []
        return .object([("regions", .array(selected))] + result)
    }
}

extension ManagedRegion.Kind: ExpressibleByArgument {}

extension ManagedRegions.Update: ExpressibleByArgument {}

struct BeaconsDesignatedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "designated", abstract: "List the designated beacons.")

    @OptionGroup var daemon: DaemonOptions

    func run() throws {
        try daemon.ask(.designated, BeaconTables.designated) {
            var object = JSONObject()
            object.add("designated", try BeaconsAlone().monitor.designated.beacons.map { JSONObject($0) })
            return object
        }
    }
}

struct BeaconsDesignateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "designate",
        abstract: "Designate beacons by key code, and ignore the other beacons in their region.",
        usage: "blewedge beacons designate [<code> ...] [<options>]",
        discussion: """
            The designated beacons are saved, and stay designated after a restart. The command saves either all of the \
            given beacons or none of them. The region of each designated beacon is watched instead of the larger \
            region that contains the beacon. The command prints a result number; with --json, the number is printed as \
            `answer`.

            RESULTS:
              1   All beacons are designated.
              0   Some beacons exceed the limit (exit status 75).
              -1  There is no adapter (exit status 69).
              -2  The region is missing or ambiguous (exit status 64).
              -3  No key code is given (exit status 64).
              -4  The region is not static (exit status 78).
              -5  A key code is unknown (exit status 64).
              -6  There is no room for another beacon (exit status 69).
              -7  The beacons cannot be saved (exit status 77).
              -8  The options disable all reports (exit status 64).

            EXAMPLES:
              blewedge beacons designate A17C 00010003
              blewedge beacons designate A17C \\
                  --region E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 --no-exit
            """
    )

    @Argument(help: ArgumentHelp("Key codes of the beacons.", valueName: "code"))
    var codes: [String] = []

    @Option("Region of the beacons (default: the only static region).", value: "region")
    var region: BeaconRegion?

    @OptionGroup var flags: WatchOptionFlags

    @OptionGroup var daemon: DaemonOptions

    func run() throws {
        let lines = { (answer: JSONValue) in ["note", "remedy"].compactMap { answer.message($0)?.text(.current) } }
        let answer = try daemon.ask(.designate(codes, in: region, flags.options), lines) {
            let hasAdapter = try BeaconsAlone().configuration.adapter.isPresent
            return try BeaconsAlone.changing { monitor, store in
                let number = monitor.designate(codes, in: region, flags.options, hasAdapter: hasAdapter) { beacons in
                    guard let failure = store.keep(beacons) else { return true }
                    Console.report(failure)
                    return false
                }
                return JSONObject(number, in: monitor)
            }
        }
        let number = answer["answer"]?.integer.flatMap { DesignatedBeacons.Answer(rawValue: Int($0)) }
        guard let status = number?.exitStatus, status != .success else { return }
        throw status
    }
}

extension DesignatedBeacons.Answer {
    /// Exit status of a command that gets this answer (D-10).
    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .all: .success
        case .limitReached: .timeout
        case .noAdapter, .tooMany: .unavailable
        case .noRegion, .noCodes, .unfitCode, .noOptions: .usage
        case .unfitRegion: .configuration
        case .notKept: .permission
        }
    }
}

struct BeaconsUpdateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Turn designated beacons into switchers, or back into ordinary beacons.",
        usage: "blewedge beacons update <code> ... --switcher <on|off> [<options>]",
        discussion: """
            While a switcher beacon is nearby, all other designated beacons are watched. The command changes either \
            all of the given beacons or none of them.

            EXAMPLES:
              blewedge beacons update A17C --switcher on
            """
    )

    enum Switch: String, ExpressibleByArgument, CaseIterable {
        case on
        case off
    }

    @Argument(help: ArgumentHelp("Key codes of the beacons.", valueName: "code"))
    var codes: [String]

    @Option(
        help: ArgumentHelp(
            "Use `on` to turn the beacons into switchers, and `off` to turn them back.",
            valueName: "on|off"
        )
    )
    var switcher: Switch

    @OptionGroup var daemon: DaemonOptions

    func run() throws {
        try daemon.ask(.update(codes, isSwitcher: switcher == .on), BeaconTables.designated) {
            try changed(codes) { monitor, keep in monitor.update(codes, isSwitcher: switcher == .on, keep: keep) }
        }
    }
}

struct BeaconsReleaseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Remove a designated beacon, and stop watching it."
    )

    @Argument(help: ArgumentHelp("Key code of the beacon.", valueName: "code"))
    var code: String

    @OptionGroup var daemon: DaemonOptions

    func run() throws {
        try daemon.ask(.release(code), BeaconTables.designated) {
            try changed([code]) { monitor, keep in monitor.release(code, keep: keep) }
        }
    }
}

/// Changes the designated beacons while no daemon is running.
private func changed(
    _ codes: [String],
    _ change: (inout BeaconMonitor, (DesignatedBeacons) -> Bool) -> Bool
) throws -> JSONObject {
    try BeaconsAlone.changing { monitor, store in
        if let code = codes.first(where: { monitor.designated.beacon(ofCode: $0) == nil }) {
            throw CommandFailure(.usage, BeaconFaultText.notDesignated, code)
        }
        var failure: CommandFailure?
        _ = change(&monitor) { beacons in
            failure = store.keep(beacons)
            return failure == nil
        }
        if let failure { throw failure }
        var object = JSONObject()
        object.add("designated", monitor.designated.beacons.map { JSONObject($0) })
        return object
    }
}

struct BeaconsClearCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Stop watching regions, and delete the designated beacons, the server data and the agreement.",
        discussion:
            "The server data consists of the fetched regions and the unsent tracks. The command does not delete the regions file."
    )

    @OptionGroup var daemon: DaemonOptions

    func run() throws {
        try daemon.ask(.clear, { _ in [BeaconText.cleared.text(.current)] }) {
            try DesignatedStore(try DaemonPaths.current().designated).remove()
            try ServerFiles.current().remove()
            return JSONObject()
        }
    }
}

struct BeaconsCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check whether this machine can receive beacons and act as a beacon.",
        discussion:
            """
            The exit status is 69 if there is no adapter or if Bluetooth is off, and 77 if a permission is missing. \
            With --json, `device` tells whether the machine supports beacons, and `on` tells whether Bluetooth is on. \
            With --json, `foreground` tells whether the current settings let a command receive beacons, and \
            `background` tells whether a service continues when nobody is logged in. Unknown values are omitted from \
            the JSON object.
            """
    )

    @OptionGroup var adapterOptions: AdapterOptions

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    func run() throws {
        let alone = try BeaconsAlone()
        let foreground = try ForegroundRun(adapterOptions.transport)
        var name = ""
        do {
            try foreground.run { [unowned foreground] radio in
                name = radio.adapter?.name ?? ""
                foreground.finish(.success(.success))
            }
        } catch let failure as CommandFailure where json {
            let availability = foreground.refusal.map { BeaconAvailability($0) } ?? BeaconAvailability(refused: failure)
            try print(name, alone, availability, failure)
            throw failure.status
        }
        try print(name, alone, .possible, nil)
    }

    private func print(
        _ adapter: String,
        _ alone: BeaconsAlone,
        _ availability: BeaconAvailability,
        _ failure: CommandFailure?
    ) throws {
        let hasService = SystemFacts.installedService != nil
        guard json else {
            Console.note(BeaconText.canBeUsed.message(adapter))
            Console.note(BeaconText.canAdvertise.message(adapter))
            return Console.note((hasService ? BeaconText.inBackground : .inForeground).message("blewedge setup"))
        }
        var object = JSONObject()
        object.add("available", failure == nil)
        object.add("adapter", adapter.isEmpty ? nil : adapter)
        object.add("canAdvertise", failure == nil)
        let conditions = availability.conditions
        let facts = [
            ("device", conditions.device), ("foreground", conditions.settings),
            ("background", conditions.settings.map { $0 && hasService }), ("on", conditions.isOn),
        ]
        for case (let name, let fact?) in facts { object.add(name, fact) }
        object.add("cause", failure?.cause)
        object.add("remedy", failure?.remedy)
        object.add("regions", alone.monitor.regions.count)
        try StandardStream.output.write(object.text + "\n")
    }
}
