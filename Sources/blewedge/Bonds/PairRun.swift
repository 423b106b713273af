// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// One pairing from the command line: by the daemon that uses the adapter, or else by this process.
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

    /// Runs until the keys are kept or a signal comes; throws why it came to nothing, or the exit status.
    func run() throws {
        try Process.refuseInspection()
        questions = PairingQuestions(on: foreground.loop, isJSON: isJSON, print: foreground.print) { [unowned self] in
            onAnswer($0)
        }
        if let client = ControlClient(ofDaemonUsing: transport) { try run(client) } else { try runHere() }
    }

    /// Asks the daemon.
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

    /// Pairs with an adapter of this process.
    private func runHere() throws {
        let paths = try DaemonPaths.current()
        let store = BondStore(paths.bonds)
        let known = try store.found()
        // The lock of an adapter that the kernel shares; that of another is the run's.
        let lock = transport.exclusiveName == nil ? AdapterLock.ofCommand() : nil
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
            if let refusal = lock?.take(adapter.name), refusal.status == .unavailable {
                return foreground.finish(.failure(refusal))
            }
            let made = DevicePairer(request, keepingIn: store, known: known, ChoiceStore(paths.choice), on: radio)
            pairer = made
            onAnswer = { [unowned made] answer in made.answer(answer) }
            made.onEvent = { [unowned self] event in show(event) }
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
