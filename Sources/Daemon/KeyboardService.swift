// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Configuration
import Control
package import Devices
import Keystrokes
package import Link
import LinuxIO
package import Texts
package import Typing

/// The whole wedge on an event loop: adapter, scan, link and subscription here, and the keyboard that types.
package final class KeyboardService {
    /// Told the length of each value that was received from the device, on the loop's thread.
    package var onReceived: ((Int) -> Void)?
    /// Asked before an adapter is used, by its name: why it may not be; nil where it may.
    package var refusal: ((String) -> CommandFailure?)?
    /// Asked then: whether the process that had it before has ended without giving it back.
    package var isAbandoned: (() -> Bool)?

    /// Told that an adapter can be used, that none can, and that it is lost.
    package var onAdapter: ((AdapterCore.Event) -> Void)?

    /// How old a sighting may be that spares a scan: as long as the end of an earlier link may take.
    private static let sightingLife = Session.closingTimeout

    /// Reads the bonds; nil where there is no place for any.
    package var bonds: (() throws(BondStore.Failure) -> BondStore.Contents)?

    let loop: EventLoop
    let settings: KeyboardSettings
    let core: AdapterCore
    private let onEvent: (Event) -> Void

    private var session: Session
    private let sessionTimer = LoopTimer()
    /// Finds the chosen device; nil while none was chosen yet.
    private var finder: DeviceFinder?
    /// A look at all devices, for a client; and one for a device that is to be chosen.
    private var look: DeviceLook?
    private var search: DeviceFinder?
    /// The pairing that a client has asked for.
    var pairer: DevicePairer?
    /// Called at the end of that, where it is waited for.
    var onPairingEnd: (() -> Void)?
    /// The devices that such looks have heard in the last minute (LK-3).
    private var devices = DeviceTable()
    /// The chosen device, where it was heard by the look that it was chosen from.
    private var sighting: (device: DeviceAddress, time: Duration)?
    let link: DeviceLink
    private var flood = FloodLimit()
    private var isStopping = false
    private var onStarted: ((Result<Void, CommandFailure>) -> Void)?

    /// The other end than the keyboard; nil where the keyboard types.
    package var wire: WireEnd?
    /// The virtual keyboard.
    package let keyboard: VirtualKeyboard
    /// The device that is meant; nil for none.
    package private(set) var choice: DeviceChoice?
    /// The chosen device as it was heard last; nil before it was.
    package private(set) var device: DeviceAddress?
    /// Why the state is as it is.
    package private(set) var reason: Reason?

    /// Makes the virtual keyboard and its thread; nothing is scanned for yet.
    ///
    /// The adapter is not opened yet either. A `screen` shows what is typed, instead of a keyboard of the kernel.
    package init(
        _ settings: KeyboardSettings,
        through core: AdapterCore,
        screen: TextKeyboard? = nil,
        onEvent: @escaping (Event) -> Void
    ) throws(CommandFailure) {
        loop = core.loop
        self.settings = settings
        self.core = core
        self.onEvent = onEvent
        choice = settings.device
        session = Session(
            isChosen: settings.device != nil,
            attemptTimeout: Session.usualAttemptTimeout + settings.longestHandshake
        )
        link = DeviceLink(settings.profiles, on: core.radio)

        keyboard = try VirtualKeyboard(settings.typing, on: core.loop, screen: screen) { error in
            onEvent(.keyboardFailed(error))
        }
        keyboard.onChange = { [unowned self] change in onEvent(Event(change, keyboard)) }
        onEvent(.keyboard(node: keyboard.node))
        link.onEvent = { [unowned self] event in take(event) }
        link.onProfile = { [unowned self] profile in keyboard.useFraming(profile?.framing) }
        // The hot path goes on: from the profile's characteristic into the keyboard's ring.
        link.onValue = { [unowned self] value in receive(value) }
        // A packet of two comes an interval behind the other, or two where it has to be sent again.
        link.onTiming = { [unowned self] timing in
            keyboard.joinLineFeeds(within: (timing?.longestSilence ?? .zero) * 2)
        }
        link.onGap = { [unowned self] in keyboard.noteMissing(epoch: link.epoch) }
        core.onEvent = { [unowned self] event in take(event) }
        core.radio.restartsAdapter = true
        core.isAdmitted = { [unowned self] name in admits(name) }
        core.isAbandoned = { [unowned self] in isAbandoned?() ?? false }
        listen(for: settings.device)
    }

    /// Joins the service with the wire whose screen it types on.
    package func join(_ wire: Wire) {
        wire.join(keyboard)
        self.wire = wire.end
        // Bytes for a device that is not connected are dropped, as by a cable that is not plugged in.
        wire.end.onBytes = { [unowned self] bytes in try? send(bytes) }
    }

    private func receive(_ value: Span<UInt8>) {
        keyboard.receive(value, epoch: link.epoch, isFromOpenDevice: link.isOpen)
        onReceived?(value.count)
        if let excess = flood.check(keyboard.outrun) { endFlood(excess) }
    }

    /// Ends the link that floods, behind the packets that are just being read.
    private func endFlood(_ excess: UInt64) {
        _ = loop.schedule(at: .zero) { [unowned self, epoch = link.epoch] in
            guard link.epoch == epoch, state == .connected else { return }
            link.noteFlood()
            apply(.flooded(Reason(CommandFailure(.unavailable, LinkFaultText.flooded, "\(excess)"))))
        }
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
        sessionTimer.cancel()
        look?.abandon()
        search?.stop()
        keyboard.drop(through: .max, .disconnected)
        endPairing { [unowned self] in
            closeLink { [unowned self] in
                stopListening { [unowned self] in
                    keyboard.stop { [unowned self] in core.release(completion: completion) }
                }
            }
        }
    }

    // MARK: What the user asks for

    /// Means another device from now on, or none; the same one again is asked to connect.
    ///
    /// Where it was `heard` just now, it is not listened for again.
    package func choose(_ choice: DeviceChoice?, heard: DeviceAddress? = nil) {
        sighting = heard.map { ($0, MonotonicClock.now) }
        guard choice != self.choice else {
            if choice != nil { connect() }
            return
        }
        self.choice = choice
        device = nil
        if choice != nil { listen(for: choice) }
        apply(choice == nil ? .forgotten : .switched)
    }

    /// Wants the link, again after `disconnect`.
    package func connect() { apply(.connectAsked) }

    /// Wants no link, until `connect` or another choice (LK-17).
    package func disconnect() { apply(.disconnectAsked) }

    /// Presses the keys of a sequence, between what is received.
    package func press(_ sequence: KeySequence) throws(CommandFailure) {
        guard keyboard.press(sequence.bytes) else {
            throw .keysWait
        }
    }

    /// The keys that clients may press; nil for none.
    package var keypad: Keypad? { settings.typing.keypad }

    /// Types bytes that come from here as a notification of an open device, as a beacon's key code: table, pace, scan mode
    /// and account are those of all others.
    func type(_ bytes: [UInt8]) {
        // Without a link, as of the next one: what is left of the last one may have been dropped.
        keyboard.receive(unframed: bytes, epoch: state == .connected ? link.epoch : link.epoch &+ 1)
    }

    /// The byte that ends a barcode here: CR, or a terminator of scan mode's; nil where only a silence ends one.
    var barcodeEnd: UInt8? { settings.typing.barcodes.map { $0.terminator } ?? 0x0D }

    /// Sends bytes to the device.
    package func send(_ bytes: [UInt8]) throws(CommandFailure) {
        guard state == .connected else {
            throw CommandFailure(.unavailable, LinkFaultText.notConnected)
        }
        try link.send(bytes)
    }

    /// Writes a command to the device when those before it have ended (BT-6); `completion` is called once, with the bytes
    /// of the reply.
    package func ask(
        _ command: Handshake.Command,
        completion: @escaping (Result<[UInt8], CommandFailure>) -> Void
    ) {
        guard state == .connected else {
            return completion(.failure(CommandFailure(.unavailable, LinkFaultText.notConnected)))
        }
        let isQueued = link.ask(command) { outcome in completion(outcome.result(of: command)) }
        if !isQueued {
            let most = "\(CommandQueue.mostCommands)"
            completion(.failure(CommandFailure(.unavailable, LinkFaultText.commandsWait, most)))
        }
    }

    /// The profile that the device was found to have; nil without a link.
    package var profile: Profile? { link.profile }

    /// Whether what comes is typed; while it is not, what waits and what comes is refused, for good (D-1).
    package var isGateOpen: Bool {
        get { keyboard.isGateOpen }
        set { if newValue != keyboard.isGateOpen { keyboard.isGateOpen = newValue } }
    }

    // MARK: How it stands

    /// The counts so far.
    package var counts: Counts {
        Counts(
            notifications: link.notifications,
            strayValues: link.strayValues,
            tooLongValues: link.tooLongValues,
            refusedValues: link.refusedValues,
            dropped: link.dropped,
            keyboardRemakes: keyboard.remakes,
            bytes: keyboard.bytes,
            check: keyboard.check,
            wire: wire?.counts
        )
    }

    /// What was done so that the radio goes on.
    package var radioCounts: RadioCounts { core.radio.counts }

    /// The session's state.
    package var state: Session.State { session.state }

    /// The adapter that is used; nil while there is none.
    package var adapterName: String? { core.adapter?.name }

    // MARK: The session

    func apply(_ event: Session.Event) {
        guard !isStopping else { return }
        let actions = session.handle(event, now: MonotonicClock.now)
        for action in actions where !isStopping { perform(action) }
        sessionTimer.set(on: loop, at: session.deadline) { [unowned self] in apply(.deadline) }
    }

    private func perform(_ action: Session.Action) {
        switch action {
        case .scan: startListening()
        case .stopScan: stopListening {}
        case .connect(let device):
            flood.begin(at: keyboard.outrun, isPatient: wire?.isPatient == true)
            connect(to: device)
        case .closeLink: closeLink { [unowned self] in apply(.linkClosed) }
        case .drop(let cause): keyboard.drop(through: link.epoch, cause)
        case .report(let state, let reason):
            self.reason = reason
            if state == .failed { finder?.isThorough = true }
            if state == .connected { finder?.isThorough = false }
            onEvent(.state(state, device: device, reason: reason))
        }
    }

    // MARK: The adapter

    private func admits(_ adapter: String) -> Bool {
        guard !isStopping, let refusal = refusal?(adapter) else { return true }
        // Who does not wait for the adapter ends with this, and says nothing of waiting.
        started(.failure(refusal))
        // Another's adapter is none of this one's; a missing permission is said as such.
        let isPermission = refusal.status == .permission
        apply(isPermission ? .forbidden(Reason(refusal)) : .adapterLost(Reason(refusal)))
        return false
    }

    private func take(_ event: AdapterCore.Event) {
        guard !isStopping else { return started(.success(())) }
        switch event {
        case .ready:
            // Before the first scan, which a device with a private address is found in by its key.
            if let known = try? bonds?() { core.adapter?.use(known.bonds) }
            apply(.adapterReady)
            started(.success(()))
            onAdapter?(event)
        case .failed(let error):
            started(.failure(CommandFailure(error)))
            apply(Session.Event(error))
            onAdapter?(event)
        case .lost(let loss):
            keyboard.endLink(through: link.epoch)
            link.noteAdapterLoss()
            apply(.adapterLost(Reason(loss)))
            link.abandon()
            onAdapter?(event)
        }
    }

    private func started(_ result: Result<Void, CommandFailure>) {
        let completion = onStarted
        onStarted = nil
        completion?(result)
    }

    // MARK: Listening

    private func listen(for choice: DeviceChoice?) {
        guard let choice else { return }
        guard finder == nil else {
            finder?.choice = choice
            return
        }
        let finder = DeviceFinder(choice, advertisedAt: settings.advertisedAddress, on: core.radio)
        self.finder = finder
        finder.onResult = { [unowned self] result in take(result) }
        finder.onNamesake = { [unowned self] namesake in
            if let choice = self.choice { apply(.heardElsewhere(Reason(.heardElsewhere(choice, namesake)))) }
        }
    }

    private func take(_ result: Result<DiscoveredDevice, DeviceFinder.Failure>) {
        switch result {
        case .success(let heard): found(heard.address)
        // The adapter's loss is told by itself.
        case .failure(.scan(.adapterGone)), .failure(.notHeard): break
        case .failure(.scan(let error)): apply(.scanFailed(Reason(CommandFailure(error))))
        case .failure(let failure): if let choice { apply(.attemptFailed(Reason(CommandFailure(failure, of: choice)))) }
        }
    }

    private func found(_ heard: DeviceAddress) {
        device = heard
        apply(.heard(heard))
        // It is left alone for now: it matters when it is heard again.
        if session.isListening { finder?.goOn() }
    }

    private func startListening() {
        let sighting = sighting
        self.sighting = nil
        guard let sighting, MonotonicClock.now - sighting.time < Self.sightingLife else {
            finder?.start()
            return
        }
        // Not from within the step that asks for it.
        _ = loop.schedule(at: .zero) { [unowned self] in
            if session.isListening { found(sighting.device) }
        }
    }

    private func stopListening(completion: @escaping () -> Void) {
        if let finder { finder.stop(completion: completion) } else { completion() }
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
        if isAnew { devices.removeAll() }
        look = DeviceLook(at: devices, for: duration, on: core.radio) { [unowned self] result in
            look = nil
            if case .success(let heard) = result { devices = heard }
            completion(result.map(\.devices).mapError { CommandFailure($0) })
        }
    }

    /// Listens for a device that is to be chosen, as long as `limit`, and answers it as it is to be kept and as it was heard.
    package func find(
        _ choice: DeviceChoice,
        for limit: Duration,
        completion: @escaping (Result<(kept: KeptChoice, heard: DeviceAddress), CommandFailure>) -> Void
    ) {
        if let refusal = refusalOfLook { return completion(.failure(refusal)) }
        let place = settings.advertisedAddress
        let search = DeviceFinder(choice, advertisedAt: place, wantsName: true, on: core.radio)
        self.search = search
        search.onResult = { [unowned self, unowned search] result in
            search.stop()
            self.search = nil
            completion(
                result.map { (choice.keptChoice(of: $0, advertisedAt: place), $0.address) }
                    .mapError { CommandFailure($0, of: choice) }
            )
        }
        search.start(for: limit)
    }

    private var refusalOfLook: CommandFailure? {
        if core.adapter == nil { return CommandFailure(.unavailable, AdapterFaultText.nothingToListenWith) }
        if pairer != nil { return CommandFailure(.timeout, BondFaultText.busy) }
        if look != nil || search != nil { return CommandFailure(.timeout, AdapterFaultText.scannedAlready) }
        return session.isAttempting ? CommandFailure(.timeout, AdapterFaultText.busy) : nil
    }

    // MARK: The link

    private func take(_ event: DeviceLink.Event) {
        switch event {
        case .notSecured: refuse()
        case .ready: apply(.ready)
        case .unsupported(let reason): apply(.unsupported(reason))
        case .failed(let reason):
            keyboard.endLink(through: link.epoch)
            apply(session.state == .connected ? .linkLost(reason) : .attemptFailed(reason))
        }
    }

    private func closeLink(completion: @escaping () -> Void) {
        keyboard.endLink(through: link.epoch)
        link.close(completion: completion)
    }
}
