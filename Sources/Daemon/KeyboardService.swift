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

/// Complete keyboard wedge on an event loop: the adapter, the sessions with the devices, and the keyboards that type
/// their data.
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

    /// All devices, at least one; they share the radio, one connection attempt after another.
    package let devices: [ServiceDevice]

    private let core: AdapterCore
    private let looks: ClientScans
    private var pairer: DevicePairer?
    private var onPairingEnd: (() -> Void)?
    /// The next step of a pairing that waits while the adapter is being opened.
    private var onAdapterSettled: (() -> Void)?
    private var isStopping = false
    private var onStarted: ((Result<Void, CommandFailure>) -> Void)?

    /// Creates the virtual keyboards and the other outputs, each with its thread.
    ///
    /// The adapter is neither opened nor used for scanning yet. A `screen` shows the typed text instead of
    /// the kernel keyboard of the first device, or of those that share one. If the settings of a device have no keyboard, its `texts` must not be empty.
    package init(
        _ plans: [DevicePlan],
        through core: AdapterCore,
        screen: TextKeyboard? = nil,
        onEvent: @escaping (Event, ServiceDevice) -> Void
    ) throws(CommandFailure) {
        self.core = core
        let maker = try OutputMaker(plans, on: core.loop, screen: screen)
        var devices: [ServiceDevice] = []
        for plan in plans { devices.append(try maker.device(plan, on: core.radio)) }
        self.devices = devices
        let profiles = plans.flatMap(\.settings.profiles)
        looks = ClientScans(advertisedAt: plans[0].settings.advertisedAddress, for: profiles, on: core.radio)
        maker.onFailure = { [weak self] error, name in
            if let device = self?.devices.first(where: { $0.name == name }) { onEvent(.keyboardFailed(error), device) }
        }
        for device in devices {
            device.keyboard.onChange = { [unowned self, unowned device] change in
                switch change {
                case .gone(let error): onEvent(.keyboardGone(Reason(CommandFailure(error))), device)
                case .remade:
                    for other in self.devices where other !== device { other.keyboard.followReplacement() }
                    onEvent(.keyboard(node: device.keyboard.node), device)
                }
            }
            onEvent(.keyboard(node: device.keyboard.node), device)
            device.session.onState = { [unowned device] state, address, reason in
                onEvent(.state(state, device: address, reason: reason), device)
            }
            device.session.onAttemptEnd = { [unowned self] in looks.proceed() }
        }
        core.onEvent = { [unowned self] event in
            take(event)
            adapterSettled()
        }
        looks.obstacle = { [unowned self] in obstacle }
        core.radio.restartsAdapter = true
        core.isAdmitted = { [unowned self] name in admits(name) }
        core.isAbandoned = { [unowned self] in isAbandoned?() ?? false }
    }

    /// Creates a service for one device.
    package convenience init(
        _ settings: KeyboardSettings,
        through core: AdapterCore,
        screen: TextKeyboard? = nil,
        texts: [TextOutput] = [],
        onEvent: @escaping (Event) -> Void
    ) throws(CommandFailure) {
        let plan = DevicePlan(settings, texts: texts)
        try self.init([plan], through: core, screen: screen) { event, _ in onEvent(event) }
    }

    /// Session with the first device.
    package var device: DeviceSession { devices[0].session }

    /// Typist of the first device's first output; it also types the keys requested by clients.
    package var keyboard: VirtualKeyboard { devices[0].keyboard }

    /// Outputs of all devices.
    package var outputs: [ServiceOutput] { devices.flatMap(\.outputs) }

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
        for device in devices { device.session.beginStop() }
        endPairing { [unowned self] in
            Self.all(devices, { $0.session.stop(completion: $1) }) { [unowned self] in
                Self.all(outputs, { $0.keyboard.stop(completion: $1) }) { [unowned self] in
                    core.release(completion: completion)
                }
            }
        }
    }

    /// Performs a step for all items at the same time, and calls `completion` when all steps have ended.
    private static func all<Item>(
        _ items: [Item],
        _ step: (Item, @escaping () -> Void) -> Void,
        completion: @escaping () -> Void
    ) {
        // The additional step ends when all others have begun, so that `completion` is called once.
        var left = items.count + 1
        let end = {
            left -= 1
            if left == 0 { completion() }
        }
        for item in items { step(item, end) }
        end()
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

    package var keypad: Keypad? { devices[0].settings.typing.keypad }

    /// Byte that ends a barcode: CR, or a terminator of scan mode; nil if only a silence ends a barcode.
    var barcodeEnd: UInt8? { devices[0].settings.typing.barcodes.map { $0.terminator } ?? 0x0D }

    /// Number of bytes that wait to be typed on the keyboard of the first device, which other devices may share.
    var waitingBytes: UInt64 {
        let beside = devices.dropFirst().filter { $0.sharesKeyboard && devices[0].sharesKeyboard }
        return (devices.prefix(1) + beside).reduce(0) { $0 + $1.keyboard.bytes.waiting }
    }

    /// Counts of the first device.
    package var counts: Counts { devices[0].counts }

    // MARK: The adapter

    package var radioCounts: RadioCounts { core.radio.counts }

    package var adapter: (any LowEnergyAdapter)? { core.adapter }

    private func admits(_ adapter: String) -> Bool {
        guard !isStopping, let refusal = refusal?(adapter) else { return true }
        // Report the failure first: a run that does not wait for an adapter ends here, without a message about waiting.
        started(.failure(refusal))
        for device in devices { device.session.adapterRefused(refusal) }
        adapterSettled()
        return false
    }

    private func take(_ event: AdapterCore.Event) {
        guard !isStopping else { return started(.success(())) }
        switch event {
        case .ready:
            // Start all scans together, so that the radio chooses one of them only once.
            core.radio.together { for device in devices { device.session.adapterReady() } }
            started(.success(()))
        case .failed(let error):
            started(.failure(CommandFailure(error)))
            for device in devices { device.session.adapterFailed(error) }
        case .lost(let loss): for device in devices { device.session.adapterLost(loss) }
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
        let isAttempting = devices.contains { $0.session.isAttempting }
        return isAttempting ? .passing(CommandFailure(.timeout, AdapterFaultText.busy)) : nil
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
        _ choices: [ChoiceStore]
    ) throws(CommandFailure) -> DevicePairer {
        if pairer != nil { throw CommandFailure(.timeout, BondFaultText.busy) }
        guard core.adapter != nil || core.isOpening else {
            throw CommandFailure(.unavailable, AdapterFaultText.nothingToListenWith)
        }
        let known = try reporting(store.read)
        if let adapter = core.adapter?.address, let linked = linked(request.device, known),
            let refusal = known.refusal(of: linked, for: request.device, on: adapter)
        {
            throw CommandFailure(refusal)
        }
        let pairer = DevicePairer(request, keepingIn: store, known: known, choices, on: core.radio)
        self.pairer = pairer
        pairer.clearWay = { [unowned self] heard, proceed in
            let address = heard ?? linked(request.device, known)
            Self.all(devices, { $0.session.pairingBegins(with: address, $1) }) { [unowned self] in
                onAdapterSettled = proceed
                adapterSettled()
            }
        }
        pairer.onEnd = { [unowned self] in pairingEnded() }
        return pairer
    }

    /// Returns the address of the connected device that `meant` selects; nil if none is connected.
    private func linked(_ meant: DeviceSelector, _ known: BondStore.Contents) -> DeviceAddress? {
        for device in devices { if let linked = device.session.linked(meant, known) { return linked } }
        return nil
    }

    private func pairingEnded() {
        pairer = nil
        onAdapterSettled = nil
        for device in devices { device.session.pairingEnds() }
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

/// Creator of the devices of a service and their outputs, with the keyboard that several of them share.
private final class OutputMaker {
    /// Handler for the failure of a keyboard that cannot be replaced, with the name of its device.
    var onFailure: ((Errno, String?) -> Void)?

    private let loop: EventLoop
    private let screen: TextKeyboard?
    private let shared: SharedKeyboard?
    /// True if the screen shows the text of a device.
    private var isScreenTaken = false

    init(_ plans: [DevicePlan], on loop: EventLoop, screen: TextKeyboard?) throws(CommandFailure) {
        self.loop = loop
        self.screen = screen
        let sharers = plans.filter(\.sharesKeyboard).map(\.settings.typing)
        guard sharers.count > 1 else {
            shared = nil
            return
        }
        shared = try reporting { () throws(KeyboardError) in try SharedKeyboard(sharers, screen: screen) }
    }

    func device(_ plan: DevicePlan, on radio: RadioArbiter) throws(CommandFailure) -> ServiceDevice {
        let texts = plan.texts
        let first = plan.settings.hasKeyboard ? nil : texts.first
        let sharing = plan.sharesKeyboard ? shared : nil
        let isShown = !isScreenTaken || sharing != nil
        if plan.settings.hasKeyboard { isScreenTaken = true }
        let shown = first?.screen ?? (isShown ? screen : nil)
        let keyboard = try keyboard(plan, plan.settings.typing, screen: shown, sharing: sharing)
        var outputs = [ServiceOutput(keyboard: keyboard, text: first)]
        for text in texts.dropFirst(first == nil ? 0 : 1) {
            let typist = try self.keyboard(plan, plan.settings.textTyping, screen: text.screen)
            outputs.append(ServiceOutput(keyboard: typist, text: text))
        }
        let session = DeviceSession(plan.settings, typingOn: outputs.map(\.keyboard), on: radio)
        return ServiceDevice(plan, session, outputs, sharesKeyboard: sharing != nil)
    }

    private func keyboard(
        _ plan: DevicePlan,
        _ typing: TypingSettings,
        screen: TextKeyboard?,
        sharing: SharedKeyboard? = nil
    ) throws(CommandFailure) -> VirtualKeyboard {
        var typing = typing
        if plan.hasOwnKeyboard, let name = plan.name { typing.name += " \(name)" }
        return try reporting { () throws(KeyboardError) in
            try VirtualKeyboard(typing, on: loop, screen: screen, sharing: sharing) { [self] error in
                onFailure?(error, plan.name)
            }
        }
    }
}
