// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothAdapters
import BluetoothHost
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
        "What the keys must give: authenticated takes no device that cannot say or show a number, or knows legacy pairing only.",
        value: PairingSecurity.allCases.map(\.rawValue).joined(separator: "|")
    )
    var security = PairingSecurity.encrypted

    @Option(
        "What the person here can do (default: keyboard-display on a terminal, else none). Answers are lines on standard input.",
        value: PairingConsole.allCases.map(\.rawValue).joined(separator: "|")
    )
    var console: PairingConsole?

    @Option("Give up after this time.", value: "time")
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
        guard let choice = DeviceSelector(device) else { throw CommandFailure(.usage, CommandFaultText.incomplete) }
        let isTerminal = StandardInput.isTerminal && StandardStream.error.isTerminal
        var request = PairingRequest(choice)
        request.console = console ?? (isTerminal ? .keyboardDisplay : .none)
        request.required = security.level
        request.limit = seconds.duration
        try PairRun(request, through: adapterOptions.transport, isJSON: json).run()
    }
}

/// One pairing from the command line, by the daemon that uses the adapter, or else by this process.
final class PairRun {
    private let request: PairingRequest
    private let transport: AdapterTransport
    private let isJSON: Bool
    private let foreground: ForegroundRun
    private var questions: PairingQuestions?
    private var onAnswer: (PairingAnswer) -> Void = { _ in }

    init(_ request: PairingRequest, through transport: AdapterTransport, isJSON: Bool) throws(CommandFailure) {
        self.request = request
        self.transport = transport
        self.isJSON = isJSON
        foreground = try ForegroundRun(transport)
    }

    /// Runs until the bond is saved or a signal arrives; throws the failure, or the exit status.
    func run() throws {
        try Process.refuseInspection()
        questions = PairingQuestions(on: foreground.loop, isJSON: isJSON, print: foreground.print) { [unowned self] in
            onAnswer($0)
        }
        if let client = ControlClient(ofDaemonUsing: transport) { try run(client) } else { try runHere() }
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
        // Lock of an adapter that the kernel shares; `foreground` locks an exclusive adapter.
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
            let made = DevicePairer(request, keepingIn: store, known: known, ChoiceStore(paths.choice), on: radio)
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
            foreground.finish(.success(.success))
        case .failed(let failure): foreground.finish(.failure(failure))
        }
    }
}
