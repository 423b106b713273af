// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
package import BluetoothAdapters
import BluetoothPackets
package import Configuration
import Control
package import Devices
package import Link
import LinuxIO
import SystemPackage
package import Texts
package import Typing

/// Keyboard service that follows the selected devices, locks its adapter, and handles client requests.
package final class Daemon {
    /// Settings of the daemon that do not concern typing.
    package struct Options: Sendable {
        package var paths: DaemonPaths
        /// True if the daemon follows the files of the selected devices; otherwise, it always uses the configured one.
        package var followsChoice: Bool
        /// Number of the virtual terminal that must be in the foreground; nil for any.
        package var terminal: Int?
        /// True if clients may press keys (D-9).
        package var allowsKeys: Bool
        /// Profile, layout, table and program version, as shown by `status`.
        package var labels: DaemonLabels
        package var beacons = BeaconConfiguration()
        package var regions = RegionCatalogue(RegionFile())
        /// Function that reads the regions most recently fetched from the server; it returns nil if that fails.
        package var managed: (@Sendable () -> ManagedRegions?)?
        /// Function that removes the server's regions and the tracks that have not been sent.
        package var removeServerFiles: (@Sendable () throws(CommandFailure) -> Void)?

        package init(paths: DaemonPaths, followsChoice: Bool, terminal: Int?, allowsKeys: Bool, labels: DaemonLabels) {
            self.paths = paths
            self.followsChoice = followsChoice
            self.terminal = terminal
            self.allowsKeys = allowsKeys
            self.labels = labels
        }

        /// Returns true if the selection of this device follows its file.
        func follows(_ plan: DevicePlan) -> Bool {
            followsChoice && (plan.name == nil || plan.settings.device == nil)
        }
    }

    package var onEvent: ((KeyboardService.Event, ServiceDevice) -> Void)?
    /// Handler for other messages to the user.
    package var onNote: ((Reason) -> Void)?
    package var onStopAsked: (() -> Void)?
    /// Handler for reports of received data.
    ///
    /// The first value is reported immediately, then at most ten reports per second follow; all remaining values are
    /// reported before the link ends.
    package var onReceived: ((ReceivedMeter.Report, ServiceDevice) -> Void)?
    /// Handler for each entry and exit for which the hook must run; receives the beacon's key code, too.
    package var onBeacon: ((RegionWatch.Notice, String?) -> Void)?
    /// Function that reloads the configuration; nil if there is no configuration to reload.
    package var onReload: (() throws(CommandFailure) -> Void)?

    package let service: KeyboardService
    package let devices: [DaemonDevice]
    let options: Options
    let bonds: BondStore
    let gate: KeyboardGate
    let beacons: DaemonBeacons
    let loop: EventLoop

    private static let lockWord = "lock="

    private let lock: AdapterLock
    /// Descriptor number of the adapter's lock, for the process that replaces this one.
    private var keptLock: Int32?
    private let allows: Message?
    private let notifier: ServiceNotifier
    private var server: ControlServer?
    private var rivals = ConflictingProcesses()
    /// Notes that arose before `onNote` was set.
    private var startNotes: [Reason] = []

    /// Sets up the daemon, and starts answering clients; scanning begins with `start`.
    package init(
        _ plans: [DevicePlan],
        _ options: Options,
        through core: AdapterCore,
        screen: TextKeyboard? = nil
    ) throws(CommandFailure) {
        let loop = core.loop
        self.loop = loop
        self.options = options
        bonds = BondStore(options.paths.bonds)
        lock = AdapterLock(options.paths)
        gate = try reporting(KeyboardGate.init, options.terminal, loop)
        notifier = ServiceNotifier(on: loop)

        var plans = plans
        var keepers: [(choice: ChoiceKeeper, follows: Bool)] = []
        for index in plans.indices {
            let follows = options.follows(plans[index])
            let store = ChoiceStore(options.paths.choice(of: plans[index].name))
            let keeper = try ChoiceKeeper(store, follows: follows, on: loop)
            keepers.append((keeper, follows))
            guard follows, let kept = keeper.read() else { continue }
            if let other = plans[..<index].first(where: { $0.settings.device?.kept?.device == kept.device }) {
                let fault = CommandFailure(.usage, ControlFaultText.usedByOther, kept.label, other.name ?? "")
                startNotes.append(Reason(fault))
            } else {
                plans[index].settings.device = .kept(kept)
            }
        }
        allows = Self.allowances(plans, options)
        let relay = Relay()
        let service = try KeyboardService(plans, through: core, screen: screen) { event, device in
            relay.handler?(event, device)
        }
        self.service = service
        devices = zip(service.devices, zip(plans, keepers)).map { device, planned in
            let (plan, keeper) = planned
            let labels = plan.labels ?? options.labels
            return DaemonDevice(device, keeper.choice, follows: keeper.follows, labels, on: loop)
        }
        let codes = KeyCodeTyper(service, beside: devices.map(\.received), on: loop)
        beacons = DaemonBeacons(options, opening: gate, typing: codes, on: core.radio)
        relay.handler = { [unowned self] event, device in take(event, device) }
        do throws(CommandFailure) {
            try reporting(options.paths.makeRuntimeDirectory)
            server = try ControlServer(
                at: options.paths.controlSocket.string,
                allowsKeys: options.allowsKeys,
                on: loop,
                handler: self
            )
        } catch {
            // A daemon with a fixed device also works without clients, for example beside a daemon that uses another
            // adapter.
            if options.followsChoice { throw error }
            startNotes.append(Reason(ReasonText.unanswered.message(error.cause)))
        }
        // The start fails if the bond file cannot be read: without its keys, nothing from a paired device could be
        // typed.
        for note in try reporting(bonds.read).notes(bonds.path) { startNotes.append(Reason(note)) }
        startNotes += ([beacons.storeFault] + devices.map(\.choice.fault)).compactMap(\.self)
        service.refusal = { [unowned self] name in
            let refusal = refusal(of: name)
            if let refusal { beacons.take(refusal: refusal) }
            return refusal
        }
        service.isAbandoned = { [unowned self] in lock.takeAbandonment() }
        for device in devices { join(device) }
        service.onAdapter = { [unowned self] event in beacons.take(event) }
        beacons.onEvent = { [unowned self] object in server?.publish(object) }
        beacons.onNote = { [unowned self] note in onNote?(note) }
        beacons.onHook = { [unowned self] notice, code in onBeacon?(notice, code) }
        service.setGate(open: gate.isOpen)
        gate.onChange = { [unowned self] isOpen in gateChanged(isOpen) }
        gate.onFront = { [unowned self] in beacons.displayCameOn() }
    }

    /// Sets up a daemon with one device.
    package convenience init(
        _ settings: KeyboardSettings,
        _ options: Options,
        through core: AdapterCore,
        screen: TextKeyboard? = nil,
        texts: [TextOutput] = []
    ) throws(CommandFailure) {
        try self.init([DevicePlan(settings, texts: texts)], options, through: core, screen: screen)
    }

    private func join(_ device: DaemonDevice) {
        device.session.keyboards = HIDDeviceStore(options.paths.hidDevices)
        device.session.bonds = { [bonds] () throws(BondStore.Failure) in try bonds.read() }
        device.session.onReceived = { [unowned self, unowned device] length in
            device.received.received(length, isTold: onReceived != nil || (server?.clientCount ?? 0) > 0)
        }
        device.received.onReport = { [unowned self, unowned device] report in publish(report, device) }
        device.choice.onFault = { [unowned self] reason in onNote?(reason) }
    }

    /// Returns the permissions that the configuration grants beyond text, as `status` shows them; nil if none.
    private static func allowances(_ plans: [DevicePlan], _ options: Options) -> Message? {
        let actions = options.beacons.actions.filter(\.deed.wantsConsent).map { "beacons.actions.\($0.name)" }
        let ofBeacons = actions.isEmpty ? nil : AllowanceText.beacons.message(actions.joined(separator: " "))
        let ofKeys = TypingSettings.allowances(of: plans.map(\.settings.typing))
        let allowances = [ofKeys, ofBeacons].compactMap(\.self)
        return allowances.isEmpty ? nil : Message.listed(allowances)
    }

    /// Starts the daemon; calls `completion` once, with the failure if the adapter cannot be used now.
    ///
    /// After a failure, the daemon continues to look for a usable adapter until `stop`.
    package func start(completion: @escaping (Result<Void, CommandFailure>) -> Void) {
        for device in service.devices { onEvent?(.keyboard(node: device.keyboard.node), device) }
        for note in startNotes { onNote?(note) }
        startNotes = []
        beacons.start()
        noteGate()
        for device in devices where device.session.choice == nil {
            take(.state(device.session.state, device: nil, reason: device.choice.fault), device.service)
        }
        service.start { [unowned self] result in
            notifier.ready()
            notifier.tell(service.device.state.sentence(service.device.choice, service.device.reason, in: .english))
            notifier.watch(
                hasAnswered: { [unowned self] in service.hasAnswered },
                ask: { [unowned self] in service.ping() }
            )
            completion(result)
        }
    }

    /// Disconnects the clients, closes the link, and calls `completion` when everything has stopped.
    ///
    /// With `isReloading`, the service manager is notified of the reload, and the adapter's lock is kept for the daemon
    /// that replaces this one in the same process.
    package func stop(isReloading: Bool = false, completion: @escaping () -> Void) {
        if isReloading { notifier.reloading() } else { notifier.stopping() }
        for device in devices { device.choice.end() }
        gate.end()
        server?.close()
        server = nil
        beacons.end()
        service.stop { [self] in
            for device in devices { device.received.flush() }
            if isReloading { keptLock = lock.keep() } else { lock.release() }
            completion()
        }
    }

    /// State for the process that replaces this one, as words.
    ///
    /// It contains the user requests that are not stored in any file and, after `stop`, the descriptor number of the
    /// adapter's lock.
    package var memory: String {
        let ended = devices.filter { $0.session.state == .disconnected }.map { Self.disconnectedWord($0) }
        let words = [gate.isPaused ? "paused" : nil] + ended + [keptLock.map { Self.lockWord + "\($0)" }]
        return words.compactMap(\.self).joined(separator: " ")
    }

    /// Takes over the adapter's lock from the previous process; call this before `start`.
    package func inherit(_ memory: String?) {
        let word = memory?.split(separator: " ").first { $0.hasPrefix(Self.lockWord) }
        if let number = word.flatMap({ Int32($0.dropFirst(Self.lockWord.count)) }) { lock.inherit(number) }
    }

    /// Restores the user requests that were in effect in the previous process.
    package func restore(_ memory: String?) {
        let words = memory?.split(separator: " ") ?? []
        if words.contains("paused") { gate.isPaused = true }
        for device in devices where words.contains(where: { $0 == Self.disconnectedWord(device) }) {
            device.session.disconnect()
        }
    }

    private static func disconnectedWord(_ device: DaemonDevice) -> String {
        "disconnected" + (device.name.map { "=" + $0 } ?? "")
    }

    package var isPaused: Bool { gate.isPaused }

    /// State of the daemon with its first device, and that of each device that has a name.
    package var status: DaemonStatus {
        var status = status(of: devices[0])
        status.devices = devices.compactMap { device in device.name.map { ($0, self.status(of: device)) } }
        return status
    }

    private func status(of device: DaemonDevice) -> DaemonStatus {
        let now = MonotonicClock.now
        let session = device.session
        // Show the profile that was found on the device.
        var labels = device.labels
        if session.state == .connected, let found = session.profile { labels.profile = found.name }
        return DaemonStatus(
            state: session.state,
            reason: session.reason,
            since: now - device.stateSince,
            choice: session.choice,
            requiredSecurity: session.requiredSecurity,
            device: session.address,
            adapter: service.adapter?.name,
            keyboard: device.service.keyboard.node,
            labels: labels,
            isPaused: isPaused,
            gate: gate.reason,
            counts: device.service.counts,
            link: session.linkFacts,
            links: session.linkCounts,
            radio: service.radioCounts,
            lastReceived: device.received.last.map { (now - $0.time, $0.length) },
            rivals: rivals.names(now: now),
            choiceFault: device.choice.fault,
            allows: allows,
            beacons: beacons.summary
        )
    }

    // MARK: Events

    /// Forwarder of service events, because the service needs a handler before this object is initialized.
    private final class Relay {
        var handler: ((KeyboardService.Event, ServiceDevice) -> Void)?
    }

    private func take(_ event: KeyboardService.Event, _ device: ServiceDevice) {
        let object = event.object(device.session.choice, of: device.name)
        if case .state(let state, _, let reason) = event {
            devices.first { $0.service === device }?.note(state, object)
            let sentence = state.sentence(device.session.choice, reason, in: .english)
            notifier.tell(device.name.map { "\($0): \(sentence)" } ?? sentence)
        }
        if let object { server?.publish(object) }
        onEvent?(event, device)
    }

    private func publish(_ report: ReceivedMeter.Report, _ device: DaemonDevice) {
        var object = JSONObject(event: .received)
        object.add("name", device.name)
        object.add("notifications", report.values)
        object.add("bytes", report.bytes)
        server?.publish(object)
        onReceived?(report, device.service)
    }

    private func gateChanged(_ isOpen: Bool) {
        service.setGate(open: isOpen)
        server?.publish(gateEvent)
        if isOpen { onNote?(Reason(ReasonText.typedAgain.message())) } else { noteGate() }
    }

    /// Reports why the gate is closed, if it is.
    private func noteGate() {
        guard let reason = gate.reason else { return }
        onNote?(Reason(ReasonText.nothingTyped.message(reason.cause), remedy: reason.remedy))
    }

    private var gateEvent: JSONObject {
        var object = JSONObject(event: .gate)
        object.add("open", gate.isOpen)
        object.add("paused", gate.isPaused)
        object.add("reason", gate.reason?.cause)
        return object
    }

    /// Locks an adapter; returns the failure if the adapter may not be used, else nil.
    private func refusal(of adapter: String) -> CommandFailure? {
        guard let refusal = lock.take(adapter) else { return nil }
        // A daemon with a fixed device also works if the lock cannot be created, but not if another process holds it.
        if case .notMade = refusal, !options.followsChoice { return nil }
        return CommandFailure(refusal)
    }
}

extension Daemon: ControlHandler {
    package var currentEvents: [JSONObject] {
        let keyboards = devices.map { $0.keyboardEvent() }
        let events = (keyboards + devices.map(\.stateEvent)).compactMap(\.self)
        return events + [gateEvent] + [beacons.currentEvent].compactMap(\.self)
    }
}
