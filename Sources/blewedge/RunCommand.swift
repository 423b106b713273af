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
              blewedge run --device LINBLE-TEST --json
            """
    )

    @OptionGroup var adapterOptions: AdapterOptions

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

    @Option(
        help: ArgumentHelp(
            "How long a reader may stall without losing a key; 0 types without any pause.",
            valueName: "time"
        )
    )
    var stall = TimeArgument(.milliseconds(100))

    @Option(help: ArgumentHelp("Type nothing that waited longer; 0 types whatever its age.", valueName: "time"))
    var maxAge = TimeArgument(.seconds(5))

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func run() throws {
        guard let choice = DeviceChoice(device) else {
            throw CommandFailure(.usage, "--device wants a name or an address")
        }
        let layout = try LayoutSource.layout(layoutOptions.layout)
        let settings = KeyboardSettings(
            adapter: adapterOptions.selector,
            device: choice,
            profile: .linble,
            table: try TableSource.compiled(try TableSource.read(table), of: table, layout: layout),
            pacer: try pacer(),
            maximumAge: maxAge.duration == .zero ? nil : maxAge.duration
        )
        try KeyboardRun(settings, isJSON: json).run()
    }

    private func pacer() throws(CommandFailure) -> Pacer {
        let (seconds, attoseconds) = stall.duration.components
        do {
            return try Pacer(stall: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        } catch {
            throw CommandFailure(.configuration, "--stall: \(error)")
        }
    }
}
