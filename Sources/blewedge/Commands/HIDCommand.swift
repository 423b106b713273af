// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import Daemon
import HIDReports
import Keystrokes
import LinuxIO
import Texts

struct HIDCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hid",
        abstract: "Examine the data of keyboard scanners (HID over GATT).",
        subcommands: [HIDTryCommand.self]
    )
}

struct HIDTryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try",
        abstract: "Show a report map as a tree, and decode reports.",
        discussion: """
            A report map is a HID report descriptor, which a keyboard scanner has in its characteristic 2A4B. The \
            command accepts the maps that Linux accepts. It prints the items of the map, each after its position in \
            bytes, and then the reports. It reads the given reports one after another, and prints the keys that are \
            held after each one, and the text that a scanner with this layout means. No adapter is needed, and \
            nothing is typed. If the map is refused, the command prints the items up to the refused one, and exits \
            with status 74.

            EXAMPLES:
              blewedge hid try 05010906A1010507190029652501750195668102C0
              blewedge hid try scanner.hex 0200040000000000 0000000000000000
              blewedge hid try /sys/bus/hid/devices/0005:045E:0921.0001/report_descriptor
              blewedge hid try scanner.hex 02001E --device-layout jp --json
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Report map: pairs of hexadecimal digits, a file of such digits or of bytes, or - for standard input.",
            valueName: "map"
        ),
        completion: .file()
    )
    var map: String

    @Argument(
        help: ArgumentHelp(
            "Input reports: pairs of hexadecimal digits. If the map has report ids, the first byte is the id.",
            valueName: "reports"
        )
    )
    var reports: [String] = []

    @Option(
        help: ArgumentHelp(
            "Keyboard layout for which the scanner is set: \(HIDTryCommand.layouts).",
            valueName: "name"
        ),
        completion: .list(BuiltInLayout.allCases.map(\.rawValue))
    )
    var deviceLayout = BuiltInLayout.us.rawValue

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    private static let layouts = BuiltInLayout.allCases.map(\.rawValue).joined(separator: ", ")

    func run() throws {
        guard let layout = BuiltInLayout(rawValue: deviceLayout) else {
            throw CommandFailure(.usage, HIDFaultText.noLayout, deviceLayout, Self.layouts)
        }
        let payloads = try reports.map { report throws(CommandFailure) in
            guard let bytes = HIDInput.bytes(report) else {
                throw CommandFailure(.usage, HIDFaultText.reportNotHexadecimal, report)
            }
            return bytes
        }
        let bytes = try HIDInput.map(map)
        let tree = ReportMapTree(bytes)
        let parsed: ReportMap
        do throws(ReportMapError) {
            parsed = try ReportMap(bytes)
        } catch {
            let items = tree.lines.filter { $0.offset <= error.offset }
            if !json, !items.isEmpty { try write(items.map(HIDTrial.line)) }
            throw CommandFailure(error)
        }
        var trial = HIDTrial(parsed, layout)
        let readings = try payloads.map { payload throws(CommandFailure) in try trial.read(payload) }
        if json {
            try write([HIDTrial.object(tree, parsed, readings).text])
        } else {
            try write(tree.lines.map(HIDTrial.line) + parsed.reports.map(HIDTrial.line) + readings.map(\.line))
        }
    }

    private func write(_ lines: [String]) throws {
        try StandardStream.output.write(lines.joined(separator: "\n") + "\n")
    }
}
