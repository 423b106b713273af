// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// One pairing from the command line, from the adapter to the keys on the disk.
final class PairRun {
    private let foreground: ForegroundRun
    private let choice: DeviceChoice
    private let console: PairingConsole
    private let required: GATTLinkSecurity.Level
    private let limit: Duration
    private let isJSON: Bool
    private let store: BondStore
    private let choices: ChoiceStore
    private let known: BondStore.Contents
    /// The lock of an adapter that the kernel shares; that of another is the run's.
    private let lock: AdapterLock?
    private var end = Duration.zero
    private var finder: DeviceFinder?
    /// The end of the time in which a scan response may bring the device's name.
    private var nameTimer: EventLoop.Timer?
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
        let paths = try DaemonPaths.current()
        store = BondStore(paths.bonds)
        choices = ChoiceStore(paths.choice)
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
        finder.onResult = { [unowned self] result in
            guard foreground.outcome == nil else { return }
            switch result {
            case .success(let device):
                if let refusal = known.refusal(of: device.address, for: choice, on: adapter.address) {
                    return foreground.finish(.failure(refusal))
                }
                if device.name == nil { return awaitName(device, adapter) }
                stopListening(for: device, adapter)
            case .failure(let failure): foreground.finish(.failure(CommandFailure(failure, of: choice)))
            }
        }
        // A name is often in the scan response only.
        finder.isThorough = true
        finder.start(for: limit)
    }

    /// Listens on for the name under which the device is known later; a device without one is paired with all the same.
    private func awaitName(_ device: DiscoveredDevice, _ adapter: any LowEnergyAdapter) {
        finder?.goOn()
        guard nameTimer == nil else { return }
        nameTimer = foreground.loop.schedule(at: MonotonicClock.now + DeviceChooser.grace) { [unowned self] in
            nameTimer = nil
            stopListening(for: device, adapter)
        }
    }

    private func stopListening(for device: DiscoveredDevice, _ adapter: any LowEnergyAdapter) {
        if let nameTimer { foreground.loop.cancel(nameTimer) }
        nameTimer = nil
        // The kernel connects when nobody listens any more.
        finder?.stop { [unowned self] in pair(device, adapter) }
        finder = nil
    }

    // MARK: Pairing

    private func pair(_ found: DiscoveredDevice, _ adapter: any LowEnergyAdapter) {
        guard foreground.outcome == nil else { return }
        let device = found.address
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
        pairing.onNews = { [unowned self] news in take(news, found) }
        pairing.begin()
    }

    private func take(_ news: ManagedPairing.News, _ device: DiscoveredDevice) {
        guard foreground.outcome == nil else { return }
        switch news {
        case .ask(let question): questions?.ask(question)
        case .show(let passkey): questions?.show(passkey)
        case .ended(.failure(let failure)):
            isForgetting = false
            foreground.finish(.failure(CommandFailure(failure, of: device.address, within: limit)))
        case .ended(.success(let bond)): keep(bond, device)
        }
    }

    private func keep(_ bond: Bond, _ device: DiscoveredDevice) {
        do throws(BondStore.Failure) {
            try store.add(bond, name: device.name?.text)
        } catch {
            return foreground.finish(.failure(CommandFailure(error)))
        }
        isForgetting = false
        raiseChoice(bond, device.address)
        if isJSON {
            var object = JSONObject()
            object.add("event", "paired")
            object.add(membersOf: JSONObject(bond))
            foreground.print(object.text + "\n")
        }
        let text = BondText.paired(by: bond)
        Console.note(text.message("\(bond.identityAddress)"))
        foreground.finish(.success(.success))
    }

    /// Raises the kept choice of the device; a daemon demands the bond without that, as long as it is there.
    private func raiseChoice(_ bond: Bond, _ device: DeviceAddress) {
        do throws(ChoiceStore.Failure) {
            guard let raised = try choices.raise(for: bond, heardAt: device) else { return }
            Console.note(NoteText.choiceRaised.message(raised.label, raised.security.word))
        } catch {
            Console.report(CommandFailure(error))
        }
    }

    private func seconds(_ time: Duration) -> String { "\(time.components.seconds)" }

    // MARK: The end

    private func close(_ completion: @escaping () -> Void) {
        if let nameTimer { foreground.loop.cancel(nameTimer) }
        nameTimer = nil
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
