// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
import Keystrokes
package import LinuxIO
package import SystemPackage
package import Texts
package import Typing

/// The whole wedge on an event loop: adapter, scan, link and subscription here, and the keyboard that types.
package final class KeyboardService {
    /// What happens, for who watches.
    package enum Event {
        /// The virtual keyboard stands; readers find it at this node.
        case keyboard(node: String?)
        /// The session has another state, or says it anew.
        case state(Session.State, device: DeviceAddress?, reason: Reason?)
        /// The keyboard cannot be written to: nothing is typed any more.
        case keyboardFailed(Errno)
    }

    /// Records the packets of each adapter that is used.
    package var capture: TrafficCapture?
    /// Told the length of each value that was received from the device, on the loop's thread.
    package var onReceived: ((Int) -> Void)?
    /// Asked before an adapter is used, by its name: why it may not be; nil where it may.
    package var refusal: ((String) -> CommandFailure?)?

    /// How long after its loss the adapter is looked for again.
    private static let adapterInterval = Duration.seconds(3)

    private let loop: EventLoop
    private let settings: KeyboardSettings
    private let given: (any LowEnergyAdapter)?
    private let onEvent: (Event) -> Void

    private var session: Session
    private var sessionTimer: EventLoop.Timer?
    private var listener: DeviceListener?
    private var survey: DeviceSurvey?
    private let link: DeviceLink
    private var adapter: (any LowEnergyAdapter)?
    private var isStopping = false
    private var attempts = 0
    private let keyboard: VirtualKeyboard

    /// Which device is meant; nil for none.
    package private(set) var choice: DeviceChoice?
    /// The chosen device as it was heard last; nil before it was.
    package private(set) var device: DeviceAddress?
    /// Why the state is as it is.
    package private(set) var reason: Reason?

    /// Makes the virtual keyboard and its thread; nothing is scanned for yet.
    ///
    /// `adapter` is used instead of the one of the kernel that the settings name; `screen` shows what is typed, instead of
    /// a keyboard of the kernel.
    package init(
        _ settings: KeyboardSettings,
        on loop: EventLoop,
        adapter given: (any LowEnergyAdapter)? = nil,
        screen: TextKeyboard? = nil,
        onEvent: @escaping (Event) -> Void
    ) throws(CommandFailure) {
        self.loop = loop
        self.settings = settings
        self.given = given
        self.onEvent = onEvent
        choice = settings.device
        session = Session(isChosen: settings.device != nil, attemptTimeout: Self.attemptTimeout(settings.profiles))
        link = DeviceLink(settings.profiles, on: loop)

        keyboard = try VirtualKeyboard(settings.typing, on: loop, screen: screen) { error in
            onEvent(.keyboardFailed(error))
        }
        onEvent(.keyboard(node: keyboard.node))
        link.onEvent = { [unowned self] event in take(event) }
        link.onProfile = { [unowned self] profile in keyboard.useFraming(profile?.framing) }
        // The hot path goes on: from the profile's characteristic into the keyboard's ring.
        link.onValue = { [unowned self] value in receive(value) }
        listen(for: settings.device)
    }

    private func receive(_ value: Span<UInt8>) {
        keyboard.receive(value, epoch: link.epoch)
        onReceived?(value.count)
    }

    /// Begins; `completion` is called once, with the reason if the adapter cannot be used.
    ///
    /// It is looked for further, until `stop`.
    package func start(completion: @escaping (Result<Void, CommandFailure>) -> Void) {
        findAdapter(completion: completion)
    }

    /// Closes the link, drops and counts what waits (D-1), and calls `completion` when all is quiet.
    package func stop(completion: @escaping () -> Void) {
        guard !isStopping else { return }
        isStopping = true
        if let sessionTimer { loop.cancel(sessionTimer) }
        survey?.abandon()
        keyboard.drop(through: .max, .disconnected)
        closeLink { [unowned self] in
            stopScan { [unowned self] in keyboard.stop(completion: completion) }
        }
    }

    // MARK: What the user asks for

    /// Means another device from now on, or none; the same one again is asked to connect.
    package func choose(_ choice: DeviceChoice?) {
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

    /// The keys of clients that wait to be pressed.
    package var waitingKeys: UInt64 { keyboard.waitingKeys }

    /// How many characters were typed into the field that has the focus, for the device or for clients.
    package var typedCharacters: Int { keyboard.typedCharacters }

    /// Sends bytes to the device.
    package func send(_ bytes: [UInt8]) throws(CommandFailure) {
        guard state == .connected else {
            throw CommandFailure(.unavailable, LinkFaultText.notConnected)
        }
        try link.send(bytes)
    }

    /// The profile that the device was found to have; nil without a link.
    package var profile: Profile? { link.profile }

    /// Whether what comes is typed; while it is not, what waits and what comes is refused, for good (D-1).
    package var isGateOpen: Bool {
        get { keyboard.isGateOpen }
        set { if newValue != keyboard.isGateOpen { keyboard.isGateOpen = newValue } }
    }

    // MARK: How it stands

    /// What was counted so far.
    package var counts: Counts {
        Counts(
            notifications: link.notifications,
            strayValues: link.strayValues,
            dropped: link.dropped,
            bytes: keyboard.bytes,
            check: keyboard.check
        )
    }

    /// Where bytes go as they are, instead of being typed; answers how many it took.
    package var rawEnd: ((Span<UInt8>) -> Int)? {
        get { keyboard.rawEnd }
        set { keyboard.rawEnd = newValue }
    }

    /// The session's state.
    package var state: Session.State { session.state }

    /// The adapter that is used; nil while there is none.
    package var adapterName: String? { adapter?.name }

    /// The event node of the keyboard; nil where the kernel made none.
    package var keyboardNode: String? { keyboard.node }

    /// Whether the typing thread has done something since the last `ping`.
    package var hasAnswered: Bool { keyboard.hasAnswered }

    /// Asks the typing thread for a sign of life.
    package func ping() { keyboard.ping() }

    // MARK: The session

    /// The longest that an attempt may take: to the subscription, and through the longest handshake.
    private static func attemptTimeout(_ profiles: [Profile]) -> Duration {
        let handshakes = profiles.map { profile in
            profile.handshake.reduce(Duration.zero) { $0 + $1.timeout * $1.attempts }
        }
        return Session.usualAttemptTimeout + (handshakes.max() ?? .zero)
    }

    private func apply(_ event: Session.Event) {
        guard !isStopping else { return }
        let actions = session.handle(event, now: MonotonicClock.now)
        for action in actions where !isStopping { perform(action) }
        if let sessionTimer { loop.cancel(sessionTimer) }
        sessionTimer = session.deadline.map { deadline in
            loop.schedule(at: deadline) { [unowned self] in
                sessionTimer = nil
                apply(.deadline)
            }
        }
    }

    private func perform(_ action: Session.Action) {
        switch action {
        case .scan: resumeListening()
        case .stopScan: stopScan {}
        case .connect(let device):
            attempts &+= 1
            let number = attempts
            stopScan { [unowned self] in
                // Whatever was asked for while the scan was stopping comes before.
                if number == attempts, session.isAttempting { open(device) }
            }
        case .closeLink: closeLink { [unowned self] in apply(.linkClosed) }
        case .drop(let cause): keyboard.drop(through: link.epoch, cause)
        case .report(let state, let reason):
            self.reason = reason
            if state == .failed { listener?.isThorough = true }
            if state == .connected { listener?.isThorough = false }
            onEvent(.state(state, device: device, reason: reason))
        }
    }

    // MARK: The adapter

    private func openAdapter(completion: @escaping (Result<Void, AdapterError>) -> Void) {
        if let given {
            use(given)
            completion(.success(()))
            return
        }
        do throws(AdapterError) {
            try LowEnergyAdapters.open(settings.adapter, on: loop, capture: capture) { [unowned self] result in
                switch result {
                case .success(let adapter):
                    use(adapter)
                    completion(.success(()))
                case .failure(let error): completion(.failure(error))
                }
            }
        } catch {
            completion(.failure(error))
        }
    }

    private func use(_ adapter: any LowEnergyAdapter) {
        self.adapter = adapter
        adapter.onLoss = { [unowned self] reason in adapterLost(Message(detail: reason)) }
    }

    private func findAdapter(completion: @escaping (Result<Void, CommandFailure>) -> Void) {
        openAdapter { [unowned self] result in
            guard !isStopping else { return completion(.success(())) }
            switch result {
            case .success:
                if let adapter, let refusal = refusal?(adapter.name) {
                    adapter.onLoss = nil
                    adapter.close()
                    self.adapter = nil
                    apply(.forbidden(Reason(refusal)))
                    lookForAdapter()
                    return completion(.failure(refusal))
                }
                apply(.adapterReady)
                completion(.success(()))
            case .failure(let error):
                apply(Session.Event(error))
                lookForAdapter()
                completion(.failure(CommandFailure(error)))
            }
        }
    }

    private func adapterLost(_ cause: Message) {
        guard let adapter, !isStopping else { return }
        self.adapter = nil
        listener?.abandon()
        survey?.fail(.adapterGone)
        keyboard.endLink(through: link.epoch)
        apply(.adapterLost(Reason(lossOf: adapter.name, cause)))
        link.abandon()
        lookForAdapter()
    }

    private func lookForAdapter() {
        _ = loop.schedule(at: MonotonicClock.now + Self.adapterInterval) { [unowned self] in
            if !isStopping { findAdapter { _ in } }
        }
    }

    // MARK: Listening

    private func listen(for choice: DeviceChoice?) {
        guard let choice else { return }
        guard listener == nil else {
            listener?.choice = choice
            return
        }
        let listener = DeviceListener(choice, advertisedAt: settings.advertisedAddress, on: loop)
        self.listener = listener
        listener.onHeard = { [unowned self] device in
            self.device = device
            apply(.heard(device))
        }
        listener.onAmbiguity = { [unowned self, unowned listener] devices in
            let list = Message.list(devices.map(\.description))
            apply(.attemptFailed(Reason(LinkFaultText.severalCalled.message("\(listener.choice)", list))))
        }
        listener.onFailure = { [unowned self] error in
            if error == .adapterGone {
                adapterLost(CommandFailure(error).cause)
            } else {
                apply(.scanFailed(Reason(CommandFailure(error))))
            }
        }
    }

    private func resumeListening() {
        if let adapter, survey == nil, session.isListening { listener?.start(adapter) }
    }

    /// Listens to all devices for a while, or until one is heard that is enough; what is chosen is not listened for meanwhile.
    package func survey(
        for duration: Duration,
        until isEnough: ((DiscoveredDevice) -> Bool)? = nil,
        completion: @escaping (Result<[DiscoveredDevice], CommandFailure>) -> Void
    ) {
        guard let adapter, survey == nil, !session.isAttempting else {
            let fault: AdapterFaultText =
                adapter == nil ? .nothingToListenWith : survey != nil ? .scannedAlready : .busy
            return completion(.failure(CommandFailure(adapter == nil ? .unavailable : .timeout, fault)))
        }
        let survey = DeviceSurvey(on: loop) { [unowned self] result in
            self.survey = nil
            resumeListening()
            completion(result.mapError { CommandFailure($0) })
        }
        self.survey = survey
        stopScan { [unowned self] in
            guard self.survey === survey else { return }
            do throws(ScanError) {
                try survey.start(adapter, for: duration, until: isEnough)
            } catch {
                self.survey = nil
                resumeListening()
                completion(.failure(CommandFailure(error)))
            }
        }
    }

    private func stopScan(completion: @escaping () -> Void) {
        if let listener { listener.stop(completion: completion) } else { completion() }
    }

    // MARK: The link

    private func open(_ device: DeviceAddress) {
        guard let adapter, !isStopping else { return }
        link.open(device, through: adapter, timeout: Session.usualAttemptTimeout)
    }

    private func take(_ event: DeviceLink.Event) {
        switch event {
        case .ready: apply(.ready)
        case .unsupported(let reason): apply(.unsupported(Reason(reason)))
        case .failed(let reason):
            keyboard.endLink(through: link.epoch)
            apply(session.state == .connected ? .linkLost(Reason(reason)) : .attemptFailed(Reason(reason)))
        }
    }

    private func closeLink(completion: @escaping () -> Void) {
        keyboard.endLink(through: link.epoch)
        link.close(through: adapter, completion: completion)
    }
}
