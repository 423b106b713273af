// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import Texts

/// The keys of a simulated module: those that are kept, and those of one central that pairs while it may (CB-27, X-8).
///
/// To be used on the loop's thread.
final class SimulatedPairing {
    private let foreground: ForegroundRun
    private let offer: PairingOffer
    /// False where kept keys are used, and nobody pairs.
    private let isPairable: Bool
    private let isJSON: Bool
    private let store: BondStore
    private let known: BondStore.Contents
    /// The lock of an adapter that the kernel shares; that of another is the run's.
    private let lock: AdapterLock?
    private var adapter: DeviceAddress?
    private var window: (any PairingWindow)?
    private var questions: PairingQuestions?

    /// The kept keys, and with a limit a window in which a central may pair.
    init(
        _ foreground: ForegroundRun,
        through transport: AdapterTransport,
        console: PairingConsole,
        required: GATTLinkSecurity.Level,
        limit: Duration?,
        isJSON: Bool
    ) throws(CommandFailure) {
        self.foreground = foreground
        offer = PairingOffer(console.capability, required: max(required, .encrypted), limit: limit ?? .zero)
        isPairable = limit != nil
        self.isJSON = isJSON
        store = BondStore(try DaemonPaths.current().bonds)
        known = try store.found()
        lock = transport.exclusiveName == nil ? AdapterLock.ofCommand() : nil
    }

    /// Has the adapter know the keys; throws for one that cannot be paired with.
    func prepare(_ adapter: any LowEnergyAdapter) throws(CommandFailure) {
        guard adapter.keepsAddress else {
            throw CommandFailure(.unavailable, BondFaultText.noAddress, adapter.name)
        }
        if let refusal = lock?.take(adapter.name), refusal.status == .unavailable { throw refusal }
        adapter.use(known.bonds)
        self.adapter = DeviceAddress(adapter.address, .public)
        if isPairable { window = adapter.makePairingWindow(offer) }
    }

    /// Lets a central pair from now on, where that is wanted.
    func begin() {
        guard let window, foreground.outcome == nil else { return }
        questions = PairingQuestions(on: foreground.loop, isJSON: isJSON, print: foreground.print) { answer in
            switch answer {
            case .same(let isSame): window.answer(isSame)
            case .passkey(let passkey): window.answer(passkey: passkey)
            }
        }
        window.onNews = { [unowned self] news in take(news) }
        tell("pairable", BondText.pairable.message(seconds))
        window.open()
    }

    private var seconds: String { "\(offer.limit.components.seconds)" }

    private func take(_ news: PairingWindowNews) {
        guard foreground.outcome == nil else { return }
        switch news {
        case .ask(let question, _): questions?.ask(question)
        case .show(let passkey, _): questions?.show(passkey)
        case .failed(let device, let failure):
            questions?.settle()
            let cause = CommandFailure(failure, of: device, within: offer.limit).cause
            tell("pairingFailed", BondText.notPaired.message("\(device)", cause), device)
        case .refused(let opcode, let status):
            end()
            guard let adapter else { return }
            let failure = ManagedPairing.Failure.refused(opcode, status)
            foreground.finish(.failure(CommandFailure(failure, of: adapter, within: offer.limit)))
        case .ended(nil):
            end()
            tell("pairingClosed", BondText.pairableOver.message())
        case .ended(let bond?):
            end()
            keep(bond)
        }
    }

    private func keep(_ bond: Bond) {
        do throws(BondStore.Failure) {
            try store.add(bond)
        } catch {
            return foreground.finish(.failure(CommandFailure(error)))
        }
        let facts = BondFacts(bond)
        guard isJSON else { return Console.note(facts.report.message("\(facts.device)")) }
        foreground.print(PairingEvent.paired(facts).object.text + "\n")
    }

    /// Tells what happens: programs as a JSON line, people on standard error.
    private func tell(_ event: String, _ sentence: Message, _ device: DeviceAddress? = nil) {
        guard isJSON else { return Console.note(sentence) }
        var object = JSONObject()
        object.add("event", event)
        object.add("address", device.map { "\($0.address)" })
        object.add("addressType", device.map { "\($0.type)" })
        foreground.print(object.text + "\n")
    }

    private func end() {
        questions?.close()
        questions = nil
    }

    /// Lets go of the adapter, after the run.
    func release() { lock?.release() }

    /// Lets nobody pair any more.
    func close() {
        end()
        window?.close()
        window = nil
    }
}
