// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Beacons
import BluetoothHost
import Configuration
import Control
import Daemon
import Devices
import Keystrokes
import Link
import LinuxIO
import SystemPackage
import Texts
import Typing

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Connect to a device and type what it sends.",
        discussion: """
            Without --device it is the daemon: it types what the device sends that `blewedge use` has chosen, follows \
            another choice at once, and waits for an adapter or a permission that it lacks. With --device it is for that one: \
            of a paired device (`blewedge pair`) it demands its keys, and for an unpaired one it asks on a terminal; elsewhere \
            it wants --security none, or ends with status 78, whatever the output.

            It connects, subscribes to the device's serial service and types through a virtual keyboard. A lost link is \
            tried again after 3 s, a connection that fails after 3, 6, 12, 24, 48 and then every 60 s, and at once when the \
            device is heard again after a silence. What no option says here is as in the configuration file \
            (`blewedge config show`). Ctrl-C closes the link and prints what became of every byte; SIGHUP is \
            `blewedge reload`. On a terminal the last line shows the state, unless status-line is off.

            A layout says by which keys the programs that read them make characters: us and jp are built in, console is \
            the live keymap of a text console, and every other name is looked up by libxkbcommon where that is installed. \
            A character that the layout cannot type is rejected and counted, never approximated; with --scan, with the \
            whole barcode, before its first key. What waited longer than --max-age while nothing could be typed is dropped \
            and counted, so that a kiosk that wakes up does not type yesterday's codes; a backlog that is being typed is \
            typed to its end. With --scan whole barcodes only are typed, and one \
            that a lost link has cut is rejected. The keyboard is called "blewedge keyboard" by programs, on the bus \
            virtual, with vendor b1ed and product 0001; it declares the keys that can be typed and, for udev, the codes 1 \
            to 31.

            EXAMPLES:
              blewedge run
              blewedge run --device LINBLE-TEST                  Paired, or it asks.
              blewedge run --device LINBLE-TEST --security none  Whoever has that name.
              blewedge run --device F0:F1:F2:F3:F4:F5 --table strict --stall 50ms
              blewedge run --device LINBLE-TEST --layout de --table gs1-text
              blewedge run --device LINBLE-TEST --pace scanner
              blewedge run --device LINBLE-TEST --scan --suffix '{tab}' --duplicates 1s
              blewedge run --device LINBLE-TEST --security none --json
              blewedge run --device LINBLE-TEST --security none --to pty:/run/scanner --raw
              blewedge run --to keyboard --to unix:/run/scans --slow-reader drop-oldest
              blewedge run --device LINBLE-TEST --hook /usr/local/bin/scanner-event
              blewedge run --user blewedge          From the script of another init.
            """
    )

    @OptionGroup var adapterOptions: AdapterOptions

    @OptionGroup var captureOptions: CaptureOptions

    @Option(
        "The device, whatever is chosen: its name, in letters of either case, its address, or NAME@ADDRESS.",
        value: "name|address"
    )
    var device: String?

    @Option(
        "The least security of the link: without it nothing is typed. With --device none takes an unpaired device, without a question.",
        value: GATTLinkSecurity.Level.allValueStrings.joined(separator: "|")
    )
    var security: GATTLinkSecurity.Level?

    @Option(
        help: ArgumentHelp("The configuration, instead of blewedge.toml in its usual place.", valueName: "file"),
        completion: .file()
    )
    var config: String?

    @Option(
        "What each byte types: a built-in table (\(ByteTable.BuiltIn.allCases.map(\.rawValue).joined(separator: ", "))) or a file.",
        value: "name|file"
    )
    var table: String?

    @Option("The layout that the reader of the keys uses: \(LayoutSource.names).", value: "name")
    var layout: String?

    @OptionGroup var wireOptions: WireOptions

    @OptionGroup var paceOptions: PaceOptions

    @Option(
        "Type nothing that waited longer while nothing could be typed; 0 types whatever its age (default: 5s).",
        value: "time"
    )
    var maxAge: TimeArgument?

    @Option(
        "While readers have CapsLock on, type letters the other way round so that they come out as meant (auto), or as if it were off (ignore).",
        value: "policy"
    )
    var capsLock: CapsLockPolicy?

    @Flag(help: "Read the keyboard's own event node, and count what arrived there and what did not.")
    var verify = false

    @Option(
        "Type only while this virtual terminal is in front; what comes meanwhile is refused for good.",
        value: "number"
    )
    var gateVT: Int?

    @Option(
        "Started by root: act for this user, as a service of systemd does; `blewedge setup` makes the user blewedge.",
        value: "name"
    )
    var user: String?

    @Flag(
        help:
            "Print lines for a journal: with their priority, without a name. So it is where systemd has connected one."
    )
    var foreground = false

    @OptionGroup(title: "Scan mode") var barcodeModeOptions: BarcodeModeOptions

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @Flag(
        help: """
            The same with connects, disconnects and how much was received, at most ten times a second; never what. A line \
            that the reader is too slow for is left out, and the next says so.
            """
    )
    var events = false

    @Option(
        help: ArgumentHelp(
            "Run a program on connect, disconnect and received barcodes, without a shell and without arguments.",
            discussion: """
                It gets the barcodes on its standard input, one a line. Its environment has BLEWEDGE_EVENT (connect, \
                disconnect, received), BLEWEDGE_COUNT (how often, or how many barcodes), BLEWEDGE_LENGTH (bytes on standard \
                input), BLEWEDGE_ADDRESS, BLEWEDGE_ADDRESS_TYPE and BLEWEDGE_REASON. One runs at a time, at most 30 s; what \
                happens meanwhile is told as one, and of barcodes 64 KiB wait (--slow-reader). One that it has not read when \
                it ends is counted as undelivered; typing never waits for it.
                """,
            valueName: "program"
        )
    )
    var hook: String?

    func run() throws {
        let choice = try device.map { text throws(CommandFailure) in
            guard let choice = DeviceSelector(text) else {
                throw CommandFailure(.usage, CommandFaultText.deviceWanted)
            }
            return choice
        }
        let paths = try paths(isDaemon: choice == nil)
        if let user { try KeyboardUser(name: user).become(paths) }
        if choice == nil { try reporting { () throws(DaemonPaths.Refusal) in try paths.checkState() } }
        let plan = try plan(choice, paths)
        let configuration = plan.configuration
        var options = Daemon.Options(
            paths: paths,
            followsChoice: choice == nil,
            terminal: configuration.gateTerminal,
            allowsKeys: configuration.allowsKeys,
            labels: plan.labels
        )
        options.beacons = configuration.beacons
        options.regions = plan.regions
        options.managed = { try? ServerFiles.managed(in: paths.state) }
        options.removeServerFiles = { () throws(CommandFailure) in try ServerFiles(in: paths.state).remove() }
        if configuration.usesStandardOutput, events || json {
            throw CommandFailure(.usage, CommandFaultText.outputTaken)
        }
        let output: KeyboardRun.Output = events ? .events : json ? .json : .people
        var settings = plan.settings
        var isOpenByWord = false
        if let choice {
            let known = try bonds(paths, configuration)
            // A paired device is selected by its saved identity: no other device is connected, whatever it advertises.
            settings.device = known.pairedChoice(choice).map { .kept($0) } ?? choice
            if security == nil, settings.security == .none, !known.isPaired(choice) {
                try consent(to: choice, isForPeople: output == .people)
                isOpenByWord = true
            }
        }
        let hook = plan.hook.map { (command: $0, barcodes: HookBarcodes(configuration.slowReader)) }
        let run = try KeyboardRun(
            settings,
            options,
            output: output,
            journal: Journal(wanted: foreground),
            showsStatus: configuration.showsStatus && !configuration.usesStandardOutput,
            hook: hook,
            capture: captureOptions
        )
        run.isOpenByWord = isOpenByWord
        run.known = KnownDeviceStore(paths.known)
        run.makeTexts = { loop throws(CommandFailure) in
            let layout = try reporting(configuration.keyboardLayout)
            return try reporting { () throws(OutputError) in
                var texts: [TextOutput] = []
                for output in configuration.outputs {
                    if let text = try TextOutput(output, layout: layout, on: loop) { texts.append(text) }
                }
                guard let hook else { return texts }
                let isGated = configuration.isGated
                return texts + [
                    try TextOutput(to: hook.barcodes, name: "hook", isGated: isGated, layout: layout, on: loop)
                ]
            }
        }
        run.onReload = { () throws(CommandFailure) in
            // A faulty configuration throws here, before anything has changed.
            try self.plan(choice, paths).reading != plan.reading
        }
        try run.run()
    }

    /// Reads the bonds; if that fails, a missing permission for the adapter or the keyboard is thrown instead, if any.
    private func bonds(_ paths: DaemonPaths, _ configuration: Configuration) throws -> BondStore.Contents {
        do throws(CommandFailure) {
            return try reporting(BondStore(paths.bonds).read)
        } catch {
            let hasKeyboard = configuration.hasKeyboard
            throw PermissionWait.missing(for: configuration.adapter, hasKeyboard: hasKeyboard) ?? error
        }
    }

    /// Asks on a terminal for consent to an unpaired device; throws without a terminal, or without consent.
    private func consent(to choice: DeviceSelector, isForPeople: Bool) throws {
        guard !KeyboardRun.isOpenByWord else { return }
        let refusal = CommandFailure.unpaired(choice)
        guard Console.mayAsk(isJSON: !isForPeople) else { throw refusal }
        guard try Console.isYes(LogText.useOpenDevice.message(refusal.cause).text(.current)) else {
            throw CommandFailure(.usage, CommandFaultText.notConnected)
        }
    }

    /// Settings of a run, after every file named by the options and the configuration was read and checked.
    private struct Plan {
        var configuration: Configuration
        var settings: KeyboardSettings
        var labels: DaemonLabels
        var regions: RegionCatalogue
        var hook: String?
        var reading: ConfigurationReading
    }

    private func plan(_ choice: DeviceSelector?, _ paths: DaemonPaths) throws(CommandFailure) -> Plan {
        let configuration = try configuration(paths)
        try check(paths.snippets)
        for path in configuration.files { try check(FilePath(path)) }
        let snippets = try reporting(Snippets.init(file:over:), paths.snippets.string, configuration.snippetSet)
        let settings = try settings(configuration, choice, try keypad(configuration, snippets), snippets)
        _ = try reporting(settings.typing.declaredKeys)
        try reporting(KeyboardGate.check, configuration.gateTerminal)
        let hook = hook ?? configuration.hook
        if let hook {
            try HookRunner.check(hook)
            if hook.contains("/") { try check(FilePath(hook)) }
        }
        return Plan(
            configuration: configuration,
            settings: settings,
            labels: try DaemonLabels(configuration),
            regions: try reporting(configuration.regions),
            hook: hook,
            reading: try reporting(ConfigurationReading.init, configuration, paths.snippets.string)
        )
    }

    private func check(_ file: FilePath) throws(CommandFailure) {
        try reporting { () throws(DaemonPaths.Refusal) in try DaemonPaths.check(file) }
    }

    /// Returns the directories; a run for one device falls back to those of the system.
    private func paths(isDaemon: Bool) throws(CommandFailure) -> DaemonPaths {
        do throws(CommandFailure) {
            return try DaemonPaths.current()
        } catch {
            if isDaemon { throw error }
            return .system
        }
    }

    /// Returns the configuration of the file, overridden by the options.
    private func configuration(_ paths: DaemonPaths) throws(CommandFailure) -> Configuration {
        let file = config.map { FilePath($0) } ?? paths.configurationFile
        try check(file)
        var configuration = try reporting(Configuration.read(_:mustExist:), file, config != nil)
        if let adapter = adapterOptions.adapter { configuration.adapter = adapter }
        if let security { configuration.security = security }
        if let table { configuration.table = table }
        if let layout { configuration.layout = layout }
        if let maxAge { configuration.maximumAge = maxAge.duration }
        if let capsLock { configuration.capsLock = capsLock }
        try paceOptions.apply(to: &configuration)
        if let gateVT {
            guard Configuration.terminals.contains(gateVT) else {
                throw CommandFailure(.usage, CommandFaultText.gateRange)
            }
            configuration.gateTerminal = gateVT
        }
        if verify { configuration.verifies = true }
        try wireOptions.apply(to: &configuration)
        return configuration
    }

    private func settings(
        _ configuration: Configuration,
        _ choice: DeviceSelector?,
        _ keypad: Keypad?,
        _ snippets: Snippets
    ) throws(CommandFailure) -> KeyboardSettings {
        var settings = try reporting(configuration.settings(device:), choice)
        let layout = try reporting(configuration.keyboardLayout)
        if let barcodes = try barcodeModeOptions.rules(layout: layout) { settings.typing.barcodes = barcodes }
        let (rules, keys) = (settings.typing.barcodes, settings.typing.table.keys)
        settings.typing.barcodes = try reporting(snippets.meant, rules, layout, keys)
        settings.typing.keypad = keypad
        return settings
    }

    /// Returns the keys that clients may press, besides those that the device can press; nil if they may press none.
    private func keypad(_ configuration: Configuration, _ snippets: Snippets) throws(CommandFailure) -> Keypad? {
        guard configuration.allowsKeys, device == nil else { return nil }
        let typing = try settings(configuration, nil, nil, snippets).typing
        return try reporting(
            Keypad.init,
            try reporting(configuration.keyboardLayout),
            typing.table.keys.union(typing.barcodes?.keys ?? KeySet()),
            snippets,
            configuration.clearMethod
        )
    }
}

extension DaemonLabels {
    init(_ configuration: Configuration) throws(CommandFailure) {
        let profiles = try reporting(configuration.profiles)
        self.init(
            profile: profiles.count == 1 ? profiles[0].name : Configuration.anyProfile,
            layout: configuration.layout,
            table: configuration.tableName(profiles),
            program: BlewedgeCommand.programVersion
        )
    }
}

extension CapsLockPolicy: ExpressibleByArgument {}

extension SlowReaderPolicy: ExpressibleByArgument {}
