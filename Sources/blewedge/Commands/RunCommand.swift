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
            Without --device, this is the daemon: it types the data of the device selected with `blewedge use`, \
            follows a new selection at once, and waits while the adapter or a permission is missing. With --device, it \
            uses that device only. A paired device (`blewedge pair`) must encrypt the link with its keys. For an \
            unpaired device, the command asks on a terminal; elsewhere it needs --security none, or exits with status \
            78.

            A lost link is re-established after 3 s. Failed connection attempts are retried after 3, 6, 12, 24, 48 and \
            then every 60 s, or as soon as the device advertises again after a silence. Settings without an option \
            here come from the configuration file (`blewedge config show`). Ctrl-C closes the link and prints the byte \
            counts. SIGHUP reloads the configuration, like `blewedge reload`. On a terminal, the last line shows the \
            state, unless status-line is off.

            The layout maps characters to keys. It must be the layout that the application uses: us, jp, de and others \
            are built in, console is the current keymap of a text console, and other names are looked up by \
            libxkbcommon, if it is installed. A character that the layout cannot type is rejected and counted. With \
            --scan, the whole barcode is rejected before its first key is pressed.

            Data that waited longer than --max-age while nothing could be typed is dropped and counted, so that a \
            kiosk does not type yesterday's barcodes when it wakes up. A backlog that is already being typed is \
            typed to its end. With --scan, only whole barcodes are typed; a barcode cut short by a lost link is rejected.

            The virtual keyboard has the name "blewedge keyboard", bus type virtual, vendor b1ed and product 0001. It \
            declares the keys that can be typed and, for udev, the key codes 1 to 31.

            EXAMPLES:
              blewedge run
              blewedge run --device LINBLE-TEST                  Asks if unpaired.
              blewedge run --device LINBLE-TEST --security none  For an unpaired one.
              blewedge run --device F0:F1:F2:F3:F4:F5 --table strict --stall 50ms
              blewedge run --device LINBLE-TEST --layout de --table gs1-text
              blewedge run --device LINBLE-TEST --pace scanner
              blewedge run --device LINBLE-TEST --scan --suffix '{tab}' --duplicates 1s
              blewedge run --device LINBLE-TEST --security none --json
              blewedge run --adapter memory: --device SCALE-15K --security none --to stdout
              blewedge run --device LINBLE-TEST --security none --to pty:/run/scanner --raw
              blewedge run --to keyboard --to unix:/run/scans --slow-reader drop-oldest
              blewedge run --device LINBLE-TEST --hook /usr/local/bin/scanner-event
              blewedge run --user blewedge          For other init systems.
            """
    )

    @OptionGroup var adapterOptions: AdapterOptions

    @OptionGroup var captureOptions: CaptureOptions

    @Option(
        "Device to use instead of the selected one: its name in upper or lower case, its address, or NAME@ADDRESS.",
        value: "name|address",
        completion: Completion.devices
    )
    var device: String?

    @Option(
        "Minimum security of the link; below it, nothing is typed. With --device, `none` accepts an unpaired device without asking.",
        value: GATTLinkSecurity.Level.allValueStrings.joined(separator: "|")
    )
    var security: GATTLinkSecurity.Level?

    @Option(
        help: ArgumentHelp("Configuration file to use instead of the default blewedge.toml.", valueName: "file"),
        completion: .file()
    )
    var config: String?

    @Option(
        "Table that says what each byte types: built in (\(ByteTable.BuiltIn.allCases.map(\.rawValue).joined(separator: ", "))) or a file.",
        value: "name|file",
        completion: Completion.tables
    )
    var table: String?

    @Option(
        "Keyboard layout of the application: \(LayoutSource.names).",
        value: "name",
        completion: Completion.layouts
    )
    var layout: String?

    @OptionGroup var wireOptions: WireOptions

    @OptionGroup var paceOptions: PaceOptions

    @Option(
        "Drop data that waited longer while nothing could be typed; 0 keeps data of any age (default: 5s).",
        value: "time"
    )
    var maxAge: TimeArgument?

    @Option(
        "While CapsLock is on: auto inverts the case of typed letters so that they come out right; ignore types as if it were off.",
        value: "policy"
    )
    var capsLock: CapsLockPolicy?

    @Flag(help: "Read the keyboard's own event node, and count the events that arrived and those that did not.")
    var verify = false

    @Option(
        "Type only while this virtual terminal is in the foreground; data received meanwhile is never typed.",
        value: "number"
    )
    var gateVT: Int?

    @Option(
        "If started by root: run as this user, as a systemd service does; `blewedge setup` creates the user blewedge.",
        value: "name"
    )
    var user: String?

    @Flag(
        help:
            "Print lines for a journal: with a priority, without the program's name. Default if systemd connected one."
    )
    var foreground = false

    @OptionGroup(title: "Scan mode") var barcodeModeOptions: BarcodeModeOptions

    @Flag(help: "Print the output as JSON, with one object per line.")
    var json = false

    @Flag(
        help: """
            Like --json, with connects, disconnects and byte counts, at most ten times per second; never the data. If \
            the consumer is too slow, lines are skipped, and the next line reports how many.
            """
    )
    var events = false

    @Option(
        help: ArgumentHelp(
            "Run a program on each connect, disconnect and received barcode, without a shell or arguments.",
            discussion: """
                It gets the barcodes on its standard input, one per line. Its environment has BLEWEDGE_EVENT (connect, \
                disconnect, received), BLEWEDGE_COUNT (number of events or barcodes), BLEWEDGE_LENGTH (bytes on \
                standard input), BLEWEDGE_ADDRESS, BLEWEDGE_ADDRESS_TYPE and BLEWEDGE_REASON. One program runs at a \
                time, for at most 30 s. Events that occur meanwhile are combined, and up to 64 KiB of barcodes are \
                queued (--slow-reader). Barcodes still unread when the hook exits count as undelivered. Typing never \
                waits for it.
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
            // Select a paired device by its stored identity, so that no other device is connected, whatever it
            // advertises.
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
            // If the configuration is faulty, this throws an error before anything is changed.
            try self.plan(choice, paths).reading != plan.reading
        }
        try run.run()
    }

    /// Reads the bonds.
    ///
    /// If that fails, and a permission for the adapter or the keyboard is missing too, the error reports that
    /// permission.
    private func bonds(_ paths: DaemonPaths, _ configuration: Configuration) throws -> BondStore.Contents {
        do throws(CommandFailure) {
            return try reporting(BondStore(paths.bonds).read)
        } catch {
            let hasKeyboard = configuration.hasKeyboard
            throw PermissionWait.missing(for: configuration.adapter, hasKeyboard: hasKeyboard) ?? error
        }
    }

    /// Asks the user to accept an unpaired device; throws an error without a terminal, or if the user does not consent.
    private func consent(to choice: DeviceSelector, isForPeople: Bool) throws {
        guard !KeyboardRun.isOpenByWord else { return }
        let refusal = CommandFailure.unpaired(choice)
        guard Console.mayAsk(isJSON: !isForPeople) else { throw refusal }
        guard try Console.isYes(LogText.useOpenDevice.message(refusal.cause).text(.current)) else {
            throw CommandFailure(.usage, CommandFaultText.notConnected)
        }
    }

    /// The settings of a run, created after reading and checking every file that the options and the configuration
    /// name.
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

    /// Returns the directories to use.
    ///
    /// If a run for one device has no directories of its own, it uses those of the system.
    private func paths(isDaemon: Bool) throws(CommandFailure) -> DaemonPaths {
        do throws(CommandFailure) {
            return try DaemonPaths.current()
        } catch {
            if isDaemon { throw error }
            return .system
        }
    }

    /// Returns the configuration from the file, after applying the options to it.
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

    /// Returns a keypad for the keys that clients may press in addition to those of the device.
    ///
    /// The result is nil if clients may not press any keys.
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
