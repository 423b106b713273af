// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
package import BluetoothLE
package import Configuration
import Control
package import Devices
import LinuxIO
import SystemPackage
package import Texts
package import Typing

/// The keyboard as a service: it follows the choice, keeps others from its adapter, and does what clients ask for.
///
/// To be used on the loop's thread.
package final class Daemon {
    /// The settings of the daemon that do not concern typing.
    package struct Options: Sendable {
        /// Where it keeps what it needs.
        package var paths: DaemonPaths
        /// Whether it follows the file of the choice; else its device is the one of its settings, for good.
        package var followsChoice: Bool
        /// The virtual terminal that must be in front; nil for any.
        package var terminal: Int?
        /// Whether clients may press keys (D-9).
        package var allowsKeys: Bool
        /// The profile, the layout, the table and the program's version, as `status` shows them.
        package var labels: DaemonLabels
        /// What is done about beacons, and the regions that are known.
        package var beacons = BeaconConfiguration()
        package var regions = RegionCatalogue(RegionFile())
        /// Reads the server's regions, as they were fetched last; nil where that failed.
        package var managed: (@Sendable () -> [RegionFile.Entry]?)?
        /// Removes the server's regions and the tracks that wait to be sent.
        package var removeServerFiles: (@Sendable () throws(CommandFailure) -> Void)?

        /// Options.
        package init(
            paths: DaemonPaths,
            followsChoice: Bool,
            terminal: Int?,
            allowsKeys: Bool,
            labels: DaemonLabels
        ) {
            self.paths = paths
            self.followsChoice = followsChoice
            self.terminal = terminal
            self.allowsKeys = allowsKeys
            self.labels = labels
        }
    }

    /// Told what happens.
    package var onEvent: ((KeyboardService.Event) -> Void)?
    /// Told of what goes on beside that, for people.
    package var onNote: ((Reason) -> Void)?
    /// Called when a client has asked for the end.
    package var onStopAsked: (() -> Void)?
    /// Told how much was received from the device: at once, then ten times a second at most, and before its link's end.
    package var onReceived: ((ReceivedMeter.Report) -> Void)?
    /// Told of each entry and exit that the hook is told of, with the beacon's key code.
    package var onBeacon: ((RegionWatch.Notice, String?) -> Void)?
    /// Reads the configuration again; nil where there is none.
    package var onReload: (() throws(CommandFailure) -> Void)?

    /// The typing.
    package let service: KeyboardService
    let options: Options
    let store: ChoiceStore
    let bonds: BondStore
    let gate: KeyboardGate
    let designatedStore: DesignatedStore
    let beacons: BeaconService
    let advertiser: BeaconAdvertiser
    /// The key codes of beacons that were taken as barcodes, and those that could not be.
    var codes = (taken: UInt64(0), dropped: UInt64(0))
    /// How many clients wait for the list of a region's beacons.
    var rangings: [BeaconRegion: Int] = [:]
    /// Whether beacons can be watched, as clients were told last; and why the adapter is in the way of that.
    var availability = BeaconAvailability.starting
    var beaconHindrance: BeaconAvailability? = .starting
    let loop: EventLoop

    private static let lockWord = "lock="

    private let lock: AdapterLock
    /// The lock's number for the process that takes this one's place.
    private var keptLock: Int32?
    private let follower: ChoiceFollower?
    private let allows: Message?
    private let notifier: ServiceNotifier
    private var server: ControlServer?
    private var meter = ReceivedMeter()
    private var meterTimer: EventLoop.Timer?
    private var rivals = Rivals()
    private var stateSince = MonotonicClock.now
    private var lastReceived: (time: Int64, length: Int)?
    private var choiceFault: Reason?
    private var latest: JSONObject?
    /// The notes from before `onNote` was set.
    private var startNotes: [Reason] = []

    /// Sets everything up, so that clients are answered; nothing is scanned for yet.
    package init(
        _ settings: KeyboardSettings,
        _ options: Options,
        through core: AdapterCore,
        screen: TextKeyboard? = nil
    ) throws(CommandFailure) {
        let loop = core.loop
        self.loop = loop
        self.options = options
        store = ChoiceStore(options.paths.choice)
        bonds = BondStore(options.paths.bonds)
        designatedStore = DesignatedStore(options.paths.designated)
        lock = AdapterLock(options.paths)
        gate = try KeyboardGate(terminal: options.terminal, on: loop)
        follower = options.followsChoice ? try ChoiceFollower(store, on: loop) : nil
        notifier = ServiceNotifier(on: loop)

        var settings = settings
        var fault: ChoiceStore.Failure?
        if let follower {
            switch follower.read() {
            case .success(let kept): settings.device = kept.map(DeviceChoice.kept)
            case .failure(let failure): fault = failure
            }
        }
        let actions = options.beacons.actions.filter(\.deed.wantsConsent).map { "beacons.actions.\($0.name)" }
        let beaconAllowance = actions.isEmpty ? nil : AllowanceText.beacons.message(actions.joined(separator: " "))
        let allowances = [settings.typing.allowances, beaconAllowance].compactMap(\.self)
        allows = allowances.isEmpty ? nil : Message.listed(allowances)
        var designated = DesignatedBeacons()
        do throws(CommandFailure) {
            designated = try designatedStore.read()
        } catch {
            startNotes.append(Reason(error))
        }
        beacons = BeaconService(
            BeaconMonitor(
                options.regions,
                designated: designated,
                limit: options.beacons.mostDesignated,
                settings: options.beacons.settings,
                exponent: options.beacons.pathLoss
            ),
            on: core.radio
        )
        advertiser = BeaconAdvertiser(on: core.radio)
        let relay = Relay()
        service = try KeyboardService(settings, through: core, screen: screen) { event in
            relay.handler?(event)
        }
        relay.handler = { [unowned self] event in take(event) }
        do throws(CommandFailure) {
            try options.paths.makeRuntimeDirectory()
            server = try ControlServer(
                at: options.paths.controlSocket.string,
                allowsKeys: options.allowsKeys,
                on: loop,
                handler: self
            )
        } catch {
            // A keyboard for one device works without clients, and beside a daemon that uses another adapter.
            if options.followsChoice { throw error }
            startNotes.append(Reason(ReasonText.unanswered.message(error.cause)))
        }
        do throws(BondStore.Failure) {
            for note in try bonds.read().notes(bonds.path) { startNotes.append(Reason(note)) }
        } catch {
            // Whoever has keys of its devices types nothing without them.
            throw CommandFailure(error)
        }
        service.bonds = { [bonds] () throws(BondStore.Failure) in try bonds.read() }
        service.refusal = { [unowned self] name in
            let refusal = refusal(of: name)
            if let refusal { take(refusal: refusal) }
            return refusal
        }
        service.isAbandoned = { [unowned self] in lock.takeAbandonment() }
        service.onReceived = { [unowned self] length in received(length) }
        service.onAdapter = { [unowned self] event in take(event) }
        service.isGateOpen = gate.isOpen
        gate.onChange = { [unowned self] isOpen in gateChanged(isOpen) }
        gate.onFront = { [unowned self] in beacons.displayCameOn() }
        follower?.onChange = { [unowned self] result in chosenElsewhere(result) }
        if let fault { startNotes.append(reason(of: fault)) }
    }

    /// Begins; `completion` is called once, with the reason if the adapter cannot be used now.
    ///
    /// It is looked for further, until `stop`.
    package func start(completion: @escaping (Result<Void, CommandFailure>) -> Void) {
        onEvent?(.keyboard(node: service.keyboard.node))
        for note in startNotes { onNote?(note) }
        startNotes = []
        startBeacons()
        noteGate()
        if service.choice == nil { take(.state(service.state, device: nil, reason: choiceFault)) }
        service.start { [unowned self] result in
            notifier.ready()
            notifier.tell(service.state.sentence(service.choice, service.reason, in: .english))
            notifier.watch(
                hasAnswered: { [unowned self] in service.keyboard.hasAnswered },
                ask: { [unowned self] in service.keyboard.ping() }
            )
            completion(result)
        }
    }

    /// Lets clients go, closes the link, and calls `completion` when all is quiet.
    ///
    /// Where this process goes on as another daemon then (`isReloading`), the service manager hears so, and the adapter's lock
    /// is left to that one.
    package func stop(isReloading: Bool = false, completion: @escaping () -> Void) {
        if isReloading { notifier.reloading() } else { notifier.stopping() }
        follower?.end()
        gate.end()
        server?.close()
        server = nil
        beacons.end()
        advertiser.stop()
        service.stop { [self] in
            reportRest()
            if isReloading { keptLock = lock.keep() } else { lock.release() }
            completion()
        }
    }

    /// The requests of the user that are in force and in no file, and the number of the adapter's lock after `stop`, as words
    /// for the process that takes this one's place.
    package var memory: String {
        let words = [
            gate.isPaused ? "paused" : nil, service.state == .disconnected ? "disconnected" : nil,
            keptLock.map { Self.lockWord + "\($0)" },
        ]
        return words.compactMap(\.self).joined(separator: " ")
    }

    /// Takes the adapter's lock that the process before this one has left; to be called before `start`.
    package func inherit(_ memory: String?) {
        let word = memory?.split(separator: " ").first { $0.hasPrefix(Self.lockWord) }
        if let number = word.flatMap({ Int32($0.dropFirst(Self.lockWord.count)) }) { lock.inherit(number) }
    }

    /// Takes what the process before this one had been asked for.
    package func restore(_ memory: String?) {
        let words = memory?.split(separator: " ") ?? []
        if words.contains("paused") { gate.isPaused = true }
        if words.contains("disconnected") { service.disconnect() }
    }

    /// Whether the user has paused.
    package var isPaused: Bool { gate.isPaused }

    /// Settings in `status`, with the profile found on the device.
    private var labels: DaemonLabels {
        var labels = options.labels
        if service.state == .connected, let found = service.profile { labels.profile = found.name }
        return labels
    }

    /// How it stands.
    package var status: DaemonStatus {
        let now = MonotonicClock.now
        return DaemonStatus(
            state: service.state,
            reason: service.reason,
            since: now - stateSince,
            choice: service.choice,
            requiredSecurity: service.requiredSecurity,
            device: service.device,
            adapter: service.adapterName,
            keyboard: service.keyboard.node,
            labels: labels,
            isPaused: isPaused,
            gate: gate.reason,
            counts: service.counts,
            link: service.linkFacts,
            links: service.linkCounts,
            radio: service.radioCounts,
            lastReceived: lastReceived.map { (now - .nanoseconds($0.time), $0.length) },
            rivals: rivals.names(now: now),
            choiceFault: choiceFault,
            allows: allows,
            beacons: beaconSummary
        )
    }

    // MARK: What happens

    /// The service is made with a handler before this object is whole.
    private final class Relay {
        var handler: ((KeyboardService.Event) -> Void)?
    }

    private func take(_ event: KeyboardService.Event) {
        if case .state(let state, _, let reason) = event {
            if state != .connected { reportRest() }
            stateSince = MonotonicClock.now
            notifier.tell(state.sentence(service.choice, reason, in: .english))
        }
        if let object = event.object(service.choice) {
            if case .state = event { latest = object }
            server?.publish(object)
        }
        onEvent?(event)
    }

    private func received(_ length: Int) {
        lastReceived = (MonotonicClock.nanoseconds, length)
        // With nobody to be told there is no report, and no timer that wakes for one.
        guard onReceived != nil || (server?.clientCount ?? 0) > 0 else { return }
        meter.add(length)
        reportReceived()
    }

    private func reportReceived() {
        guard meterTimer == nil, let deadline = meter.deadline else { return }
        if let report = meter.take(now: MonotonicClock.now) {
            publish(report)
        } else {
            meterTimer = loop.schedule(at: deadline) { [unowned self] in
                meterTimer = nil
                reportReceived()
            }
        }
    }

    /// Tells what was received and not told, and wakes no more for it.
    private func reportRest() {
        if let meterTimer { loop.cancel(meterTimer) }
        meterTimer = nil
        if let rest = meter.takeAll(now: MonotonicClock.now) { publish(rest) }
    }

    private func publish(_ report: ReceivedMeter.Report) {
        var object = JSONObject()
        object.add("event", "received")
        object.add("notifications", report.values)
        object.add("bytes", report.bytes)
        server?.publish(object)
        onReceived?(report)
    }

    private func gateChanged(_ isOpen: Bool) {
        service.isGateOpen = isOpen
        publish(gateEvent)
        if isOpen { onNote?(Reason(ReasonText.typedAgain.message())) } else { noteGate() }
    }

    /// Tells clients.
    func publish(_ object: JSONObject) { server?.publish(object) }

    /// The time at which a value was received last; nil before the first.
    var lastValueTime: Duration? { lastReceived.map { .nanoseconds($0.time) } }

    /// Says why nothing is typed, where that is so.
    private func noteGate() {
        guard let reason = gate.reason else { return }
        onNote?(Reason(ReasonText.nothingTyped.message(reason.cause), remedy: reason.remedy))
    }

    private var gateEvent: JSONObject {
        var object = JSONObject()
        object.add("event", "gate")
        object.add("open", gate.isOpen)
        object.add("paused", gate.isPaused)
        object.add("reason", gate.reason?.cause)
        return object
    }

    // MARK: The choice

    private func chosenElsewhere(_ result: Result<KeptChoice?, ChoiceStore.Failure>) {
        switch result {
        case .success(let kept): choose(kept)
        // The earlier choice stays in force.
        case .failure(let failure): onNote?(reason(of: failure))
        }
    }

    /// Means that device from now on; where it was `heard` just now, it is not listened for again.
    func choose(_ kept: KeptChoice?, heard: DeviceAddress? = nil) {
        choiceFault = nil
        let choice = kept.map(DeviceChoice.kept)
        // A file that was only touched changes nothing.
        if choice != service.choice { service.choose(choice, heard: heard) }
    }

    private func reason(of failure: ChoiceStore.Failure) -> Reason {
        let reason = Reason(CommandFailure(failure))
        choiceFault = reason
        return reason
    }

    /// Why an adapter may not be used; nil where it may.
    private func refusal(of adapter: String) -> CommandFailure? {
        guard let refusal = lock.take(adapter) else { return nil }
        // A keyboard for one device works where no lock can be made, but never where another has it.
        return options.followsChoice || refusal.status == .unavailable ? refusal : nil
    }
}

extension Daemon: ControlHandler {
    package var currentEvents: [JSONObject] {
        var events: [JSONObject] = []
        if let object = KeyboardService.Event.keyboard(node: service.keyboard.node).object(nil) {
            events.append(object)
        }
        let state = KeyboardService.Event.state(service.state, device: service.device, reason: service.reason)
        if let object = latest ?? state.object(service.choice) { events.append(object) }
        events.append(gateEvent)
        return availability.state == .unconfigured ? events : events + [availabilityEvent]
    }
}
