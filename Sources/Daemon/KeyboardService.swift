// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Configuration
import Control
package import Devices
import Keystrokes
package import Link
import LinuxIO
package import SystemPackage
package import Texts
package import Typing

/// The whole wedge on an event loop: the adapter, the session with the device, and the keyboard that types for it.
package final class KeyboardService {
    package enum Event {
        /// The virtual keyboard stands; readers find it at this node.
        case keyboard(node: String?)
        case state(Session.State, device: DeviceAddress?, reason: Reason?)
        /// The keyboard is gone, and another is made: what comes meanwhile waits.
        case keyboardGone(Reason)
        /// The keyboard cannot be written to: nothing is typed any more.
        case keyboardFailed(Errno)
    }

    /// Asked before an adapter is used, by its name: why it may not be; nil where it may.
    package var refusal: ((String) -> CommandFailure?)?
    /// Asked then: whether the process that had it before has ended without giving it back.
    package var isAbandoned: (() -> Bool)?
    /// Told that an adapter can be used, that none can, and that it is lost.
    package var onAdapter: ((AdapterCore.Event) -> Void)?

    package let device: DeviceSession
    package let keyboard: VirtualKeyboard
    /// The other end than the keyboard; nil where the keyboard types.
    package var wire: OutputListener? {
        didSet { keyboard.isPatient = wire?.isPatient == true }
    }

    private let settings: KeyboardSettings
    private let core: AdapterCore
    private let looks: ClientScans
    private var pairer: DevicePairer?
    private var onPairingEnd: (() -> Void)?
    private var isStopping = false
    private var onStarted: ((Result<Void, CommandFailure>) -> Void)?

    /// Makes the virtual keyboard and its thread; nothing is scanned for yet.
    ///
    /// The adapter is not opened yet either. A `screen` shows what is typed, instead of a keyboard of the kernel.
    package init(
        _ settings: KeyboardSettings,
        through core: AdapterCore,
        screen: TextKeyboard? = nil,
        onEvent: @escaping (Event) -> Void
    ) throws(CommandFailure) {
        self.settings = settings
        self.core = core
        keyboard = try reporting { () throws(KeyboardError) in
            try VirtualKeyboard(settings.typing, on: core.loop, screen: screen) { onEvent(.keyboardFailed($0)) }
        }
        device = DeviceSession(settings, typingOn: [keyboard], on: core.radio)
        looks = ClientScans(advertisedAt: settings.advertisedAddress, on: core.radio)
        keyboard.onChange = { [unowned keyboard] change in
            switch change {
            case .gone(let error): onEvent(.keyboardGone(Reason(CommandFailure(error))))
            case .remade: onEvent(.keyboard(node: keyboard.node))
            }
        }
        onEvent(.keyboard(node: keyboard.node))
        device.onState = { state, device, reason in onEvent(.state(state, device: device, reason: reason)) }
        core.onEvent = { [unowned self] event in take(event) }
        core.radio.restartsAdapter = true
        core.isAdmitted = { [unowned self] name in admits(name) }
        core.isAbandoned = { [unowned self] in isAbandoned?() ?? false }
    }

    package func join(_ wire: TextOutput) {
        wire.join(keyboard)
        self.wire = wire.end
        // Bytes for a device that is not connected are dropped, as by a cable that is not plugged in.
        wire.end.onBytes = { [unowned self] bytes in try? device.send(bytes) }
    }

    /// Begins; `completion` is called once, with the reason if the adapter cannot be used.
    ///
    /// It is looked for further, until `stop`.
    package func start(completion: @escaping (Result<Void, CommandFailure>) -> Void) {
        onStarted = completion
        core.start()
    }

    /// Closes the link, drops and counts what waits (D-1), and calls `completion` when all is quiet.
    package func stop(completion: @escaping () -> Void) {
        guard !isStopping else { return }
        isStopping = true
        core.stop()
        looks.end()
        device.beginStop()
        endPairing { [unowned self] in
            device.stop { [unowned self] in
                keyboard.stop { [unowned self] in core.release(completion: completion) }
            }
        }
    }

    // MARK: The keyboard

    package func press(_ sequence: KeySequence) throws(CommandFailure) {
        guard keyboard.press(sequence.bytes) else { throw .keysWait }
    }

    package var keypad: Keypad? { settings.typing.keypad }

    /// The byte that ends a barcode here: CR, or a terminator of scan mode's; nil where only a silence ends one.
    var barcodeEnd: UInt8? { settings.typing.barcodes.map { $0.terminator } ?? 0x0D }

    /// How a device is chosen for which that security is asked for.
    package func security(asked: GATTLinkSecurity.Level?) -> SecurityPolicy {
        SecurityPolicy(asked, least: settings.security)
    }

    package var counts: Counts {
        var counts = Counts()
        counts.values = device.values
        counts.keyboardRemakes = keyboard.remakes
        counts.bytes = keyboard.bytes
        counts.check = keyboard.check
        counts.wire = wire?.counts
        return counts
    }

    // MARK: The adapter

    package var radioCounts: RadioCounts { core.radio.counts }

    package var adapter: (any LowEnergyAdapter)? { core.adapter }

    private func admits(_ adapter: String) -> Bool {
        guard !isStopping, let refusal = refusal?(adapter) else { return true }
        // Who does not wait for the adapter ends with this, and says nothing of waiting.
        started(.failure(refusal))
        device.adapterRefused(refusal)
        return false
    }

    private func take(_ event: AdapterCore.Event) {
        guard !isStopping else { return started(.success(())) }
        switch event {
        case .ready:
            device.adapterReady()
            started(.success(()))
        case .failed(let error):
            started(.failure(CommandFailure(error)))
            device.adapterFailed(error)
        case .lost(let loss): device.adapterLost(loss)
        }
        onAdapter?(event)
    }

    private func started(_ result: Result<Void, CommandFailure>) {
        let completion = onStarted
        onStarted = nil
        completion?(result)
    }

    // MARK: Looking for clients

    /// Listens to all devices for a while; `completion` gets those that were heard in the last minute, or with `isAnew` since
    /// the look began, the strongest first.
    ///
    /// The chosen device is listened for meanwhile.
    package func survey(
        for duration: Duration,
        isAnew: Bool = false,
        completion: @escaping (Result<[DiscoveredDevice], CommandFailure>) -> Void
    ) {
        if let refusal = refusalOfLook { return completion(.failure(refusal)) }
        looks.survey(for: duration, isAnew: isAnew, completion: completion)
    }

    /// Listens for a device that is to be chosen, as long as `limit`, and answers it as it is to be kept and as it was heard.
    package func find(
        _ choice: DeviceSelector,
        for limit: Duration,
        completion: @escaping (Result<(kept: SelectedDevice, heard: DeviceAddress), CommandFailure>) -> Void
    ) {
        if let refusal = refusalOfLook { return completion(.failure(refusal)) }
        looks.find(choice, for: limit, completion: completion)
    }

    private var refusalOfLook: CommandFailure? {
        if core.adapter == nil { return CommandFailure(.unavailable, AdapterFaultText.nothingToListenWith) }
        if pairer != nil { return CommandFailure(.timeout, BondFaultText.busy) }
        if looks.isBusy { return CommandFailure(.timeout, AdapterFaultText.scannedAlready) }
        return device.isAttempting ? CommandFailure(.timeout, AdapterFaultText.busy) : nil
    }

    // MARK: Pairing beside the typing (D-9)

    /// Makes a pairing, which begins with `begin`; until its end no link is begun, and no other pairing is made.
    ///
    /// Throws without an adapter, during another pairing, and for a device that is connected and paired already.
    package func pair(
        _ request: PairingRequest,
        keepingIn store: BondStore,
        _ choices: ChoiceStore
    ) throws(CommandFailure) -> DevicePairer {
        if pairer != nil { throw CommandFailure(.timeout, BondFaultText.busy) }
        guard let adapter = core.adapter?.address else {
            throw CommandFailure(.unavailable, AdapterFaultText.nothingToListenWith)
        }
        let known = try reporting(store.read)
        if let linked = device.linked(request.device, known),
            let refusal = known.refusal(of: linked, for: request.device, on: adapter)
        {
            throw CommandFailure(refusal)
        }
        let pairer = DevicePairer(request, keepingIn: store, known: known, choices, on: core.radio)
        self.pairer = pairer
        pairer.clearWay = { [unowned self] heard, proceed in
            device.pairingBegins(with: heard ?? device.linked(request.device, known), proceed)
        }
        pairer.onEnd = { [unowned self] in pairingEnded() }
        return pairer
    }

    private func pairingEnded() {
        pairer = nil
        device.pairingEnds()
        let waiting = onPairingEnd
        onPairingEnd = nil
        waiting?()
    }

    /// Calls off a pairing; `completion` is called when there is none any more.
    private func endPairing(completion: @escaping () -> Void) {
        guard let pairer else { return completion() }
        onPairingEnd = completion
        pairer.cancel()
    }
}
