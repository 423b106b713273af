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
            Without --device, the command runs as the daemon. The daemon types the data of the device that was \
            selected with `blewedge use`, and switches to a newly selected device at once. While the adapter or a \
            permission is missing, the daemon waits. With --device, the command uses only the given device. A link to \
            a paired device must be encrypted with the keys from `blewedge pair`. For an unpaired device, the command \
            asks for confirmation on a terminal. Without a terminal, the command rejects an unpaired device with \
            status 78, unless --security none is given.

            If the link is lost, blewedge reconnects after 3 s. Failed connection attempts are retried after 3, 6, 12, \
            24 and 48 s, and then every 60 s. blewedge also retries at once if a device that stopped advertising \
            advertises again. Settings that are not given as options come from the configuration file, which `blewedge \
            config show` prints. Ctrl-C closes the link and prints the byte counts. The signal SIGHUP reloads the \
            configuration, like `blewedge reload`. On a terminal, the last line shows the current state, unless \
            status-line is off in the configuration.

            The keyboard layout maps characters to keys, and must be the layout that the application uses. The layouts \
            us, jp, de and others are built in, and the layout console is the current keymap of a text console. If \
            libxkbcommon is installed, it provides layouts that are not built in. A character that the layout cannot \
            type is rejected and counted. With --scan, a barcode is rejected as a whole if it contains a character \
            that cannot be typed.

            Data that could not be typed for longer than --max-age is dropped and counted. With --max-age, a kiosk \
            that wakes up does not type yesterday's barcodes. Once typing has started, all waiting data is typed, even \
            if it becomes older than --max-age. With --scan, only complete barcodes are typed, and a barcode that is \
            cut off by a lost link is rejected.

            The virtual keyboard has the name "blewedge keyboard", the bus type virtual, the vendor ID b1ed and the \
            product ID 0001. The virtual keyboard declares all keys that can be typed. The key codes 1 to 31 are \
            always declared, because udev recognizes a keyboard by these key codes.

            EXAMPLES:
              blewedge run
              blewedge run --device LINBLE-TEST                  Asks if unpaired.
              blewedge run --device LINBLE-TEST --security none  Does not ask.
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
        "Device to use instead of the selected device. NAME@ADDRESS specifies a device by its name and address. The case of the name does not matter.",
        value: "name|address",
        completion: Completion.devices
    )
    var device: String?

    @Option(
        "Minimum security level that a link must have before data is typed. With --device, the level `none` accepts an unpaired device without confirmation.",
        value: GATTLinkSecurity.Level.allValueStrings.joined(separator: "|")
    )
    var security: GATTLinkSecurity.Level?

    @Option(
        help: ArgumentHelp("Configuration file to use instead of the default file blewedge.toml.", valueName: "file"),
        completion: .file()
    )
    var config: String?

    @Option(
        "Table that defines what is typed for each byte. Use a table file or one of the built-in tables \(ByteTable.BuiltIn.allCases.map(\.rawValue).joined(separator: ", ")).",
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
        "Drop data that has waited longer than this before typing; 0 keeps all data (default: 5s).",
        value: "time"
    )
    var maxAge: TimeArgument?

    @Option(
        "Policy while Caps Lock is on. The policy auto inverts the case of typed letters, so that the application receives them correctly. The policy ignore types as if Caps Lock were off.",
        value: "policy"
    )
    var capsLock: CapsLockPolicy?

    @Flag(
        help:
            "Read the events of the virtual keyboard back, and count the events that arrived and the events that are missing."
    )
    var verify = false

    @Option(
        "Type only while this virtual terminal is in the foreground. Data that arrives while the terminal is in the background is never typed.",
        value: "number"
    )
    var gateVT: Int?

    @Option(
        "If root starts the daemon, run the daemon as this user. `blewedge setup` creates the user blewedge for this purpose.",
        value: "name"
    )
    var user: String?

    @Flag(
        help:
            "Print log lines for the systemd journal, with a priority and without the program's name. The journal format is the default if systemd has connected the output to the journal."
    )
    var foreground = false

    @OptionGroup(title: "Scan mode") var barcodeModeOptions: BarcodeModeOptions

    @Flag(help: "Print the output as JSON, with one object per line.")
    var json = false

    @Flag(
        help: """
            In addition to the output of --json, print connections, disconnections and byte counts, at most ten times \
            per second. Received data is never printed. If the program that reads the output is too slow, lines are \
            skipped, and the next line reports the number of skipped lines.
            """
    )
    var events = false

    @Option(
        help: ArgumentHelp(
            "Program to run for each connection, disconnection and received barcode, without a shell and without arguments.",
            discussion: """
                The hook program receives the barcodes on its standard input, one per line. The environment of the \
                hook program contains BLEWEDGE_EVENT (connect, disconnect or received), BLEWEDGE_COUNT (number of \
                events or barcodes), BLEWEDGE_LENGTH (number of bytes on standard input), BLEWEDGE_DEVICE (name \
                of the device in the configuration, if there are several), BLEWEDGE_ADDRESS, BLEWEDGE_ADDRESS_TYPE and \
                BLEWEDGE_REASON. Only one hook program runs at a time, for at most 30 s. \
                Events that occur while the hook program runs are combined. Up to 64 KiB of barcodes are queued for \
                the hook program, and --slow-reader defines which barcodes are dropped beyond this limit. Barcodes \
                that the hook program has not read when it exits count as undelivered. Typing never waits for the hook \
                program.
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
        if plan.parts.contains(where: \.usesStandardOutput), events || json {
            throw CommandFailure(.usage, CommandFaultText.outputTaken)
        }
        let output: KeyboardRun.Output = events ? .events : json ? .json : .people
        var devices = plan.devices
        var isOpenByWord = false
        if let choice {
            let known = try bonds(paths, configuration)
            var settings: KeyboardSettings {
                get { devices[0].settings }
                set { devices[0].settings = newValue }
            }
            // Select a paired device by its stored identity, so that no other device is connected, whatever it
            // advertises.
            settings.device = known.pairedChoice(choice).map { .kept($0) } ?? choice
            if settings.profiles.allSatisfy(\.isKeyboard), known.isUnpaired(choice) {
                throw CommandFailure.unpairedKeyboard(choice)
            }
            if security == nil, settings.security == .none, !known.isPaired(choice) {
                try consent(to: choice, isForPeople: output == .people)
                isOpenByWord = true
            }
        }
        // Each device has its own hook, whose barcodes are not mixed with those of the others.
        let hooks = plan.hook.map { hook in
            plan.parts.map { (command: hook, barcodes: HookBarcodes($0.slowReader)) }
        }
        let run = try KeyboardRun(
            devices,
            options,
            output: output,
            journal: Journal(wanted: foreground),
            showsStatus: configuration.showsStatus && !plan.parts.contains(where: \.usesStandardOutput),
            hooks: hooks,
            capture: captureOptions
        )
        run.isOpenByWord = isOpenByWord
        run.known = KnownDeviceStore(paths.known)
        run.makeTexts = { loop, index throws(CommandFailure) in
            try texts(plan.parts[index], hooks?[index].barcodes, on: loop)
        }
        run.onReload = { () throws(CommandFailure) in
            // If the configuration is faulty, this throws an error before anything is changed.
            try self.plan(choice, paths).reading != plan.reading
        }
        try run.run()
    }

    /// Opens the outputs of a device other than the keyboard.
    private func texts(
        _ configuration: Configuration,
        _ barcodes: HookBarcodes?,
        on loop: EventLoop
    ) throws(CommandFailure) -> [TextOutput] {
        let layout = try reporting(configuration.keyboardLayout)
        return try reporting { () throws(OutputError) in
            var texts: [TextOutput] = []
            for output in configuration.outputs {
                if let text = try TextOutput(output, layout: layout, on: loop) { texts.append(text) }
            }
            guard let barcodes else { return texts }
            let isGated = configuration.isGated
            return texts + [try TextOutput(to: barcodes, name: "hook", isGated: isGated, layout: layout, on: loop)]
        }
    }

    /// Selects the paired devices that tables fix by their stored identities.
    ///
    /// Throws an error for an unpaired device, which anyone can impersonate, unless its table sets the security.
    private func fix(
        _ devices: inout [DevicePlan],
        _ parts: [Configuration.Part],
        _ paths: DaemonPaths
    ) throws(CommandFailure) {
        guard parts.contains(where: { $0.table?.device != nil }) else { return }
        let known = try bonds(paths, parts[0].configuration)
        for (index, part) in parts.enumerated() {
            guard let table = part.table, let choice = table.device else { continue }
            devices[index].settings.device = known.pairedChoice(choice).map { .kept($0) } ?? choice
            if devices[index].settings.profiles.allSatisfy(\.isKeyboard), known.isUnpaired(choice) {
                throw CommandFailure.unpairedKeyboard(choice)
            }
            if !table.sets("security"), devices[index].settings.security == .none, !known.isPaired(choice) {
                throw CommandFailure.unpaired(choice)
            }
        }
    }

    /// Reads the bonds.
    ///
    /// If that fails, and a permission for the adapter or the keyboard is missing too, the error reports that
    /// permission.
    private func bonds(_ paths: DaemonPaths, _ configuration: Configuration) throws(CommandFailure)
        -> BondStore.Contents
    {
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
        /// Configuration of each device.
        var parts: [Configuration]
        var devices: [DevicePlan]
        var labels: DaemonLabels
        var regions: RegionCatalogue
        var hook: String?
        var reading: ConfigurationReading
    }

    private func plan(_ choice: DeviceSelector?, _ paths: DaemonPaths) throws(CommandFailure) -> Plan {
        var configuration = try configuration(paths)
        // A run for one device uses the settings at the top level.
        if choice != nil { configuration.devices = [] }
        var parts = configuration.parts
        for index in parts.indices { try apply(to: &parts[index]) }
        if configuration.devices.isEmpty { configuration = parts[0].configuration }
        try reporting(Configuration.check, parts, file(paths).string)
        try check(paths.snippets)
        for path in parts.flatMap(\.configuration.files) { try check(FilePath(path)) }
        let snippets = try reporting(Snippets.init(file:over:), paths.snippets.string, configuration.snippetSet)
        var devices: [DevicePlan] = []
        for (table, part) in parts {
            // The keys that clients may press are typed on the keyboard of the first device.
            let keypad = devices.isEmpty ? try keypad(part, snippets) : nil
            let settings = try settings(part, table?.device ?? choice, keypad, snippets)
            _ = try reporting(settings.typing.declaredKeys)
            var plan = DevicePlan(name: table?.name, settings)
            plan.hasOwnKeyboard = table?.hasOwnKeyboard ?? false
            plan.labels = try DaemonLabels(part)
            devices.append(plan)
        }
        try fix(&devices, parts, paths)
        try reporting(KeyboardGate.check, configuration.gateTerminal)
        let hook = hook ?? configuration.hook
        if let hook {
            try HookRunner.check(hook)
            if hook.contains("/") { try check(FilePath(hook)) }
        }
        return Plan(
            configuration: configuration,
            parts: parts.map(\.configuration),
            devices: devices,
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

    /// Returns the configuration from the file, after applying the options for the whole daemon to it.
    private func configuration(_ paths: DaemonPaths) throws(CommandFailure) -> Configuration {
        let file = file(paths)
        try check(file)
        var configuration = try reporting(Configuration.read(_:mustExist:), file, config != nil)
        if let adapter = adapterOptions.adapter { configuration.adapter = adapter }
        if let gateVT {
            guard Configuration.terminals.contains(gateVT) else {
                throw CommandFailure(.usage, CommandFaultText.gateRange)
            }
            configuration.gateTerminal = gateVT
        }
        return configuration
    }

    private func file(_ paths: DaemonPaths) -> FilePath { config.map { FilePath($0) } ?? paths.configurationFile }

    /// Applies the options that concern a device to its configuration.
    private func apply(to part: inout Configuration.Part) throws(CommandFailure) {
        // A table may require more security than the option.
        if let security {
            let least = part.table?.sets("security") == true ? part.configuration.security : .none
            part.configuration.security = max(security, least)
        }
        if let table { part.configuration.table = table }
        if let layout { part.configuration.layout = layout }
        if let maxAge { part.configuration.maximumAge = maxAge.duration }
        if let capsLock { part.configuration.capsLock = capsLock }
        try paceOptions.apply(to: &part.configuration)
        if verify { part.configuration.verifies = true }
        try wireOptions.apply(to: &part.configuration)
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
