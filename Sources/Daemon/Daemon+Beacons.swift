// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
import BluetoothLE
import Configuration
package import Control
import Devices
import Keystrokes
import LinuxIO
import SystemPackage
import Texts
import Typing

// What the daemon does about beacons: the requests of clients, and the actions of regions (D-30).

extension Daemon {
    /// How long the typing of a key code waits for a pause in what is received, and how often it looks.
    private static let typingPatience = Duration.seconds(5)
    private static let typingInterval = Duration.milliseconds(10)
    /// The silence behind which a key code cannot come into the middle of a barcode.
    private static let silence = Duration.milliseconds(100)
    /// The most regions whose sightings `status` tells.
    private static let mostSightings = 100

    /// Begins what the configuration asks for.
    func startBeacons() {
        let settings = options.beacons
        beacons.onEvent = { [unowned self] event in take(event) }
        beacons.onFailure = { [unowned self] error in
            // The adapter's loss is told by itself.
            if error != .adapterGone { onNote?(Reason(CommandFailure(error))) }
        }
        beacons.onChange = { [unowned self] in noteAvailability() }
        advertiser.onChange = { [unowned self] in
            publish(advertiserObject(named: "advertising"))
        }
        beacons.change { monitor in
            if let managed = options.managed?() { monitor.setManaged(managed) }
            for group in settings.watched { _ = monitor.watch(group, settings.options) }
            for action in settings.actions where !monitor.isWatched(action.region) { monitor.watch(action.region) }
        }
        if let identity = settings.advertised {
            let power = Int8(clamping: settings.advertisedPower)
            if let frame = BeaconFrame(settings.advertisedFormat, identity, measuredPower: power) {
                advertiser.start(frame)
            }
        }
        setBeaconGate()
        noteAvailability()
        // Without a terminal to come to the front, the display goes on with the daemon (D-24).
        if options.terminal == nil, settings.isWatching {
            beacons.onStarted = { [unowned self] in beacons.displayStarted() }
        }
    }

    func handle(_ request: BeaconRequest, reply: @escaping (Result<JSONObject, CommandFailure>) -> Void) {
        switch request {
        case .status: reply(.success(beaconStatus))
        case .regions:
            var object = JSONObject()
            let monitor = beacons.monitor
            object.add("regions", monitor.regions.map { JSONObject($0, in: monitor) })
            reply(.success(object))
        case .watch(let group, let options):
            // Those of a fetch since the last time are watched too.
            let managed = self.options.managed?()
            let count = beacons.change { monitor in
                if let managed { monitor.setManaged(managed) }
                return monitor.watch(group, options)
            }
            reply(.success(counted("regions", count)))
        case .unwatch(let group): reply(.success(counted("regions", beacons.change { $0.unwatch(group) })))
        case .range(let place, let seconds, let withoutDesignated):
            range(place, .seconds(seconds), withoutDesignated: withoutDesignated, reply)
        case .designate(let codes, let region, let options): reply(designate(codes, region, options))
        case .designated:
            var object = JSONObject()
            object.add("designated", beacons.monitor.designated.beacons.map { JSONObject($0) })
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
        case .clear: reply(clearBeacons())
        }
    }

    // MARK: How it stands

    private var beaconStatus: JSONObject {
        let monitor = beacons.monitor
        var object = availability.members
        object.add("known", monitor.regions.count)
        object.add("watched", monitor.watched.map { "\($0)" })
        object.add("inside", monitor.inside.map { "\($0)" })
        object.add("actions", options.beacons.actions.map { JSONObject($0) })
        object.add("designated", monitor.designated.beacons.map { JSONObject($0) })
        let now = MonotonicClock.now
        object.add(
            "sightings",
            monitor.sightings(most: Self.mostSightings).map { JSONObject($0, in: monitor, now: now) }
        )
        object.add(membersOf: advertiserObject())
        object.add("counts", beaconCounts)
        object.addForms(availability.forms + advertiserForms)
        return object
    }

    /// What `status` says of beacons; nil where nothing was ever asked of them.
    var beaconSummary: JSONObject? {
        let monitor = beacons.monitor
        guard !monitor.isIdle || monitor.counters.reports > 0 || advertiser.frame != nil else { return nil }
        var object = JSONObject()
        object.add("available", availability.state == .possible)
        object.add("watched", monitor.watched.count)
        object.add("inside", monitor.inside.count)
        object.add("advertising", advertiser.state == .on)
        object.add(membersOf: beaconCounts)
        let actions = options.beacons.actions.filter(\.deed.wantsConsent).map(\.name)
        if !actions.isEmpty { object.add("unauthenticatedActions", actions) }
        return object
    }

    private var beaconCounts: JSONObject {
        var object = JSONObject(beacons.monitor.counters)
        object.add("codesTaken", codes.taken)
        object.add("codesDropped", codes.dropped)
        return object
    }

