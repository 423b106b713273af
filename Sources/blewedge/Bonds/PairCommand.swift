// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

extension PairingConsole: ExpressibleByArgument {}

enum PairingSecurity: String, ExpressibleByArgument, CaseIterable {
    case encrypted
    case authenticated

    var level: GATTLinkSecurity.Level { self == .encrypted ? .encrypted : .authenticated }
}

struct PairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pair with a device, so that no other device can impersonate it.",
        usage: "blewedge pair <address|name> [<options>]",
        discussion: """
            The command scans for the device, connects to it and pairs with it. Pairing is performed by the kernel, or \
            by blewedge itself on controllers that it uses directly (`h4:` and `user:`). The pairing keys are valid \
            for this adapter only, and are saved in a file that only its owner can read. After pairing, every link to \
            the device is encrypted with the saved keys.

            Depending on the device, you may have to compare two numbers, or enter a number on the terminal or on the \
            device. Without a terminal, you cannot confirm a number, so the link is encrypted but not authenticated. \
            blewedge uses LE Secure Connections if the device supports it. Legacy pairing provides the security level \
            `encrypted` at most, because an eavesdropper can compute the passkey. Keys shorter than 16 bytes are \
            rejected. Before you pair again with a paired device, delete its keys with `blewedge forget`. If a daemon \
            uses the adapter, the daemon performs the pairing, but only for its owner and root. While a daemon pairs \
            with a device, it pauses its own connections.

            EXAMPLES:
              blewedge pair LINBLE-TEST
              blewedge pair F0:F1:F2:F3:F4:F5 --security authenticated
              blewedge pair LINBLE-TEST --console none --json
            """
    )

    @Argument(
        help: ArgumentHelp("Address or name of the device.", valueName: "address|name"),
        completion: Completion.devices
    )
    var device: String

    @Option(
        "Minimum security level of the keys. The level `authenticated` rejects devices without a display or input, and devices that support only legacy pairing.",
        value: PairingSecurity.allCases.map(\.rawValue).joined(separator: "|")
    )
    var security = PairingSecurity.encrypted

    @Option(
        "Input and output that you can use for pairing (default: keyboard-display on a terminal, none elsewhere). Your answers are read from standard input.",
        value: PairingConsole.allCases.map(\.rawValue).joined(separator: "|")
    )
    var console: PairingConsole?

    @Option("Maximum duration of the scan and the pairing.", value: "time")
    var seconds = TimeArgument(.seconds(60))

    @OptionGroup var adapterOptions: AdapterOptions

    @Flag(help: "Print the output as JSON, with one object per line.")
    var json = false

    func validate() throws {
        if device.isEmpty { throw ValidationError("pair requires a name or an address.") }
        guard PairingRequest.limits.contains(seconds.duration) else {
            throw ValidationError("--seconds must be 1 to 600.")
        }
    }

    func run() throws {
        guard let choice = DeviceSelector(device) else { throw CommandFailure(.usage, CommandFaultText.incomplete) }
        let isTerminal = StandardInput.isTerminal && StandardStream.error.isTerminal
        var request = PairingRequest(choice)
        request.console = console ?? (isTerminal ? .keyboardDisplay : .none)
        request.required = security.level
        request.limit = seconds.duration
        _ = try PairRun(request, through: adapterOptions.transport, isJSON: json).run()
    }
}

/// Pairs with a device from the command line.
///
/// The daemon that uses the adapter does this or, if there is none, this process.
final class PairRun {
    private let request: PairingRequest
    private let transport: AdapterTransport
    private let isJSON: Bool
    private let foreground: ForegroundRun
    private var questions: PairingQuestions?
    private var onAnswer: (PairingAnswer) -> Void = { _ in }
    /// Identity of the paired device; nil until the bond is stored.
    private var paired: DeviceAddress?

    init(_ request: PairingRequest, through transport: AdapterTransport, isJSON: Bool) throws(CommandFailure) {
        self.request = request
        self.transport = transport
        self.isJSON = isJSON
        foreground = try ForegroundRun(transport)
    }

    /// Runs until the bond is stored or a signal arrives; returns the identity of the paired device, or throws the
    /// failure or the exit status.
    func run() throws -> DeviceAddress {
        try Process.refuseInspection()
        questions = PairingQuestions(on: foreground.loop, isJSON: isJSON, print: foreground.print) { [unowned self] in
            onAnswer($0)
        }
        if let client = ControlClient(ofDaemonUsing: transport) { try run(client) } else { try runHere() }
        guard let paired else { throw CommandFailure(.internal, CommandFaultText.searchEnded) }
        return paired
    }

    private func run(_ client: consuming ControlClient) throws {
        _ = try client.ask(.pair(request))
        let talk = try ControlTalk(client, on: foreground.loop)
        onAnswer = { talk.say($0.line) }
        talk.onLine = { [unowned self] line in
            if let event = PairingEvent(line.value) { show(event) }
        }
        talk.onEnd = { [unowned self] failure in foreground.finish(.failure(failure)) }
        foreground.onFinish = { [unowned self] completion in
            questions?.close()
            talk.close()
            completion()
        }
        try foreground.runWithoutAdapter()
    }

    private func runHere() throws {
        let paths = try DaemonPaths.current()
        let store = BondStore(paths.bonds)
        let known = try store.found()
        // Lock only an adapter that is shared through the kernel; `foreground` locks an exclusive adapter.
        let lock = transport.isShared ? AdapterLock.ofCommand() : nil
        defer { lock?.release() }
        var pairer: DevicePairer?
        foreground.onFinish = { [unowned self] completion in
            questions?.close()
            guard let pairer else { return completion() }
            pairer.onEnd = completion
            pairer.cancel()
        }
        try foreground.run { [unowned self] radio in
            guard let adapter = radio.adapter else { return }
            if let refusal = lock?.take(adapter.name), case .used = refusal {
                return foreground.finish(.failure(CommandFailure(refusal)))
            }
            let made = DevicePairer(request, keepingIn: store, known: known, ChoiceStore.all(in: paths), on: radio)
            pairer = made
            onAnswer = { [unowned made] answer in made.answer(answer) }
            made.onEvent = { [unowned self] event in show(PairingEvent(event)) }
            made.begin()
        }
    }

    private func show(_ event: PairingEvent) {
        guard foreground.outcome == nil else { return }
        switch event {
        case .listening:
            let limit = BondText.pairsFor.message("\(request.limit.components.seconds)")
            Console.note(BondText.listening.message("\(request.device)").followed(by: limit))
        case .pairing(let device): Console.note(BondText.pairing.message("\(device)"))
        case .ask(let question): questions?.ask(question)
        case .show(let passkey): questions?.show(passkey)
        case .note(let reason): Console.report(reason)
        case .paired(let bond):
            if isJSON { foreground.print(event.object.text + "\n") }
            Console.note(bond.report.message("\(bond.device)"))
            paired = bond.device
            foreground.finish(.success(.success))
        case .failed(let failure): foreground.finish(.failure(failure))
        }
    }
}
