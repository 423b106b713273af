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
        abstract: "Say what the daemon watches, what is inside, who is designated, and what it advertises."
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
        abstract: "List the regions that are known, and what each is.",
        usage: "blewedge beacons regions [<options>]",
        discussion: """
            initial: of the file, with the word static. dynamic: of the file. managed: of the server. designated: a \
            designated beacon's own. reserved: initial or designated, or a part of one of the file's static regions.

            A managed region has a type (service, test, owned or third-party), beacons (static or dynamic), and what the \
            last update has made of it (new or unchanged); those that it has abandoned are listed by --update abandoned.

            EXAMPLES:
              blewedge beacons regions
              blewedge beacons regions --type owned --beacons dynamic
              blewedge beacons regions --update new --json
            """
    )

    @Option(
        "Only managed regions of this type.",
        value: ManagedRegion.Kind.allCases.map(\.rawValue).joined(separator: "|")
    )
    var type: ManagedRegion.Kind?

    @Option(
        "Only managed regions of such beacons.",
        value: ManagedRegion.Variety.allCases.map(\.rawValue).joined(separator: "|")
    )
    var beacons: ManagedRegion.Variety?

    @Option(
        "Only managed regions of which the last update has made this.",
        value: ManagedRegions.Update.allCases.map(\.rawValue).joined(separator: "|")
    )
    var update: ManagedRegions.Update?

    @OptionGroup var daemon: DaemonOptions

    func run() throws {
        try daemon.ask(.regions, BeaconTables.regions, filter: filtered) {
            JSONObject(regionsOf: try BeaconsAlone().monitor)
        }
    }

    /// Returns an answer with the regions that the options select; without options, the answer itself.
    private func filtered(_ answer: JSONValue) -> JSONValue {
        let wanted = [("type", type?.rawValue), ("beacons", beacons?.rawValue), ("update", update?.rawValue)]
        guard wanted.contains(where: { $0.1 != nil }) else { return answer }
        let regions = answer[update == .abandoned ? "abandoned" : "regions"]?.array ?? []
        let selected = regions.filter { region in
            wanted.allSatisfy { name, word in word == nil || region[name]?.string == word }
        }
        return .object([("regions", .array(selected)), ("update", answer["update"] ?? .null)])
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
        abstract: "Let the beacons of these key codes react, and no others of their region.",
        usage: "blewedge beacons designate [<code> ...] [<options>]",
        discussion: """
            The answer is a number, with --json as `answer`:
              1 all are designated · 0 the limit left some out (exit status 75)
              -1 no adapter (69) · -2 no region (64) · -3 no code (64)
              -4 no region of static beacons (78) · -5 a code of no beacon (64)
              -6 no room for any (69) · -7 they could not be kept (77)
              -8 no options (64)
            They are kept over restarts, whole or not at all. From then on their own regions are watched, and the region that \
            they are of no more.

            EXAMPLES:
              blewedge beacons designate A17C 00010003
              blewedge beacons designate A17C \\
                  --region E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 --no-exit
            """
    )

    @Argument(help: ArgumentHelp("The key codes.", valueName: "code"))
    var codes: [String] = []

    @Option("The region (default: the only static one).", value: "region")
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
    /// Exit status of the command (D-10).
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
        abstract: "Make designated beacons switchers, or beacons like others.",
        usage: "blewedge beacons update <code> ... --switcher <on|off> [<options>]",
        discussion: """
            Seeing a switcher begins the watching of all others, and its end ends it. All of the named ones are changed, or \
            none.

            EXAMPLES:
              blewedge beacons update A17C --switcher on
            """
    )

    enum Switch: String, ExpressibleByArgument, CaseIterable {
        case on
        case off
    }

    @Argument(help: ArgumentHelp("The key codes.", valueName: "code"))
    var codes: [String]

    @Option(help: ArgumentHelp("Whether they are switchers.", valueName: "on|off"))
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
        abstract: "Designate a beacon no more, and watch it no more."
    )

    @Argument(help: ArgumentHelp("Its key code.", valueName: "code"))
    var code: String

    @OptionGroup var daemon: DaemonOptions

    func run() throws {
        try daemon.ask(.release(code), BeaconTables.designated) {
            try changed([code]) { monitor, keep in monitor.release(code, keep: keep) }
        }
    }
}

/// Changes designated beacons without a daemon.
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
        abstract: "Delete the designated beacons, the server's data and the agreement, and stop watching.",
        discussion: "The server's data are the fetched regions and the unsent tracks. The file of the regions stays."
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
        abstract: "Say whether beacons can be heard here, and whether this board can be one.",
        discussion:
            """
            Ends with status 69 where there is no adapter or Bluetooth is off, 77 where a permission is missing. With \
            --json `device` is what the machine can do whatever is set, `foreground` whether its settings let a command \
            hear beacons, `background` whether a service goes on with it when nobody is logged in, and `on` whether \
            Bluetooth is on; what is not known is left out.
            """
    )

    @OptionGroup var adapterOptions: AdapterOptions

    @Flag(help: "Print one JSON object.")
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