    private func advertiserObject(named event: String? = nil) -> JSONObject {
        var object = JSONObject()
        object.add("event", event)
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

    // MARK: Ranging

    private func range(
        _ place: BeaconRequest.Place,
        _ time: Duration,
        withoutDesignated: Bool,
        _ reply: @escaping (Result<JSONObject, CommandFailure>) -> Void
    ) {
        let regions = beacons.monitor.regions(of: place)
        guard !regions.isEmpty else {
            return reply(.failure(CommandFailure(.unavailable, BeaconFaultText.nothingToWatch, place.word)))
        }
        var begun: [BeaconRegion] = []
        let isRanged = beacons.change { monitor in
            regions.allSatisfy { region in
                guard monitor.range(region, now: MonotonicClock.now) else { return false }
                begun.append(region)
                rangings[region, default: 0] += 1
                return true
            }
        }
        guard isRanged else {
            beacons.change { monitor in for region in begun { unrange(region, &monitor) } }
            let most = "\(BeaconMonitor.mostRanged)"
            return reply(.failure(CommandFailure(.unavailable, BeaconFaultText.tooManyRanged, most)))
        }
        _ = loop.schedule(at: MonotonicClock.now + time) { [weak self] in
            guard let self else { return }
            reply(.success(endRanging(begun, withoutDesignated: withoutDesignated)))
        }
    }

    private func endRanging(_ regions: [BeaconRegion], withoutDesignated: Bool) -> JSONObject {
        beacons.change { monitor in
            var objects: [JSONObject] = []
            for region in regions {
                let list = monitor.list(region, now: MonotonicClock.now)
                var object = JSONObject()
                object.add("region", "\(region)")
                object.add(
                    "beacons",
                    list.filter { !withoutDesignated || monitor.designated[$0.identity] == nil }
                        .map { JSONObject($0, in: monitor) }
                )
                objects.append(object)
                unrange(region, &monitor)
            }
            var answer = JSONObject()
            answer.add("ranged", objects)
            answer.add("counts", JSONObject(monitor.counters))
            return answer
        }
    }

    /// Ranges a region no more, where no other client waits for its list.
    private func unrange(_ region: BeaconRegion, _ monitor: inout BeaconMonitor) {
        let others = (rangings[region] ?? 1) - 1
        rangings[region] = others > 0 ? others : nil
        if others <= 0 { _ = monitor.unrange(region) }
    }

    // MARK: Designated beacons

    private func designate(
        _ codes: [String],
        _ region: BeaconRegion?,
        _ options: WatchOptions
    ) -> Result<JSONObject, CommandFailure> {
        let hasAdapter = service.adapterName != nil
        let answer = beacons.change { monitor in
            monitor.designate(codes, in: region, options, hasAdapter: hasAdapter) { beacons in
                designatedStore.keep(beacons) == nil
            }
        }
        return .success(JSONObject(answer, in: beacons.monitor))
    }

    private func keeping(
        _ codes: [String],
        _ change: (inout BeaconMonitor, (DesignatedBeacons) -> Bool) -> Bool
    ) -> Result<JSONObject, CommandFailure> {
        if let code = codes.first(where: { beacons.monitor.designated.beacon(ofCode: $0) == nil }) {
            return .failure(CommandFailure(.usage, BeaconFaultText.notDesignated, code))
        }
        var failure: CommandFailure?
        _ = beacons.change { monitor in
            change(&monitor) { beacons in
                failure = designatedStore.keep(beacons)
                return failure == nil
            }
        }
        if let failure { return .failure(failure) }
        var object = JSONObject()
        object.add("designated", beacons.monitor.designated.beacons.map { JSONObject($0) })
        return .success(object)
    }

    private func clearBeacons() -> Result<JSONObject, CommandFailure> {
        do throws(CommandFailure) {
            try designatedStore.remove()
            try options.removeServerFiles?()
        } catch {
            return .failure(error)
        }
        beacons.change { monitor in monitor.clear() }
        return .success(JSONObject())
    }

    // MARK: What regions do

    private func take(_ event: BeaconMonitor.Event) {
        if case .ranged = event { return }
        publish(JSONObject(event, in: beacons.monitor))
        guard case .region(let notice) = event, notice.change != .inside else { return }
        setBeaconGate()
        for action in options.beacons.actions where action.region == notice.region {
            switch action.deed {
            case .gate, .event: break
            case .hook: onBeacon?(notice, beacons.monitor.catalogue.keyCode(of: notice.beacon))
            case .type: if notice.change == .entered { type(codeOf: notice.beacon) }
            }
        }
    }

    /// Opens and closes the gate by the regions that are inside, where any region opens it.
    private func setBeaconGate() {
        let regions = options.beacons.actions.filter { $0.deed == .gate }.map(\.region)
        guard !regions.isEmpty else { return }
        gate.isOutside = !regions.contains { beacons.monitor.isInside($0) }
    }

    private func type(codeOf beacon: BeaconIdentity) {
        guard let code = beacons.monitor.catalogue.keyCode(of: beacon) else { return }
        // A link has to be secured, and a beacon is not: what it says is not typed then.
        guard service.requiredSecurity ?? GATTLinkSecurity.Level.none == .none else { return codes.dropped &+= 1 }
        type(
            Array(code.utf8) + [service.barcodeEnd].compactMap(\.self),
            until: MonotonicClock.now + Self.typingPatience
        )
    }

    /// Types a key code as a barcode of its own, when nothing that was received is being typed or may go on.
    private func type(_ bytes: [UInt8], until deadline: Duration) {
        let isQuiet = lastValueTime.map { MonotonicClock.now - $0 >= Self.silence } ?? true
        if isQuiet, service.counts.bytes.waiting == 0 {
            service.type(bytes)
            codes.taken &+= 1
        } else if MonotonicClock.now >= deadline {
            codes.dropped &+= 1
        } else {
            _ = loop.schedule(at: MonotonicClock.now + Self.typingInterval) { [weak self] in
                self?.type(bytes, until: deadline)
            }
        }
    }
}

extension BeaconMonitor {
    /// The regions that are meant by a word of `range`.
    package func regions(of place: BeaconRequest.Place) -> [BeaconRegion] {
        switch place {
        case .statics: catalogue.file.staticRegions.map(\.region)
        case .dynamics: catalogue.file.dynamicRegions.map(\.region)
        case .region(let region): [region]
        }
    }
}
