// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import BluetoothAdapters
import Configuration
import Control
import Devices
import LinuxIO
import Texts
import Typing

/// Beacon functions of the daemon: client requests, region actions (D-30), and availability (SW-2).
final class DaemonBeacons {
    /// Handler for events that clients receive.
    var onEvent: ((JSONObject) -> Void)?
    /// Handler for other messages to the user.
    var onNote: ((Reason) -> Void)?
    /// Handler for each entry and exit for which the hook must run; receives the beacon's key code, too.
    var onHook: ((RegionWatch.Notice, String?) -> Void)?
    /// Reason why the beacons designated in earlier runs could not be read; nil if they could.
    let storeFault: Reason?

    /// Maximum number of regions whose sightings are included in `status`.
    private static let mostSightings = 100

    private let options: Daemon.Options
    private let actions: [BeaconAction]
    private let radio: RadioArbiter
    private let gate: KeyboardGate
    private let codes: KeyCodeTyper
    private let store: DesignatedStore
    private let service: BeaconService
    private let advertiser: BeaconAdvertiser
    private let ranging: BeaconRanging
    /// Availability that was last reported to clients.
    private var availability = BeaconAvailability.starting
    /// Reason why beacons cannot be used on the adapter; nil if they can.
    private var hindrance: BeaconAvailability? = .starting

    /// Creates the beacon functions of the daemon; regions are watched from `start` on.
    init(_ options: Daemon.Options, opening gate: KeyboardGate, typing codes: KeyCodeTyper, on radio: RadioArbiter) {
        self.options = options
        actions = options.beacons.actions
        self.gate = gate
        self.codes = codes
        self.radio = radio
        store = DesignatedStore(options.paths.designated)
        var designated = DesignatedBeacons()
        var fault: Reason?
        store.upgrade()
        do throws(CommandFailure) {
            designated = try store.read()
        } catch {
            fault = Reason(error)
        }
        storeFault = fault
        service = BeaconService(
            BeaconMonitor(
                options.regions,
                designated: designated,
                limit: options.beacons.mostDesignated,
                settings: options.beacons.settings,
                exponent: options.beacons.pathLoss
            ),
            on: radio
        )
        advertiser = BeaconAdvertiser(on: radio)
        ranging = BeaconRanging(service, on: radio.loop)
    }

    /// Starts the functions that the configuration enables.
    func start() {
        let settings = options.beacons
        service.onEvent = { [unowned self] event in take(event) }
        service.onFailure = { [unowned self] error in
            // The loss of the adapter is reported separately.
            if error != .adapterGone { onNote?(Reason(CommandFailure(error))) }
        }
        service.onChange = { [unowned self] in noteAvailability() }
        advertiser.onChange = { [unowned self] in onEvent?(advertiserObject(.advertising)) }
        service.change { monitor in
            if let managed = options.managed?() { monitor.setManaged(managed) }
            for group in settings.watched { _ = monitor.watch(group, settings.options) }
            for action in actions where !monitor.isWatched(action.region) { monitor.watch(action.region) }
        }
        if let identity = settings.advertised {
            let power = Int8(clamping: settings.advertisedPower)
            if let frame = BeaconFrame(settings.advertisedFormat, identity, measuredPower: power) {
                advertiser.start(frame)
            }
        }
        setGate()
        noteAvailability()
        // If no terminal is configured, the display counts as switched on when the daemon starts (D-24).
        if options.terminal == nil, settings.isWatching {
            service.onStarted = { [unowned self] in service.displayStarted() }
        }
    }

    func end() {
        service.end()
        advertiser.stop()
    }

    func displayCameOn() { service.displayCameOn() }

    /// Availability event for a new client; nil if there are no regions.
    var currentEvent: JSONObject? { availability.state == .unconfigured ? nil : availabilityEvent }

