// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothLE
import Devices
import LinuxIO
import Texts

extension PairingConsole: ExpressibleByArgument {}

/// The security that a pairing must give.
enum PairingSecurity: String, ExpressibleByArgument, CaseIterable {
    case encrypted
    case authenticated

    var level: GATTLinkSecurity.Level { self == .encrypted ? .encrypted : .authenticated }
}

/// `blewedge pair`.
struct PairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Agree on keys with a device, so that nobody can pass for it.",
        usage: "blewedge pair <address|name> [<options>]",
        discussion: """
            A local act for one device, for a minute at most: it is listened for, connected to and paired with, by the \
            kernel or, over H4 and on the user channel, by blewedge itself, and its keys are kept in the state directory, for this adapter, readable by their owner alone. From \
            then on its links are encrypted with them. Both devices must agree how: on a terminal a number is compared, \
            shown or asked for, as the other device can; without a terminal nobody can say a number, and the link is \
            encrypted, but not authenticated. Secure Connections are preferred; legacy pairing, whose number anybody can compute, gives encrypted keys at most; keys shorter than 16 bytes are refused. A \
            device that is paired already is refused until `forget`. A daemon that uses the adapter does the pairing, for its \
            owner and root: meanwhile it begins no connection, and it resumes afterwards.

            EXAMPLES:
              blewedge pair LINBLE-TEST
              blewedge pair F0:F1:F2:F3:F4:F5 --security authenticated
              blewedge pair LINBLE-TEST --console none --json
            """
    )

    @Argument(help: ArgumentHelp("The device: its address, or its name.", valueName: "address|name"))
    var device: String

    @Option(
        help: ArgumentHelp(
            "What the keys must give: authenticated takes no device that cannot say or show a number, or knows legacy pairing only.",
            valueName: PairingSecurity.allCases.map(\.rawValue).joined(separator: "|")
        )
    )
    var security = PairingSecurity.encrypted

    @Option(
        help: ArgumentHelp(
            "What the person here can do (default: keyboard-display on a terminal, else none). Answers are lines on standard input.",
            valueName: PairingConsole.allCases.map(\.rawValue).joined(separator: "|")
        )
    )
    var console: PairingConsole?

    @Option(help: ArgumentHelp("Give up after this time.", valueName: "time"))
    var seconds = TimeArgument(.seconds(60))

    @OptionGroup var adapterOptions: AdapterOptions

    @Flag(help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        if device.isEmpty { throw ValidationError("the device wants a name or an address.") }
        guard PairingRequest.limits.contains(seconds.duration) else {
            throw ValidationError("--seconds must be 1 to 600.")
        }
    }

    func run() throws {
        guard let choice = DeviceChoice(device) else { throw CommandFailure(.usage, CommandFaultText.incomplete) }
        let isTerminal = StandardInput.isTerminal && StandardStream.error.isTerminal
        var request = PairingRequest(choice)
        request.console = console ?? (isTerminal ? .keyboardDisplay : .none)
        request.required = security.level
        request.limit = seconds.duration
        try PairRun(request, through: adapterOptions.transport, isJSON: json).run()
    }
}
