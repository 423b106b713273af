// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
import SystemPackage
import Texts
import Wedge

/// One pairing from the command line, from the adapter to the keys on the disk.
final class PairRun {
    private let foreground: ForegroundRun
    private let choice: DeviceChoice
    private let console: PairingConsole
    private let required: GATTLinkSecurity.Level
    private let limit: Duration
    private let isJSON: Bool
    private let store: BondStore
    private let known: BondStore.Contents
    /// The lock of an adapter that the kernel shares; that of another is the run's.
    private let lock: AdapterLock?
    private var end = Duration.zero
    private var finder: DeviceFinder?
    private var pairing: (any DevicePairing)?
    private var questions: PairingQuestions?
    /// True where nothing is to be left of the device below this process.
    private var isForgetting = true

    init(
        _ choice: DeviceChoice,
        through transport: AdapterTransport,
        console: PairingConsole,
        required: GATTLinkSecurity.Level,
        limit: Duration,
        isJSON: Bool
    ) throws(CommandFailure) {
        store = BondStore(try DaemonPaths.current().bonds)
        known = try store.found()
        foreground = try ForegroundRun(transport)
        lock = transport.exclusiveName == nil ? AdapterLock.ofCommand() : nil
        self.choice = choice
        self.console = console
        self.required = required
        self.limit = limit
        self.isJSON = isJSON
        foreground.onFinish = { [unowned self] completion in close(completion) }
    }

    /// Runs until the keys are kept or a signal comes; throws why it came to nothing, or the exit status.
    func run() throws {
        defer { lock?.release() }
        try Process.refuseInspection()
        try foreground.run { [unowned self] radio in find(on: radio) }
    }

    // MARK: Finding the device

    private func find(on radio: RadioArbiter) {
        guard let adapter = radio.adapter else { return }
        guard adapter.keepsAddress else {
            return foreground.finish(.failure(CommandFailure(.unavailable, BondFaultText.noAddress, adapter.name)))
        }
        if let refusal = lock?.take(adapter.name), refusal.status == .unavailable {
            let remedy = BondText.stopFirst.message()
            return foreground.finish(.failure(CommandFailure(.unavailable, refusal.cause, remedy: remedy)))
        }
        end = MonotonicClock.now + limit
        Console.note(BondText.listening.message("\(choice)").followed(by: BondText.pairsFor.message(seconds(limit))))
        let finder = DeviceFinder(choice, advertisedAt: nil, on: radio)
        self.finder = finder
        finder.onOutcome = { [unowned self, unowned finder] outcome in
            guard foreground.outcome == nil else { return }
            switch outcome {
            case .found(let device):
                // The kernel connects when nobody listens any more.
                finder.stop { [unowned self] in pair(device.address, adapter) }
                self.finder = nil
            case .several(let devices): foreground.finish(.failure(.severalHeard(choice, devices)))
            case .notHeard: foreground.finish(.failure(.notHeard(choice, within: limit)))
            case .failed(let error): foreground.finish(.failure(CommandFailure(error)))
            }
        }
        finder.start(for: limit)
    }

    // MARK: Pairing

    private func pair(_ device: DeviceAddress, _ adapter: any LowEnergyAdapter) {
        guard foreground.outcome == nil else { return }
        if let bond = known.bond(with: device, on: adapter.address) {
            return foreground.finish(.failure(CommandFailure(BondStore.Failure.known(bond.identityAddress))))
        }
        Console.note(BondText.pairing.message("\(device)"))
        let rest = max(end - MonotonicClock.now, .seconds(1))
        let pairing = adapter.makePairing(PairingWish(device, console.capability, required: required, limit: rest))
        self.pairing = pairing
        questions = PairingQuestions(on: foreground.loop, isJSON: isJSON, print: foreground.print) { answer in
            switch answer {
            case .same(let isSame): pairing.answer(isSame)
            case .passkey(let passkey): pairing.answer(passkey: passkey)
            }
        }
        pairing.onNews = { [unowned self] news in take(news, device) }
        pairing.begin()
    }

    private func take(_ news: ManagedPairing.News, _ device: DeviceAddress) {
        guard foreground.outcome == nil else { return }
        switch news {
        case .ask(let question): questions?.ask(question)
        case .show(let passkey): questions?.show(passkey)
        case .ended(.failure(let failure)):
            isForgetting = false
            foreground.finish(.failure(CommandFailure(failure, of: device, within: limit)))
        case .ended(.success(let bond)): keep(bond)
        }
    }

    private func keep(_ bond: Bond) {
        do throws(BondStore.Failure) {
            try store.add(bond)
        } catch {
            return foreground.finish(.failure(CommandFailure(error)))
        }
        isForgetting = false
        if isJSON {
            var object = JSONObject()
            object.add("event", "paired")
            object.add(membersOf: JSONObject(bond))
            foreground.print(object.text + "\n")
        }
        let text: BondText = bond.security.level == .authenticated ? .paired : .pairedOpenly
        Console.note(text.message("\(bond.identityAddress)"))
        foreground.finish(.success(.success))
    }

    private func seconds(_ time: Duration) -> String { "\(time.components.seconds)" }

    // MARK: The end

    private func close(_ completion: @escaping () -> Void) {
        questions?.close()
        if let pairing {
            self.pairing = nil
            pairing.close(forgetting: isForgetting, completion: completion)
        } else if let finder {
            finder.stop(completion: completion)
        } else {
            completion()
        }
    }
}