    /// Answers a client's request.
    func handle(_ request: BeaconRequest, reply: @escaping (Result<JSONObject, CommandFailure>) -> Void) {
        switch request {
        case .status: reply(.success(status))
        case .regions:
            refreshManaged()
            reply(.success(JSONObject(regionsOf: service.monitor)))
        case .watch(let group, let options):
            // Regions that were fetched since the last request are watched too.
            refreshManaged()
            reply(.success(counted("regions", service.change { $0.watch(group, options) })))
        case .unwatch(let group): reply(.success(counted("regions", service.change { $0.unwatch(group) })))
        case .range(let place, let seconds, let withoutDesignated):
            ranging.range(place, for: .seconds(seconds), withoutDesignated: withoutDesignated, reply)
        case .designate(let codes, let region, let options): reply(designate(codes, region, options))
        case .designated:
            var object = JSONObject()
            object.add("designated", service.monitor.designated.beacons.map { JSONObject($0) })
            reply(.success(object))
        case .update(let codes, let isSwitcher):
            reply(keeping(codes) { monitor, keep in monitor.update(codes, isSwitcher: isSwitcher, keep: keep) })
        case .release(let code): reply(keeping([code]) { monitor, keep in monitor.release(code, keep: keep) })
        case .advertise(let frame):
            advertiser.start(frame)
            reply(.success(advertiserObject()))
        case .stopAdvertising:
            let wasOn = advertiser.stop()
            reply(
                wasOn ? .success(JSONObject()) : .failure(CommandFailure(.unavailable, BeaconFaultText.notAdvertising))
            )
        case .clear: reply(clear())
        case .contact(let region, let result):
            var object = JSONObject(event: .contact)
            object.add("region", "\(region)")
            object.add("name", service.monitor.catalogue.name(of: region))
            object.add("result", result.rawValue)
            onEvent?(object)
            reply(.success(JSONObject()))
        }
    }

    // MARK: State

    private var status: JSONObject {
        let monitor = service.monitor
        var object = availability.members
        object.add("known", monitor.regions.count)
        object.add("watched", monitor.watched.map { "\($0)" })
        object.add("inside", monitor.inside.map { "\($0)" })
        object.add("actions", actions.map { JSONObject($0) })
        object.add("designated", monitor.designated.beacons.map { JSONObject($0) })
        let now = MonotonicClock.now
        object.add(
            "sightings",
            monitor.sightings(most: Self.mostSightings).map { JSONObject($0, in: monitor, now: now) }
        )
        object.add(membersOf: advertiserObject())
        object.add("counts", counts)
        object.addForms(availability.forms + advertiserForms)
        return object
    }

    /// Members of `status` about beacons; nil if beacons have not been used.
    var summary: JSONObject? {
        let monitor = service.monitor
        guard !monitor.isIdle || monitor.counters.reports > 0 || advertiser.frame != nil else { return nil }
        var object = JSONObject()
        object.add("available", availability.state == .possible)
        object.add("watched", monitor.watched.count)
        object.add("inside", monitor.inside.count)
        object.add("advertising", advertiser.state == .on)
        object.add(membersOf: counts)
        let actions = actions.filter(\.deed.wantsConsent).map(\.name)
        if !actions.isEmpty { object.add("unauthenticatedActions", actions) }
        return object
    }

    private var counts: JSONObject {
        var object = JSONObject(service.monitor.counters)
        object.add("codesTaken", codes.taken)
        object.add("codesDropped", codes.dropped)
        return object
    }

    private func advertiserObject(_ event: ControlEvent? = nil) -> JSONObject {
        var object = event.map { JSONObject(event: $0) } ?? JSONObject()
        object.add("advertising", advertiser.state.rawValue)
        object.add("advertised", advertiser.frame.map { "\($0.identity)" })
        object.add("format", advertiser.frame?.format.rawValue)
        object.add("advertisingFault", advertiser.failure?.cause)
        object.add("advertisingRemedy", advertiser.failure?.remedy)
        return object
    }

    private var advertiserForms: [(name: String, message: Message?)] {
        [("advertisingFault", advertiser.failure?.cause), ("advertisingRemedy", advertiser.failure?.remedy)]
    }

    private func counted(_ name: String, _ count: Int) -> JSONObject {
        var object = JSONObject()
        object.add(name, count)
        return object
    }

