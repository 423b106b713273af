// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BeaconServer
import Beacons
import BluetoothAdapters
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import Texts

struct BeaconsWatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Watch a group of regions, and report when a region is entered or left.",
        usage: "blewedge beacons watch <group> [<options>]",
        discussion: """
            If a daemon is running, the command returns at once, and `blewedge events` reports when a region is \
            entered or left. If no daemon is running, the command runs until Ctrl-C, and prints a line whenever a \
            region is entered or left.

            EXAMPLES:
              blewedge beacons watch initial
              blewedge beacons watch all --no-exit --json
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Group of regions to watch.",
            valueName: BeaconMonitor.Group.allCases.map(\.rawValue).joined(separator: "|")
        )
    )
    var group: BeaconMonitor.Group

    @OptionGroup var flags: WatchOptionFlags

    @Option("Stop after this time if no daemon is running.", value: "time")
    var seconds: TimeArgument?

    @OptionGroup var adapterOptions: AdapterOptions

    @OptionGroup var daemon: DaemonOptions

    func run() throws {
        try daemon.perform { client in
            let answer = try client.ask(.beacons(.watch(group, flags.options)))
            let count = answer.value["regions"]?.integer ?? 0
            try daemon.show(answer, done: BeaconText.watched.message("\(count)"))
        } alone: {
            var alone = try BeaconsAlone()
            let count = alone.monitor.watch(group, flags.options)
            guard count > 0 else { throw CommandFailure(.unavailable, BeaconFaultText.nothingToWatch, group.rawValue) }
            let run = try BeaconRun(adapterOptions.transport, for: seconds?.duration)
            run.onEvent = { [unowned run] event, monitor in
                run.print((daemon.json ? JSONObject(event, in: monitor).text : Self.text(event, monitor)) + "\n")
            }
            try run.listen(alone.monitor, note: BeaconText.watching.message("\(count)"))
        }
    }

    private static func text(_ event: BeaconMonitor.Event, _ monitor: BeaconMonitor) -> String {
        switch event {
        case .region(let notice):
            let name = monitor.catalogue.name(of: notice.region).map { " (\($0))" } ?? ""
            let text: BeaconText = notice.change == .entered ? .entered : notice.change == .left ? .left : .inside
            return text.text(.current, "\(notice.region)\(name)", "\(notice.beacon)")
        case .switched(let beacon, let isOn, let regions):
            return (isOn ? BeaconText.switchedOn : .switchedOff).text(.current, "\(beacon)", "\(regions)")
        case .ranged(let region, _): return "\(region)"
        }
    }
}

struct BeaconsUnwatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unwatch",
        abstract: "Stop watching a group of regions, and print the number of watched regions.",
        usage: "blewedge beacons unwatch <group> [<options>]"
    )

    @Argument(
        help: ArgumentHelp(
            "Group of regions to watch.",
            valueName: BeaconMonitor.Group.allCases.map(\.rawValue).joined(separator: "|")
        )
    )
    var group: BeaconMonitor.Group

    @OptionGroup var daemon: DaemonOptions

    func run() throws {
        var client = try daemon.client()
        let answer = try client.ask(.beacons(.unwatch(group)))
        let count = answer.value["regions"]?.integer ?? 0
        try daemon.show(answer, done: BeaconText.unwatched.message("\(count)"))
    }
}

struct BeaconsRangeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "range",
        abstract: "List beacons in order of distance, with their signal strengths and key codes.",
        usage: "blewedge beacons range <static|dynamic|region> [<options>]",
        discussion: """
            The signal strength is the median of up to nine measurements in the last 5 s. The distance is estimated \
            from the signal strength alone. If a person stands between the beacon and the machine, the estimate is \
            wrong by a factor of two or more. A distance below 0.5 m is called immediate, and a distance below 3 m is \
            called near. On a terminal, the command refreshes a table every second until Ctrl-C. If the output is not \
            a terminal, the command prints a list every second. With --seconds or a running daemon, the command prints \
            one list at the end.

            EXAMPLES:
              blewedge beacons range static
              blewedge beacons range E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 --seconds 5
              blewedge beacons range static --without-designated
            """
    )

    @Argument(help: ArgumentHelp("Beacons to list.", valueName: "static|dynamic|region"))
    var place: BeaconRequest.Place

    @Flag(help: "Omit designated beacons.")
    var withoutDesignated = false

    @Option("Stop after this time, from 1 to 60 seconds.", value: "seconds")
    var seconds: Int?

    @OptionGroup var adapterOptions: AdapterOptions

    @OptionGroup var daemon: DaemonOptions

    func validate() throws {
        if let seconds, !BeaconRequest.rangeTimes.contains(seconds) {
            throw ValidationError("--seconds must be 1 to 60.")
        }
    }

    func run() throws {
        try daemon.perform { client in
            let time = seconds ?? BeaconRequest.usualRangeTime
            let request = BeaconRequest.range(place, seconds: time, withoutDesignated: withoutDesignated)
            let answer = try client.ask(.beacons(request), patience: .seconds(time) + ControlClient.patience)
            try daemon.print(answer.value, BeaconTables.ranged)
        } alone: {
            try runAlone()
        }
    }

    private func runAlone() throws {
        var alone = try BeaconsAlone()
        let regions = alone.monitor.regions(of: place)
        guard !regions.isEmpty else { throw CommandFailure(.unavailable, BeaconFaultText.nothingToWatch, place.word) }
        for region in regions where !alone.monitor.range(region, now: MonotonicClock.now) {
            throw CommandFailure(.unavailable, BeaconFaultText.tooManyRanged, "\(BeaconMonitor.mostRanged)")
        }
        let run = try BeaconRun(adapterOptions.transport, for: seconds.map { .seconds($0) })
        let isDrawn = StandardStream.output.isTerminal && !daemon.json && seconds == nil
        var table = LiveTable()
        var lists: [BeaconRegion: JSONObject] = [:]
        run.onEvent = { [unowned run] event, monitor in
            guard case .ranged(let region, let beacons) = event else { return }
            lists[region] = object(region, beacons, monitor)
            guard isDrawn || seconds == nil else { return }
            guard isDrawn else { return run.print((lists[region]?.text ?? "") + "\n") }
            let size = StandardStream.output.windowSize ?? (80, 24)
            let lines = BeaconTables.ranged(answer(regions, lists, monitor)).map {
                DisplayWidth.cut($0, to: size.columns)
            }
            run.print(table.frame(lines, rows: size.rows))
        }
        run.onOver = { [unowned run] monitor in
            let answer = answer(regions, lists, monitor)
            let lines = daemon.json ? [answer.text] : BeaconTables.ranged(answer)
            run.print(lines.map { $0 + "\n" }.joined())
        }
        try run.listen(alone.monitor, note: nil)
    }

    private func object(_ region: BeaconRegion, _ beacons: [RangedBeacon], _ monitor: BeaconMonitor) -> JSONObject {
        var object = JSONObject()
        object.add("region", "\(region)")
        let shown = beacons.filter { !withoutDesignated || monitor.designated[$0.identity] == nil }
        object.add("beacons", shown.map { JSONObject($0, in: monitor) })
        return object
    }

    private func answer(
        _ regions: [BeaconRegion],
        _ lists: [BeaconRegion: JSONObject],
        _ monitor: BeaconMonitor
    ) -> JSONValue {
        var object = JSONObject()
        object.add("ranged", regions.compactMap { lists[$0] })
        object.add("counts", JSONObject(monitor.counters))
        return object.value
    }
}

struct BeaconsTrackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "track",
        abstract: "Record five sightings of beacons in a static region within 15 s.",
        usage: "blewedge beacons track <region> [<options>]",
        discussion: """
            The command prints the sightings. If fewer than five sightings were recorded, the command prints an empty \
            list, and exits with status 75. The command scans by itself, even while a daemon is running. If a server \
            is configured, the recorded track is saved and sent at once, with up to three retries. If the server \
            cannot be reached, the track is sent later, together with the next track or by `blewedge beacons send`.

            EXAMPLES:
              blewedge beacons track E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 --json
            """
    )

    @Argument(help: ArgumentHelp("Static region that contains the beacons.", valueName: "region"))
    var region: BeaconRegion

    @OptionGroup var adapterOptions: AdapterOptions

    @OptionGroup var server: ServerOptions

    func run() throws {
        var alone = try BeaconsAlone()
        guard alone.monitor.catalogue.isStatic(region) else {
            throw CommandFailure(
                .configuration,
                BeaconText.unfitRegion.message(),
                remedy: BeaconRemedyText.unfitRegion.message()
            )
        }
        let hasServer = server.server ?? alone.configuration.beacons.server != nil
        if hasServer { try server.perform { try $0.requireAgreement() } }
        _ = alone.monitor.range(region, now: MonotonicClock.now)
        let run = try BeaconRun(adapterOptions.transport, for: BeaconTrack.timeLimit)
        var track = BeaconTrack(region)
        var sighted: [BeaconTrack.Sighted] = []
        run.onEvent = { [unowned run] event, monitor in
            guard case .ranged(_, let beacons) = event,
                let answer = track.take(beacons, in: monitor.catalogue, now: MonotonicClock.now)
            else { return }
            sighted = answer
            run.finish()
        }
        try run.listen(alone.monitor, note: nil)
        try print(sighted)
        guard !sighted.isEmpty else {
            let cause = BeaconText.tooFewSightings.message()
            throw CommandFailure(.timeout, cause, remedy: BeaconRemedyText.tooFewSightings.message())
        }
        guard hasServer, let record = Self.record(of: sighted, in: region) else { return }
        // Print nothing for programs here, because their answer has already been printed.
        let output = ServerOutput(isJSON: false, write: { if !server.json { try StandardStream.output.write($0) } })
        try server.perform(output) { try $0.keep(record) }
    }

    /// Creates the record of a track, with all sightings ordered by time; returns nil if they do not form a valid
    /// record.
    static func record(of sighted: [BeaconTrack.Sighted], in region: BeaconRegion) -> TrackRecord? {
        let all = sighted.flatMap { beacon in beacon.sightings.map { (beacon, $0) } }.sorted { $0.1.time < $1.1.time }
        guard let first = all.first?.1.time, let region = ServerRegion(region.description) else { return nil }
        let sightings = all.map { beacon, sighting in
            let number: TrackRecord.Sighting.Number =
                switch beacon.identity.number {
                case .majorMinor(let major, let minor): .majorMinor(major, minor)
                case .instance(let instance): .instance(Hexadecimal.text(instance, digits: 12))
                }
            return TrackRecord.Sighting(
                number,
                keyCode: beacon.keyCode,
                rssi: sighting.rssi,
                milliseconds: Int(clamping: (sighting.time - first).inMilliseconds)
            )
        }
        return TrackRecord(region, seconds: WallClock.seconds(at: first), sightings: sightings)
    }

    private func print(_ sighted: [BeaconTrack.Sighted]) throws {
        let objects = sighted.map { beacon in
            var object = JSONObject()
            object.add("beacon", "\(beacon.identity)")
            object.add("keyCode", beacon.keyCode)
            object.add("sightings", beacon.sightings.count)
            object.add("rssi", beacon.sightings.last?.rssi)
            return object
        }
        var object = JSONObject()
        object.add("region", "\(region)")
        object.add("track", objects)
        let lines =
            server.json ? [object.text] : sighted.map { "\($0.identity)\t\($0.keyCode ?? "-")\t\($0.sightings.count)" }
        try StandardStream.output.write(lines.map { $0 + "\n" }.joined())
    }
}

struct BeaconsAdvertiseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advertise",
        abstract: "Start or stop acting as a beacon.",
        usage: "blewedge beacons advertise [<UUID/MAJOR/MINOR>] [<options>]",
        discussion: """
            If a daemon is running, advertising continues after the command ends. If no daemon is running, the command \
            advertises until Ctrl-C. Measure the signal strength one metre away from the board's antenna, because \
            receivers use this value to estimate distances.

            EXAMPLES:
              blewedge beacons advertise E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2 \\
                  --power -59
              blewedge beacons advertise eddystone:00112233445566778899/AABBCCDDEEFF
              blewedge beacons advertise --off
            """
    )

    @Argument(help: ArgumentHelp("Identity of the beacon to advertise.", valueName: "UUID/MAJOR/MINOR"))
    var identity: BeaconIdentity?

    @Flag(help: "Stop the daemon's advertising.")
    var off = false

    @Option(
        "Format of the beacon frame (default: ibeacon, or eddystone for an Eddystone identity).",
        value: BeaconFrame.Format.allCases.map(\.rawValue).joined(separator: "|")
    )
    var format: BeaconFrame.Format?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Signal strength at one metre, from -100 to -10 dBm.", valueName: "dBm")
    )
    var power: Int8 = -59

    @Option("Stop after this time if no daemon is running.", value: "time")
    var seconds: TimeArgument?

    @OptionGroup var adapterOptions: AdapterOptions

    @OptionGroup var daemon: DaemonOptions

    private var frame: BeaconFrame? {
        guard let identity else { return nil }
        let usual: BeaconFrame.Format = identity.segment == nil ? .eddystone : .iBeacon
        return BeaconFrame(format ?? usual, identity, measuredPower: power)
    }

    func validate() throws {
        if !BeaconFrame.measuredPowers.contains(power) { throw ValidationError("--power must be -100 to -10.") }
        if off != (identity == nil) { throw ValidationError("advertise requires a beacon or --off.") }
        if !off, frame == nil { throw ValidationError("this format cannot carry that beacon.") }
    }

    func run() throws {
        guard let frame else {
            var client = try daemon.client()
            return try daemon.show(try client.ask(.beacons(.stopAdvertising)), done: BeaconText.stopped.message())
        }
        try daemon.perform { client in
            let answer = try client.ask(.beacons(.advertise(frame)))
            let adapter = try client.status()?.adapter ?? "-"
            try daemon.show(answer, done: BeaconText.advertised.message("\(frame.identity)", adapter))
        } alone: {
            try BeaconRun(adapterOptions.transport, for: seconds?.duration).advertise(frame, isJSON: daemon.json)
        }
    }
}
