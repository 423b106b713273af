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

/// Keyboard service that follows the selected device, locks its adapter, and handles client requests.
package final class Daemon {
    /// Settings of the daemon that do not concern typing.
    package struct Options: Sendable {
        package var paths: DaemonPaths
        /// True if the daemon follows the file of the selected device; otherwise, it always uses the configured device.
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
    }

    package var onEvent: ((KeyboardService.Event) -> Void)?
    /// Handler for other messages to the user.
    package var onNote: ((Reason) -> Void)?
    package var onStopAsked: (() -> Void)?
    /// Handler for reports of received data.
    ///
    /// The first value is reported immediately, then at most ten reports per second follow; all remaining values are
    /// reported before the link ends.
    package var onReceived: ((ReceivedMeter.Report) -> Void)?
    /// Handler for each entry and exit for which the hook must run; receives the beacon's key code, too.
    package var onBeacon: ((RegionWatch.Notice, String?) -> Void)?
    /// Function that reloads the configuration; nil if there is no configuration to reload.
    package var onReload: (() throws(CommandFailure) -> Void)?

    package let service: KeyboardService
    let options: Options
    let choice: ChoiceKeeper
    let bonds: BondStore
    let gate: KeyboardGate
    let beacons: DaemonBeacons
    let loop: EventLoop
    var awaitsWord = AwaitedWord()

    private static let lockWord = "lock="

    private let lock: AdapterLock
    /// Descriptor number of the adapter's lock, for the process that replaces this one.
    private var keptLock: Int32?
    private let allows: Message?
    private let notifier: ServiceNotifier
    private let receivedReporter: ReceivedReporter
    let lastValue: LastValueKeeper
    private var server: ControlServer?
    private var rivals = ConflictingProcesses()
    private var stateSince = MonotonicClock.now
    private var latest: JSONObject?
    /// Notes that arose before `onNote` was set.
    private var startNotes: [Reason] = []

    /// Sets up the daemon, and starts answering clients; scanning begins with `start`.
    package init(
        _ settings: KeyboardSettings,
        _ options: Options,
        through core: AdapterCore,
        screen: TextKeyboard? = nil,
        texts: [TextOutput] = []
    ) throws(CommandFailure) {
        let loop = core.loop
        self.loop = loop
        self.options = options
        bonds = BondStore(options.paths.bonds)
        lock = AdapterLock(options.paths)
        gate = try reporting(KeyboardGate.init, options.terminal, loop)
        choice = try ChoiceKeeper(ChoiceStore(options.paths.choice), follows: options.followsChoice, on: loop)
        notifier = ServiceNotifier(on: loop)
        receivedReporter = ReceivedReporter(on: loop)

        var settings = settings
        if options.followsChoice, let kept = choice.read() { settings.device = .kept(kept) }
        let actions = options.beacons.actions.filter(\.deed.wantsConsent).map { "beacons.actions.\($0.name)" }
        let beaconAllowance = actions.isEmpty ? nil : AllowanceText.beacons.message(actions.joined(separator: " "))
        let allowances = [settings.typing.allowances, beaconAllowance].compactMap(\.self)
        allows = allowances.isEmpty ? nil : Message.listed(allowances)
        let relay = Relay()
        service = try KeyboardService(settings, through: core, screen: screen, texts: texts) { event in
            relay.handler?(event)
        }
        lastValue = LastValueKeeper(of: service.device, on: loop)
        let codes = KeyCodeTyper(service, beside: receivedReporter, on: loop)
        beacons = DaemonBeacons(options, opening: gate, typing: codes, on: core.radio)
        relay.handler = { [unowned self] event in take(event) }
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
        startNotes += [beacons.storeFault, choice.fault].compactMap(\.self)
        service.device.keyboards = HIDDeviceStore(options.paths.hidDevices)
        service.device.bonds = { [bonds] () throws(BondStore.Failure) in try bonds.read() }
        service.refusal = { [unowned self] name in
            let refusal = refusal(of: name)
            if let refusal { beacons.take(refusal: refusal) }
            return refusal
        }
        service.isAbandoned = { [unowned self] in lock.takeAbandonment() }
        service.device.onReceived = { [unowned self] length in
            receivedReporter.received(length, isTold: onReceived != nil || (server?.clientCount ?? 0) > 0)
        }
        service.onAdapter = { [unowned self] event in beacons.take(event) }
        receivedReporter.onReport = { [unowned self] report in publish(report) }
        beacons.onEvent = { [unowned self] object in server?.publish(object) }
        beacons.onNote = { [unowned self] note in onNote?(note) }
        beacons.onHook = { [unowned self] notice, code in onBeacon?(notice, code) }
        service.setGate(open: gate.isOpen)
        gate.onChange = { [unowned self] isOpen in gateChanged(isOpen) }
        gate.onFront = { [unowned self] in beacons.displayCameOn() }
        choice.onChange = { [unowned self] kept in choose(kept) }
        choice.onFault = { [unowned self] reason in onNote?(reason) }
    }

    /// Starts the daemon; calls `completion` once, with the failure if the adapter cannot be used now.
    ///
    /// After a failure, the daemon continues to look for a usable adapter until `stop`.
    package func start(completion: @escaping (Result<Void, CommandFailure>) -> Void) {
        onEvent?(.keyboard(node: service.keyboard.node))
        for note in startNotes { onNote?(note) }
        startNotes = []
        beacons.start()
        noteGate()
        if service.device.choice == nil { take(.state(service.device.state, device: nil, reason: choice.fault)) }
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
        choice.end()
        gate.end()
        server?.close()
        server = nil
        beacons.end()
        service.stop { [self] in
            receivedReporter.flush()
            if isReloading { keptLock = lock.keep() } else { lock.release() }
            completion()
        }
    }

    /// State for the process that replaces this one, as words.
    ///
    /// It contains the user requests that are not stored in any file and, after `stop`, the descriptor number of the
    /// adapter's lock.
    package var memory: String {
        let words = [
            gate.isPaused ? "paused" : nil, service.device.state == .disconnected ? "disconnected" : nil,
            keptLock.map { Self.lockWord + "\($0)" },
        ]
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
        if words.contains("disconnected") { service.device.disconnect() }
    }

    package var isPaused: Bool { gate.isPaused }

    /// Settings as shown by `status`, with the profile that was found on the device.
    private var labels: DaemonLabels {
        var labels = options.labels
        if service.device.state == .connected, let found = service.device.profile { labels.profile = found.name }
        return labels
    }

    package var status: DaemonStatus {
        let now = MonotonicClock.now
        return DaemonStatus(
            state: service.device.state,
            reason: service.device.reason,
            since: now - stateSince,
            choice: service.device.choice,
            requiredSecurity: service.device.requiredSecurity,
            device: service.device.address,
            adapter: service.adapter?.name,
            keyboard: service.keyboard.node,
            labels: labels,
            isPaused: isPaused,
            gate: gate.reason,
            counts: service.counts,
            link: service.device.linkFacts,
            links: service.device.linkCounts,
            radio: service.radioCounts,
            lastReceived: receivedReporter.last.map { (now - $0.time, $0.length) },
            rivals: rivals.names(now: now),
            choiceFault: choice.fault,
            allows: allows,
            beacons: beacons.summary
        )
    }

    // MARK: Events

    /// Forwarder of service events, because the service needs a handler before this object is initialized.
    private final class Relay {
        var handler: ((KeyboardService.Event) -> Void)?
    }

    private func take(_ event: KeyboardService.Event) {
        if case .state(let state, _, let reason) = event {
            if state != .connected { receivedReporter.flush() }
            stateSince = MonotonicClock.now
            notifier.tell(state.sentence(service.device.choice, reason, in: .english))
        }
        if let object = event.object(service.device.choice) {
            if case .state = event { latest = object }
            server?.publish(object)
        }
        onEvent?(event)
    }

    private func publish(_ report: ReceivedMeter.Report) {
        var object = JSONObject(event: .received)
        object.add("notifications", report.values)
        object.add("bytes", report.bytes)
        server?.publish(object)
        onReceived?(report)
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

    // MARK: Selected device

    /// Selects a device, or none; a device that was just `heard` is connected without another scan.
    func choose(_ kept: SelectedDevice?, heard: DeviceAddress? = nil) {
        let choice = kept.map(DeviceSelector.kept)
        // The file may have been touched without changing the selection.
        if choice != service.device.choice { service.device.choose(choice, heard: heard) }
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
        var events: [JSONObject] = []
        if let object = KeyboardService.Event.keyboard(node: service.keyboard.node).object(nil) {
            events.append(object)
        }
        let device = service.device
        let state = KeyboardService.Event.state(device.state, device: device.address, reason: device.reason)
        if let object = latest ?? state.object(device.choice) { events.append(object) }
        events.append(gateEvent)
        return events + [beacons.currentEvent].compactMap(\.self)
    }
}
