// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
package import BluetoothHost
package import BluetoothPackets
package import Configuration
import Control
package import Devices
import Keystrokes
package import Link
import LinuxIO
package import SystemPackage
package import Texts
package import Typing

/// Complete keyboard wedge on an event loop: the adapter, the session with the device, and the keyboard that types its
/// data.
package final class KeyboardService {
    package enum Event {
        /// The virtual keyboard is ready; applications can open it at this node.
        case keyboard(node: String?)
        case state(Session.State, device: DeviceAddress?, reason: Reason?)
        /// The keyboard was removed and is being recreated; received bytes wait until then.
        case keyboardGone(Reason)
        /// The keyboard cannot be written to, so nothing more is typed.
        case keyboardFailed(Errno)
    }

    /// Function that is called with an adapter's name before the adapter is used.
    ///
    /// It returns a reason for refusing the adapter, or nil to use it.
    package var refusal: ((String) -> CommandFailure?)?
    /// Function that is called after `refusal`; returns true if the adapter's last process ended without releasing it.
    package var isAbandoned: (() -> Bool)?
    /// Handler for adapter events: ready, failed and lost.
    package var onAdapter: ((AdapterCore.Event) -> Void)?

    package let device: DeviceSession
    /// Typist of the first output, which is the keyboard if the settings have one.
    ///
    /// It also types the keys requested by clients.
    package let keyboard: VirtualKeyboard
    /// All outputs; each has its own typist, queues and counts, so that no output waits for another.
    package let outputs: [ServiceOutput]

    private let settings: KeyboardSettings
    private let core: AdapterCore
    private let looks: ClientScans
    private var pairer: DevicePairer?
    private var onPairingEnd: (() -> Void)?
    /// The next step of a pairing that waits while the adapter is being opened.
    private var onAdapterSettled: (() -> Void)?
    private var isStopping = false
    private var onStarted: ((Result<Void, CommandFailure>) -> Void)?

    /// Creates the virtual keyboard and the other outputs, each with its thread.
    ///
    /// The adapter is neither opened nor used for scanning yet. A `screen` shows the typed text instead of a kernel
    /// keyboard. If the settings have no keyboard, `texts` must not be empty.
    package init(
        _ settings: KeyboardSettings,
        through core: AdapterCore,
        screen: TextKeyboard? = nil,
        texts: [TextOutput] = [],
        onEvent: @escaping (Event) -> Void
    ) throws(CommandFailure) {
        self.settings = settings
        self.core = core
        let make = { (typing: TypingSettings, screen: TextKeyboard?) throws(CommandFailure) in
            try reporting { () throws(KeyboardError) in
                try VirtualKeyboard(typing, on: core.loop, screen: screen) { onEvent(.keyboardFailed($0)) }
            }
        }
        let first = settings.hasKeyboard ? nil : texts.first
        keyboard = try make(settings.typing, screen ?? first?.screen)
        var outputs = [ServiceOutput(keyboard: keyboard, text: first)]
        for text in texts.dropFirst(first == nil ? 0 : 1) {
            outputs.append(ServiceOutput(keyboard: try make(settings.textTyping, text.screen), text: text))
        }
        self.outputs = outputs
        device = DeviceSession(settings, typingOn: outputs.map(\.keyboard), on: core.radio)
        looks = ClientScans(advertisedAt: settings.advertisedAddress, for: settings.profiles, on: core.radio)
        for output in outputs {
            output.text?.join(output.keyboard)
            // Bytes for a device that is not connected are dropped, as with an unplugged cable.
            output.text?.listener?.onBytes = { [unowned self] bytes in try? device.send(bytes) }
        }
        keyboard.onChange = { [unowned keyboard] change in
            switch change {
            case .gone(let error): onEvent(.keyboardGone(Reason(CommandFailure(error))))
            case .remade: onEvent(.keyboard(node: keyboard.node))
            }
        }
        onEvent(.keyboard(node: keyboard.node))
        device.onState = { state, device, reason in onEvent(.state(state, device: device, reason: reason)) }
        core.onEvent = { [unowned self] event in
            take(event)
            adapterSettled()
        }
        looks.obstacle = { [unowned self] in obstacle }
        device.onAttemptEnd = { [unowned self] in looks.proceed() }
        core.radio.restartsAdapter = true
        core.isAdmitted = { [unowned self] name in admits(name) }
        core.isAbandoned = { [unowned self] in isAbandoned?() ?? false }
    }

    /// Starts the service; calls `completion` once, with the failure if the adapter cannot be used.
    ///
    /// After a failure, the service continues to look for a usable adapter until `stop`.
    package func start(completion: @escaping (Result<Void, CommandFailure>) -> Void) {
        onStarted = completion
        core.start()
    }

    /// Closes the link, drops and counts the waiting bytes (D-1), and calls `completion` when everything has stopped.
    package func stop(completion: @escaping () -> Void) {
        guard !isStopping else { return }
        isStopping = true
        core.stop()
        looks.end()
        device.beginStop()
        endPairing { [unowned self] in
            device.stop { [unowned self] in
                stop(outputs[...]) { [unowned self] in core.release(completion: completion) }
            }
        }
    }

    private func stop(_ outputs: ArraySlice<ServiceOutput>, completion: @escaping () -> Void) {
        guard let first = outputs.first else { return completion() }
        first.keyboard.stop { [unowned self] in stop(outputs.dropFirst(), completion: completion) }
    }

    // MARK: The outputs

    /// Opens or closes the gate of all outputs that have a gate.
    package func setGate(open isOpen: Bool) {
        for output in outputs where output.keyboard.isGated { output.keyboard.isGateOpen = isOpen }
    }

    /// True if the threads of all outputs have run since the last `ping`.
    package var hasAnswered: Bool { outputs.allSatisfy(\.keyboard.hasAnswered) }

    package func ping() { for output in outputs { output.keyboard.ping() } }

    package func press(_ sequence: KeySequence) throws(CommandFailure) {
        guard keyboard.press(sequence.bytes) else { throw .keysWait }
    }

    package var keypad: Keypad? { settings.typing.keypad }

    /// Byte that ends a barcode: CR, or a terminator of scan mode; nil if only a silence ends a barcode.
    var barcodeEnd: UInt8? { settings.typing.barcodes.map { $0.terminator } ?? 0x0D }

    /// Returns the security policy for selecting a device with the requested level.
    package func security(asked: GATTLinkSecurity.Level?) -> SecurityPolicy {
        SecurityPolicy(asked, least: settings.security)
    }

    package var counts: Counts {
        var counts = Counts()
        counts.values = device.values
        counts.numbers = device.numbers
        counts.keyboardRemakes = keyboard.remakes
        counts.bytes = keyboard.bytes
        counts.check = keyboard.check
        counts.wire = outputs.first?.text.map { $0.listener?.counts ?? OutputCounts(readers: [], missedByGone: 0) }
        if outputs.count > 1 { counts.outputs = outputs.map(\.account) }
        return counts
    }

    // MARK: The adapter

    package var radioCounts: RadioCounts { core.radio.counts }

    package var adapter: (any LowEnergyAdapter)? { core.adapter }

    private func admits(_ adapter: String) -> Bool {
        guard !isStopping, let refusal = refusal?(adapter) else { return true }
        // Report the failure first: a run that does not wait for an adapter ends here, without a message about waiting.
        started(.failure(refusal))
        device.adapterRefused(refusal)
        adapterSettled()
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

    /// Resumes the scan and the pairing that wait for the adapter, if it is no longer being opened.
    private func adapterSettled() {
        looks.proceed()
        guard !core.isOpening, let proceed = onAdapterSettled else { return }
        onAdapterSettled = nil
        proceed()
    }

    private func started(_ result: Result<Void, CommandFailure>) {
        let completion = onStarted
        onStarted = nil
        completion?(result)
    }

    // MARK: Scans for clients

    /// Scans for all devices; `completion` receives the devices heard in the last minute, strongest signal first.
    ///
    /// With `isAnew`, it receives only those heard since the scan began. The session continues to listen for the
    /// selected device.
    package func survey(
        for duration: Duration,
        isAnew: Bool = false,
        completion: @escaping (Result<[DiscoveredDevice], CommandFailure>) -> Void
    ) {
        looks.survey(for: duration, isAnew: isAnew, completion: completion)
    }

    /// Scans for a device to be selected, for at most `limit`.
    ///
    /// `completion` receives the device in the form in which it is saved, the address at which it was heard, and
    /// whether it is a keyboard.
    package func find(
        _ choice: DeviceSelector,
        for limit: Duration,
        completion: @escaping (Result<FoundDevice, CommandFailure>) -> Void
    ) {
        looks.find(choice, for: limit, completion: completion)
    }

    /// Obstacle to a scan for a client; nil if a scan may start.
    private var obstacle: ClientScans.Obstacle? {
        if pairer != nil { return .lasting(CommandFailure(.timeout, BondFaultText.busy)) }
        if core.adapter == nil {
            let absence = CommandFailure(.unavailable, AdapterFaultText.nothingToListenWith)
            return core.isOpening ? .passing(absence) : .lasting(absence)
        }
        return device.isAttempting ? .passing(CommandFailure(.timeout, AdapterFaultText.busy)) : nil
    }

    // MARK: Pairing while typing (D-9)

    /// Creates a pairing, which starts when its method `begin` is called.
    ///
    /// It waits while the adapter is being opened. Until it ends, no link is started and no other pairing is created.
    /// Throws an error if there is no adapter, if another pairing is in progress, or if the device is connected and
    /// already paired.
    package func pair(
        _ request: PairingRequest,
        keepingIn store: BondStore,
        _ choices: ChoiceStore
    ) throws(CommandFailure) -> DevicePairer {
        if pairer != nil { throw CommandFailure(.timeout, BondFaultText.busy) }
        guard core.adapter != nil || core.isOpening else {
            throw CommandFailure(.unavailable, AdapterFaultText.nothingToListenWith)
        }
        let known = try reporting(store.read)
        if let adapter = core.adapter?.address, let linked = device.linked(request.device, known),
            let refusal = known.refusal(of: linked, for: request.device, on: adapter)
        {
            throw CommandFailure(refusal)
        }
        let pairer = DevicePairer(request, keepingIn: store, known: known, choices, on: core.radio)
        self.pairer = pairer
        pairer.clearWay = { [unowned self] heard, proceed in
            device.pairingBegins(with: heard ?? device.linked(request.device, known)) { [unowned self] in
                onAdapterSettled = proceed
                adapterSettled()
            }
        }
        pairer.onEnd = { [unowned self] in pairingEnded() }
        return pairer
    }

    private func pairingEnded() {
        pairer = nil
        onAdapterSettled = nil
        device.pairingEnds()
        let waiting = onPairingEnd
        onPairingEnd = nil
        waiting?()
    }

    /// Cancels the pairing; calls `completion` when no pairing is in progress.
    private func endPairing(completion: @escaping () -> Void) {
        guard let pairer else { return completion() }
        onPairingEnd = completion
        pairer.cancel()
    }
}
