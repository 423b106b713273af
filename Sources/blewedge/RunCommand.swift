// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Keystrokes
import LinuxIO
import SystemPackage
import Wedge

/// `blewedge run`.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Connect to a device and type what it sends.",
        discussion: """
            Looks for the device, connects, subscribes to its LINBLE UART Service and types through a virtual keyboard. A \
            lost link is tried again after 3 s, for ever. Ctrl-C closes the link and prints what became of every byte.

            EXAMPLES:
              blewedge run --device LINBLE-TEST
              blewedge run --device F0:F1:F2:F3:F4:F5 --table strict --stall 50ms
              blewedge run --device LINBLE-TEST --layout de --table gs1-text
              blewedge run --device LINBLE-TEST --pace scanner
              blewedge run --device LINBLE-TEST --scan --suffix '{tab}' --duplicates 1s
              blewedge run --device LINBLE-TEST --json
              blewedge run --device LINBLE-TEST --hook /usr/local/bin/scanner-event
            """
    )

    @OptionGroup var adapterOptions: AdapterOptions

    @OptionGroup var captureOptions: CaptureOptions

    @Option(
        help: ArgumentHelp(
            "The device: its name, in letters of either case, or its address.",
            valueName: "name|address"
        )
    )
    var device: String

    @Option(
        help: ArgumentHelp(
            "What each byte types: a built-in table (\(ByteTable.BuiltIn.allCases.map(\.rawValue).joined(separator: ", "))) or a file.",
            valueName: "name|file"
        )
    )
    var table = "linble"

    @OptionGroup var layoutOptions: LayoutOptions

    @OptionGroup var paceOptions: PaceOptions

    @Option(help: ArgumentHelp("Type nothing that waited longer; 0 types whatever its age.", valueName: "time"))
    var maxAge = TimeArgument(.seconds(5))

    @Option(
        help: ArgumentHelp(
            "While readers have CapsLock on, type letters the other way round so that they come out as meant (auto), or as if it were off (ignore).",
            valueName: "policy"
        )
    )
    var capsLock = CapsLockPolicy.auto

    @Flag(help: "Read the keyboard's own event node, and count what arrived there and what did not.")
    var verify = false

    @OptionGroup(title: "Scan mode") var scanOptions: ScanModeOptions

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
            "Run a program on connect, disconnect and received data, without a shell and without arguments.",
            discussion: """
                Its environment has BLEWEDGE_EVENT (connect, disconnect, received), BLEWEDGE_COUNT (how often since it was \
                last told), BLEWEDGE_LENGTH (bytes received, never what), BLEWEDGE_ADDRESS, BLEWEDGE_ADDRESS_TYPE and \
                BLEWEDGE_REASON. One runs at a time, at most 30 s; what happens meanwhile is told as one.
                """,
            valueName: "program"
        )
    )
    var hook: String?

    func run() throws {
        guard let choice = DeviceChoice(device) else {
            throw CommandFailure(.usage, "--device wants a name or an address")
        }
        let layout = try LayoutSource.layout(layoutOptions.layout)
        let compiled = try TableSource.compiled(try TableSource.read(table), of: table, layout: layout)
        let pace = try paceOptions.value()
        do {
            try pace.check(longestByte: compiled.longestByte)
        } catch {
            throw CommandFailure(
                .configuration,
                "\(table) with layout \(layout.name) has a byte of \(compiled.longestByte) events: \(error)",
                remedy: "type less for one byte, or state a shorter stall"
            )
        }
        let settings = KeyboardSettings(
            adapter: adapterOptions.transport,
            device: choice,
            profile: .linble,
            table: compiled,
            pacer: Pacer(pace),
            scans: try scanOptions.rules(layout: layout),
            maximumAge: maxAge.duration == .zero ? nil : maxAge.duration,
            capsLock: capsLock,
            verifies: verify
        )
        let output: KeyboardRun.Output = events ? .events : json ? .json : .people
        try KeyboardRun(settings, output: output, hook: hook, capture: captureOptions).run()
    }
}

extension CapsLockPolicy: ExpressibleByArgument {}
