// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SensorValues
import SystemPackage
import Texts

struct ValueCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "value",
        abstract: "Type the value of a scale or sensor, or examine its data.",
        subcommands: [ValueTypeCommand.self, ValueTryCommand.self]
    )
}

struct ValueTypeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "type",
        abstract: "Type the latest value of the device.",
        discussion: """
            The profile of the device must have `type = "request"`. The value is typed with Enter, as if a scanner had \
            sent it. If the device has not sent a stable value yet, the command exits with status 69.

            EXAMPLES:
              blewedge value type
              blewedge value type --device scale
            """
    )

    @OptionGroup var deviceOption: DeviceOption

    @OptionGroup var daemon: DaemonOptions

    func run() throws { try daemon.tell(deviceOption.request(.value)) }
}

struct ValueTryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try",
        abstract: "Decode the data of a scale or sensor, and show what would be typed.",
        discussion: """
            A payload is what the device sends: a notified value, or the advertised data without the UUID or the \
            company identifier before it. The command reads the payloads one after another, like the daemon, so it \
            also shows which values would not be typed and why. No adapter is needed, and nothing is typed. If a \
            payload has no usable value, the command exits with status 74 after the last payload.

            EXAMPLES:
              blewedge value try bthome 40065E1F
              blewedge value try xiaomi-scale 022044B20701010A1A15 222044B20701010A1A15
              blewedge value try ./counter-scale.toml 010203 --json
              blewedge value try weight-scale - < payloads.txt
            """
    )

    private static let longestInput = 1 << 22

    @Argument(
        help: ArgumentHelp(
            "Profile with a table `value`: its name, or the path of a file.",
            valueName: "profile"
        ),
        completion: Completion.profiles
    )
    var profile: String

    @Argument(
        help: ArgumentHelp(
            "Payloads: pairs of hexadecimal digits, or - to read them from standard input, one in each line.",
            valueName: "payloads"
        )
    )
    var payloads: [String]

    @Option("Configuration file that contains additional profiles.", value: "file", completion: .file())
    var file: String?

    @Flag(help: "Print each payload as a JSON object in a line of its own.")
    var json = false

    func run() throws {
        var configuration = try reporting(Configuration.read(_:mustExist:), configurationPath(file), file != nil)
        configuration.profile = profile
        let found = try reporting(configuration.profiles)
        guard found.count == 1, let only = found.first, let rules = only.values else {
            let known = Profile.builtIn.filter { $0.values != nil }.map(\.name).joined(separator: ", ")
            throw CommandFailure(.usage, ValueFaultText.withoutValues, profile, known)
        }
        let texts = payloads == ["-"] ? try Self.standardInput() : payloads
        let bytes = try texts.map { text throws(CommandFailure) in
            guard let bytes = HIDInput.bytes(text) else {
                throw CommandFailure(.usage, ValueFaultText.notHexadecimal, text)
            }
            return bytes
        }
        var trial = ValueTrial(rules, isAdvertised: only.advertised != nil)
        let results = bytes.map { trial.read($0) }
        try StandardStream.output.write(results.map { (json ? $0.object.text : $0.line) + "\n" }.joined())
        let refused = results.count { $0.fault != nil }
        if refused > 0 {
            throw CommandFailure(.inputOutput, ValueFaultText.someRefused, "\(refused)", "\(results.count)")
        }
    }

    private static func standardInput() throws(CommandFailure) -> [String] {
        do throws(Errno) {
            let content = try HIDInput.standardInput(limit: longestInput)
            return String(decoding: content, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        } catch {
            throw CommandFailure(.inputOutput, CommandFaultText.unreadable, "-", "\(error)")
        }
    }
}
