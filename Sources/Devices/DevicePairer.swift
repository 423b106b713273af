// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
package import BluetoothHost
package import BluetoothPackets
import LinuxIO

/// The reason why a pairing produced no keys.
package enum PairingError: Error {
    case noAdapter
    /// The adapter with this name changes its address each time it starts.
    case noAddress(adapter: String)
    case notFound(DeviceSelector, DeviceFinder.Failure)
    /// Another device with this name is already paired.
    case nameKnown(String, paired: BluetoothAddress, heard: BluetoothAddress)
    case adapterLost(AdapterLoss)
    case failed(ManagedPairing.Failure, DeviceAddress, within: Duration)
    case notKept(BondStore.Failure)
}

/// Pairs with a device, from its first advertisement until its keys are stored.
///
/// It is used by a command and by the daemon.
package final class DevicePairer {
    package enum Event {
        case listening
        case pairing(DeviceAddress)
        case ask(ManagedPairing.Question)
        /// Passkey that the user must enter on the other device.
        case show(UInt32)
        /// The security of the selected device was raised to that of the bond, or raising it has failed.
        case raised(Result<SelectedDevice, ChoiceStore.Failure>)
        case paired(Bond)
        case failed(PairingError)
    }

    /// Handler that is called for each step; after the last step, everything except the bond has been cleaned up.
    package var onEvent: ((Event) -> Void)?
    package var onEnd: (() -> Void)?
    /// Handler that is called if the new bond has raised the security of a selected device, with the file of the selection.
    package var onRaised: ((ChoiceStore, SelectedDevice) -> Void)?
    /// Function that frees the radio and then calls its second argument.
    ///
    /// The first argument is nil before the scan, and the device before pairing.
    package var clearWay: (DeviceAddress?, @escaping () -> Void) -> Void = { _, proceed in proceed() }

    private let request: PairingRequest
    private let radio: RadioArbiter
    private let bonds: BondStore
    private let known: BondStore.Contents
    private let choices: [ChoiceStore]
    private let finder: DeviceFinder
    private var end = Duration.zero
    /// Timer that limits the wait for the scan response with the device's name.
    private let nameTimer = LoopTimer()
    private var pairing: RadioPairing?
    package private(set) var question: ManagedPairing.Question?
    /// True if the device's keys must be removed from the kernel or the host stack at the end.
    private var isForgetting = true
    private var isOver = false

    /// Creates a pairing, which `begin` starts; a device that has a bond in `known` is rejected.
    package init(
        _ request: PairingRequest,
        keepingIn bonds: BondStore,
        known: BondStore.Contents,
        _ choices: [ChoiceStore],
        on radio: RadioArbiter
    ) {
        self.request = request
        self.radio = radio
        self.bonds = bonds
        self.known = known
        self.choices = choices
        finder = DeviceFinder(request.device, advertisedAt: nil, on: radio)
        // A name is often only in the scan response.
        finder.isThorough = true
        finder.onResult = { [unowned self] result in take(result) }
    }

    package func begin() { clearWay(nil) { [weak self] in self?.listen() } }

    private func listen() {
        guard !isOver else { return }
        guard let adapter = radio.adapter else {
            return fail(.noAdapter)
        }
        guard adapter.keepsAddress else {
            return fail(.noAddress(adapter: adapter.name))
        }
        end = MonotonicClock.now + request.limit
        onEvent?(.listening)
        finder.start(for: request.limit)
    }

    package func answer(_ answer: PairingAnswer) {
        guard question != nil else { return }
        question = nil
        switch answer {
        case .same(let isSame): pairing?.answer(isSame)
        case .passkey(let passkey): pairing?.answer(passkey: passkey)
        }
    }

    /// Cancels the pairing without another event; `onEnd` is still called, unless it has been called already.
    package func cancel() { finish(nil) }

    // MARK: Finding the device

    private func take(_ result: Result<DiscoveredDevice, DeviceFinder.Failure>) {
        guard !isOver else { return }
        switch result {
        case .success(let device):
            guard let adapter = radio.adapter else { return }
            if let refusal = known.refusal(of: device.address, for: request.device, on: adapter.address) {
                return fail(refusal)
            }
            if device.name == nil { return awaitName(device) }
            stopListening(for: device)
        case .failure(let failure): fail(.notFound(request.device, failure))
        }
    }

    /// Continues to scan for the device's name; a device without a name is paired anyway.
    private func awaitName(_ device: DiscoveredDevice) {
        finder.goOn()
        guard !nameTimer.isSet else { return }
        nameTimer.set(on: radio.loop, after: CandidateMatcher.grace) { [unowned self] in stopListening(for: device) }
    }

    private func stopListening(for device: DiscoveredDevice) {
        nameTimer.cancel()
        finder.stop()
        clearWay(device.address) { [weak self] in self?.pair(device) }
    }

    // MARK: Pairing

    private func pair(_ device: DiscoveredDevice) {
        guard !isOver else { return }
        onEvent?(.pairing(device.address))
        let wish = PairingOptions(
            device.address,
            request.console.capability,
            required: request.required,
            limit: max(end - MonotonicClock.now, .seconds(1))
        )
        let pairing = RadioPairing(wish)
        self.pairing = pairing
        pairing.onNews = { [unowned self] news in take(news, device) }
        pairing.onLoss = { [unowned self] loss in fail(.adapterLost(loss)) }
        radio.start(pairing)
    }

    private func take(_ news: ManagedPairing.News, _ device: DiscoveredDevice) {
        switch news {
        case .ask(let asked):
            question = asked
            onEvent?(.ask(asked))
        case .show(let passkey): onEvent?(.show(passkey))
        case .ended(.failure(let failure)):
            isForgetting = false
            fail(.failed(failure, device.address, within: request.limit))
        case .ended(.success(let bond)): keep(bond, device)
        }
    }

    private func keep(_ bond: Bond, _ device: DiscoveredDevice) {
        do throws(BondStore.Failure) {
            try bonds.add(bond, name: device.name?.text)
        } catch {
            return fail(.notKept(error))
        }
        isForgetting = false
        for store in choices {
            do throws(ChoiceStore.Failure) {
                guard let raised = try store.raise(for: bond, heardAt: device.address) else { continue }
                onEvent?(.raised(.success(raised)))
                onRaised?(store, raised)
            } catch {
                onEvent?(.raised(.failure(error)))
            }
        }
        finish(.paired(bond))
    }

    // MARK: Ending

    private func fail(_ error: PairingError) { finish(.failed(error)) }

    private func finish(_ last: Event?) {
        guard !isOver else { return }
        isOver = true
        question = nil
        nameTimer.cancel()
        let ended = { [self] in
            if let last { onEvent?(last) }
            onEnd?()
        }
        if let pairing {
            radio.end(pairing, forgetting: isForgetting, completion: ended)
        } else {
            finder.stop(completion: ended)
        }
    }
}
