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
              blewedge run --device LINBLE-TEST --pace scanner
              blewedge run --device LINBLE-TEST --scan --suffix '{tab}' --duplicates 1s
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
            "What each byte types: a built-in table (\(ByteTable.builtIn.map(\.name).joined(separator: ", "))) or a file.",
            valueName: "name|file"
        )
    )
    var table = "linble"

    @OptionGroup var paceOptions: PaceOptions

    @Option(help: ArgumentHelp("Type nothing that waited longer; 0 types whatever its age.", valueName: "time"))
    var maxAge = TimeArgument(.seconds(5))

    @Flag(help: "Read the keyboard's own event node, and count what arrived there and what did not.")
    var verify = false

    @OptionGroup(title: "Scan mode") var scanOptions: ScanModeOptions

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func run() throws {
        guard let choice = DeviceChoice(device) else {
            throw CommandFailure(.usage, "--device wants a name or an address")
        }
        let settings = KeyboardSettings(
            adapter: adapterOptions.selector,
            device: choice,
            profile: .linble,
            table: try TableSource.table(table),
            pacer: Pacer(try paceOptions.value()),
            scans: try scanOptions.rules(),
            maximumAge: maxAge.duration == .zero ? nil : maxAge.duration,
            verifies: verify
        )
        try KeyboardRun(settings, isJSON: json).run()
    }
}

/// Where tables come from.
enum TableSource {
    /// The built-in table of that name, or else the one in that file, ready for the layout.
    static func table(_ source: String) throws(CommandFailure) -> CompiledTable {
        do {
            return try CompiledTable(try read(source))
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(.configuration, "\(source): \(error)")
        }
    }

    private static func read(_ source: String) throws(CommandFailure) -> ByteTable {
        if let table = ByteTable(named: source) { return table }
        let bytes: [UInt8]
        do {
            bytes = try FileSystem.contents(of: source, limit: ByteTable.largestText)
        } catch {
            let names = ByteTable.builtIn.map(\.name).joined(separator: ", ")
            throw CommandFailure(
                .configuration,
                "cannot read the table \(source): \(error)",
                remedy: "name a file, or one of \(names)"
            )
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.configuration, "\(source): it is not UTF-8 text")
        }
        do {
            return try ByteTable(text: text)
        } catch {
            throw CommandFailure(.configuration, "\(source): \(error)")
        }
    }
}
