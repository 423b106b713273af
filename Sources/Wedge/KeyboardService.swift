// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Keystrokes
package import LinuxIO
package import SystemPackage

/// The whole wedge on an event loop: adapter, scan, link and subscription here, and the keyboard that types.
package final class KeyboardService {
    /// What happens, for who watches.
    package enum Event {
        /// The virtual keyboard stands; readers find it at this node.
        case keyboard(node: String?)
        /// The session has another state, or says it anew.
        case state(Session.State, device: DeviceAddress?, reason: String?)
        /// The keyboard cannot be written to: nothing is typed any more.
        case keyboardFailed(Errno)
    }

    /// Records the packets of each adapter that is used.
    package var capture: TrafficCapture?
    /// Told the length of each value that was received from the device, on the loop's thread.
    package var onReceived: ((Int) -> Void)?

    /// What was counted since the start.
    package struct Counts: Sendable {
        /// Notifications of the profile's characteristic.
        package var notifications: UInt64
        /// Values that nobody asked for: those of other handles, and indications where notifications were subscribed to.
        package var strayValues: UInt64
        /// Packets that the kernel dropped because they were not read in time.
        package var dropped: UInt64
        /// The bytes' account.
        package var bytes: Ledger.Snapshot
        /// What the self-check found; nil without one.
        package var check: SelfCheck.Counts?
    }

    /// How long an attempt may take, from a device just heard to its subscription.
    private static let attemptTimeout = Duration.seconds(15)
    /// How long after its loss the adapter is looked for again.
    private static let adapterInterval = Duration.seconds(3)

    private let loop: EventLoop
    private let settings: KeyboardSettings
    private let given: (any LowEnergyAdapter)?
    private let onEvent: (Event) -> Void

    private var session = Session()
    private var sessionTimer: EventLoop.Timer?
    private var chooser: DeviceChooser
    private var chooserTimer: EventLoop.Timer?
    private var adapter: (any LowEnergyAdapter)?
    private var scanner: (any DeviceScanner)?
    private var attempt: (any ConnectionAttempt)?
    private var link: ATTLink?
    private var setup: LinkSetup
    private var setupTimer: EventLoop.Timer?
    private var device: DeviceAddress?
    private var epoch: UInt32 = 0
    private var isStopping = false

    private let keyboard: VirtualKeyboard
    private var notifications: UInt64 = 0
    private var strayValues: UInt64 = 0
    private var droppedBefore: UInt64 = 0

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
        chooser = DeviceChooser(settings.device)
        setup = LinkSetup(profile: settings.profile)

        keyboard = try VirtualKeyboard(settings, on: loop, screen: screen) { error in onEvent(.keyboardFailed(error)) }
        onEvent(.keyboard(node: keyboard.node))
    }

    /// Begins; `completion` is called once, with the reason if the adapter cannot be used.
    package func start(completion: @escaping (Result<Void, AdapterError>) -> Void) {
        openAdapter { [unowned self] result in
            if case .success = result { apply(.adapterReady) }
            completion(result)
        }
    }

    /// Closes the link, drops and counts what waits (D-1), and calls `completion` when all is quiet.
    package func stop(completion: @escaping () -> Void) {
        guard !isStopping else { return }
        isStopping = true
        for timer in [sessionTimer, chooserTimer, setupTimer] { if let timer { loop.cancel(timer) } }
        keyboard.drop(through: .max, .disconnected)
        closeLink { [unowned self] in
            stopScan { [unowned self] in keyboard.stop(completion: completion) }
        }
    }

    /// What was counted so far.
    package var counts: Counts {
        Counts(
            notifications: notifications,
            strayValues: strayValues,
            dropped: droppedBefore + UInt64(link?.droppedPackets ?? 0),
            bytes: keyboard.bytes,
            check: keyboard.check
        )
    }

    // MARK: The session

    private func apply(_ event: Session.Event) {
        guard !isStopping else { return }
        let actions = session.handle(event, now: MonotonicClock.now)
        for action in actions { perform(action) }
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
        case .scan: scan()
        case .stopScan: stopChoosing()
        case .connect(let device): stopScan { [unowned self] in connect(device) }
        case .closeLink: closeLink {}
        case .report(let state, let reason): onEvent(.state(state, device: device, reason: reason))
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
        adapter.onLoss = { [unowned self] reason in adapterLost(reason) }
    }

    private func adapterLost(_ reason: String) {
        guard adapter != nil, !isStopping else { return }
        scanner?.close()
        scanner = nil
        stopChoosing()
        apply(.adapterLost(reason))
        adapter = nil
        lookForAdapter()
    }

    private func lookForAdapter() {
        _ = loop.schedule(at: MonotonicClock.now + Self.adapterInterval) { [unowned self] in
            guard !isStopping else { return }
            openAdapter { [unowned self] result in
                guard !isStopping else { return }
                switch result {
                case .success: apply(.adapterReady)
                case .failure: lookForAdapter()
                }
            }
        }
    }

    // MARK: Scanning

    private func scan() {
        guard let adapter else { return }
        chooser.begin()
        do throws(ScanError) {
            let scanner = try adapter.makeScanner()
            self.scanner?.close()
            self.scanner = scanner
            scanner.onUpdate = { [unowned self] update in
                take(chooser.heard(update.device, now: MonotonicClock.now), of: update.device)
            }
            scanner.onFailure = { [unowned self] error in scanFailed(error) }
            scanner.start(settings.device.scanParameters, devices: settings.device.devices)
        } catch {
            scanFailed(error)
        }
    }

    private func scanFailed(_ error: ScanError) {
        scanner = nil
        stopChoosing()
        if error == .adapterGone { adapterLost(error.cause) } else { apply(.attemptFailed(error.cause)) }
    }

    private func take(_ verdict: DeviceChooser.Verdict, of heard: DiscoveredDevice?) {
        switch verdict {
        case .listen:
            guard chooserTimer == nil, let deadline = chooser.deadline else { return }
            chooserTimer = loop.schedule(at: deadline) { [unowned self] in
                chooserTimer = nil
                take(chooser.decide(now: MonotonicClock.now), of: nil)
            }
        case .take(let device):
            stopChoosing()
            self.device = device
            apply(.heard(device))
        case .ambiguous(let devices):
            stopChoosing()
            let list = devices.map(\.description).joined(separator: " and ")
            apply(.attemptFailed("several devices are called \(settings.device): \(list); name one by its address"))
        }
    }

    private func stopChoosing() {
        if let chooserTimer { loop.cancel(chooserTimer) }
        chooserTimer = nil
        chooser.begin()
        scanner?.onUpdate = nil
    }

    private func stopScan(completion: @escaping () -> Void) {
        stopChoosing()
        guard let scanner else {
            completion()
            return
        }
        scanner.stop { [unowned self] in
            // Its sockets would hear every report of the kernel's own scans.
            scanner.close()
            if self.scanner === scanner { self.scanner = nil }
            completion()
        }
    }

    // MARK: The link

    private func connect(_ device: DeviceAddress) {
        guard let adapter, !isStopping else { return }
        epoch &+= 1
        setup = LinkSetup(profile: settings.profile)
        do throws(LinkFailure) {
            attempt = try adapter.connect(to: device, timeout: Self.attemptTimeout) { [unowned self] result in
                connected(result)
            }
            setupTimer = loop.schedule(at: MonotonicClock.now + Self.attemptTimeout) { [unowned self] in
                setupTimer = nil
                apply(.attemptFailed("the device did not finish within \(Self.attemptTimeout.components.seconds) s"))
            }
        } catch {
            apply(.attemptFailed("\(error)"))
        }
    }

    private func connected(_ result: Result<any ATTChannel, LinkFailure>) {
        switch result {
        case .success(let channel):
            let link = ATTLink(channel, on: loop)
            self.link = link
            attempt = nil
            link.onEvent = { [unowned self] event in linkEvent(event, link) }
            link.onValue = { [unowned self] handle, kind, value in take(value, of: handle, kind) }
            progress(link.perform { client, now in setup.begin(&client, now: now) })
        case .failure(let failure): apply(.attemptFailed("\(failure)"))
        }
    }

    private func linkEvent(_ event: ATTLink.Event, _ link: ATTLink) {
        guard link === self.link else { return }
        switch event {
        case .procedure(let event):
            progress(link.perform { client, now in setup.handle(event, &client, now: now) })
        case .closed(let failure):
            keyboard.endLink(through: epoch)
            apply(session.state == .connected ? .linkLost("\(failure)") : .attemptFailed("\(failure)"))
        }
    }

    private func progress(_ progress: LinkSetup.Progress) {
        switch progress {
        case .underWay: break
        case .ready:
            stopSetupTimer()
            apply(.ready)
        case .unsupported(let reason): apply(.unsupported(reason))
        // A bearer that failed closes the link, which is reported then.
        case .failed(.bearer): break
        case .failed(let error): apply(.attemptFailed("\(error)"))
        }
    }

    /// The hot path begins: one comparison, and on to the keyboard's ring.
    private func take(_ value: Span<UInt8>, of handle: AttributeHandle, _ kind: GATTSubscriptionKind) {
        guard setup.isWanted(handle, kind) else {
            strayValues &+= 1
            return
        }
        notifications &+= 1
        keyboard.receive(value, epoch: epoch)
        onReceived?(value.count)
    }

    private func stopSetupTimer() {
        if let setupTimer { loop.cancel(setupTimer) }
        setupTimer = nil
    }

    private func closeLink(completion: @escaping () -> Void) {
        stopSetupTimer()
        guard link != nil || attempt != nil else {
            completion()
            return
        }
        attempt?.cancel()
        attempt = nil
        if let link {
            droppedBefore += UInt64(link.droppedPackets)
            self.link = nil
            link.close()
        }
        keyboard.endLink(through: epoch)
        guard let adapter, let device else {
            completion()
            return
        }
        adapter.disconnect(device, completion: completion)
    }
}