    // MARK: Designated beacons

    private func designate(
        _ codes: [String],
        _ region: BeaconRegion?,
        _ options: WatchOptions
    ) -> Result<JSONObject, CommandFailure> {
        let hasAdapter = radio.adapter != nil || hindrance?.state == .starting
        let answer = service.change { monitor in
            monitor.designate(codes, in: region, options, hasAdapter: hasAdapter) { beacons in
                store.keep(beacons) == nil
            }
        }
        return .success(JSONObject(answer, in: service.monitor))
    }

    private func keeping(
        _ codes: [String],
        _ change: (inout BeaconMonitor, (DesignatedBeacons) -> Bool) -> Bool
    ) -> Result<JSONObject, CommandFailure> {
        if let code = codes.first(where: { service.monitor.designated.beacon(ofCode: $0) == nil }) {
            return .failure(CommandFailure(.usage, BeaconFaultText.notDesignated, code))
        }
        var failure: CommandFailure?
        _ = service.change { monitor in
            change(&monitor) { beacons in
                failure = store.keep(beacons)
                return failure == nil
            }
        }
        if let failure { return .failure(failure) }
        var object = JSONObject()
        object.add("designated", service.monitor.designated.beacons.map { JSONObject($0) })
        return .success(object)
    }

    /// Reads the server's regions, which another process may have fetched.
    private func refreshManaged() {
        if let managed = options.managed?() { service.change { $0.setManaged(managed) } }
    }

    private func clear() -> Result<JSONObject, CommandFailure> {
        do throws(CommandFailure) {
            try store.remove()
            try options.removeServerFiles?()
        } catch {
            return .failure(error)
        }
        service.change { monitor in monitor.clear() }
        return .success(JSONObject())
    }

    // MARK: Region actions

    private func take(_ event: BeaconMonitor.Event) {
        if case .ranged = event { return }
        onEvent?(JSONObject(event, in: service.monitor))
        guard case .region(let notice) = event, notice.change != .inside else { return }
        setGate()
        for action in actions where action.region == notice.region {
            switch action.deed {
            case .gate, .event: break
            case .hook: onHook?(notice, service.monitor.catalogue.keyCode(of: notice.beacon))
            case .type:
                guard notice.change == .entered else { break }
                if let code = service.monitor.catalogue.keyCode(of: notice.beacon) { codes.type(code) }
            }
        }
    }

    /// Opens or closes the gate depending on the entered regions, if a region has an action that opens the gate.
    private func setGate() {
        let regions = actions.filter { $0.deed == .gate }.map(\.region)
        guard !regions.isEmpty else { return }
        gate.isOutside = !regions.contains { service.monitor.isInside($0) }
    }

    // MARK: Availability

    func take(_ event: AdapterCore.Event) {
        switch event {
        case .ready:
            hindrance = nil
            advertiser.begin()
        case .failed(let error): hindrance = BeaconAvailability(error)
        case .lost(let loss):
            hindrance = BeaconAvailability(loss)
            advertiser.adapterLost()
        }
        noteAvailability()
    }

    /// Records the reason why the adapter may not be used.
    func take(refusal: CommandFailure) {
        hindrance = BeaconAvailability(refused: refusal)
        noteAvailability()
    }

    /// Notifies clients if the state of the availability has changed.
    private func noteAvailability() {
        let last = availability.state
        availability = currentAvailability
        if availability.state != last { onEvent?(availabilityEvent) }
    }

    private var currentAvailability: BeaconAvailability {
        let monitor = service.monitor
        // Radio faults do not matter to a user who has no regions.
        if monitor.watched.isEmpty, monitor.regions.isEmpty { return .unconfigured }
        return hindrance ?? service.failure.flatMap { BeaconAvailability($0) } ?? .possible
    }

    private var availabilityEvent: JSONObject {
        var object = JSONObject(event: .beaconAvailability)
        object.add(membersOf: availability.members)
        object.addForms(availability.forms)
        return object
    }
}
