// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import HIDReports

/// Setup of a keyboard over a `GATTClient`: discovers its HID services and subscribes to its reports.
///
/// If the services of a keyboard were kept from an earlier link, its Database Hash (if any) and its report maps are
/// compared with the kept ones. Any difference leads to a new discovery. The subscriptions are written again at the
/// end, when their handles are known to be right. It is a pure state machine, whose owner passes it the events of one
/// connection. HOGP 1.0, 5.1 and 5.2; Core 6.0, Vol 3, Part G, 2.5.2 and 7.3.
package struct HIDSetup: Sendable {
    package enum Progress: Equatable, Sendable {
        case underWay
        /// All subscriptions were written; `device` describes the keyboard.
        case finished
        case unusable(HIDDiscovery.Lack)
        case failed(GATTError)
    }

    private enum Step: Sendable {
        case discovery(HIDDiscovery)
        case subscription(HIDSubscriptions)
        case hash
        /// Searching for the report map of a service.
        case mapHandle(service: Int)
        case map(service: Int)
        case services
        case done
    }

    /// Description of the keyboard; nil until its services are discovered.
    package private(set) var device: HIDDevice?
    /// Description kept from an earlier link, until it was compared; nil for a new keyboard.
    private var kept: HIDDevice?
    private var step: Step
    /// State of the NumLock light, which is written with the subscriptions.
    private let numLock: Bool
    /// True if no procedure is running.
    package var isDone: Bool { if case .done = step { true } else { false } }
    /// True if the subscriptions are those of a kept description that equals the device as far as it was compared.
    private var isCompared = false
    /// True if the services changed during the setup.
    private var isStale = false
    /// Procedure that this setup itself has started.
    private var procedure: GATTClient.ProcedureID?

    /// Creates a setup for a keyboard with these primary services.
    package init(_ services: [GATTService], numLock: Bool) {
        self.numLock = numLock
        step = .discovery(HIDDiscovery(services))
    }

    /// Creates a setup that compares a kept description with the keyboard.
    package init(kept: HIDDevice, numLock: Bool) {
        self.numLock = numLock
        self.kept = kept
        device = kept
        step = .done
    }

    package mutating func begin(_ client: inout GATTClient, now: Duration) -> Progress {
        switch step {
        case .discovery(var discovery):
            let progress = discovery.begin(&client, now: now)
            step = .discovery(discovery)
            return take(progress, &client, now)
        case .done:
            guard let kept else { return .underWay }
            guard kept.databaseHash != nil else { return findMap(ofService: 0, &client, now) }
            step = .hash
            return start { () throws(GATTError) in try client.read(HIDAttributeType.databaseHash, now: now) }
        case .subscription, .hash, .mapHandle, .map, .services: return .underWay
        }
    }

    /// Discovers the keyboard again because it reported changed services.
    ///
    /// During the setup, this is done before the subscriptions are written, or after them if they are being written.
    package mutating func discoverAgain(_ client: inout GATTClient, now: Duration) -> Progress {
        guard case .done = step else {
            isStale = true
            return .underWay
        }
        kept = device
        return discoverAgain(&client, now)
    }

    package mutating func handle(_ event: GATTClient.Event, _ client: inout GATTClient, now: Duration) -> Progress {
        switch step {
        case .discovery(var discovery):
            let progress = discovery.handle(event, &client, now: now)
            step = .discovery(discovery)
            return take(progress, &client, now)
        case .subscription(var subscriptions):
            let progress = subscriptions.handle(event, &client, now: now)
            step = .subscription(subscriptions)
            return take(progress, &client, now)
        case .hash, .mapHandle, .map, .services, .done:
            guard event.procedure == procedure else { return .underWay }
            procedure = nil
            if case .failure(.bearer(let failure)) = event.result { return .failed(.bearer(failure)) }
            return compare(event.result, &client, now)
        }
    }

    private mutating func take(
        _ progress: HIDDiscovery.Progress,
        _ client: inout GATTClient,
        _ now: Duration
    ) -> Progress {
        switch progress {
        case .underWay: return .underWay
        case .unusable(let lack): return .unusable(lack)
        case .failed(let error): return .failed(error)
        case .found(let device):
            let isKnown = device == kept
            self.device = device
            return subscribe(to: device, hasEarlier: isKnown, &client, now)
        }
    }

    private mutating func subscribe(
        to device: HIDDevice,
        hasEarlier: Bool,
        _ client: inout GATTClient,
        _ now: Duration
    ) -> Progress {
        // The known handles may be out of date (Core 6.0, Vol 3, Part G, 2.5.2).
        guard !isStale else {
            isStale = false
            return discoverAgain(&client, now)
        }
        kept = nil
        var subscriptions = HIDSubscriptions(device, hasEarlier: hasEarlier, numLock: numLock)
        let progress = subscriptions.begin(&client, now: now)
        step = .subscription(subscriptions)
        return take(progress, &client, now)
    }

    private mutating func take(
        _ progress: HIDSubscriptions.Progress,
        _ client: inout GATTClient,
        _ now: Duration
    ) -> Progress {
        switch progress {
        case .underWay: return .underWay
        case .failed(let error): return .failed(error)
        case .done(let refused):
            // A refused write can mean that handles moved behind equal report maps.
            if isCompared, refused > 0 { isStale = true }
            isCompared = false
            return finish(&client, now)
        }
    }

    private mutating func finish(_ client: inout GATTClient, _ now: Duration) -> Progress {
        step = .done
        guard isStale else { return .finished }
        isStale = false
        return discoverAgain(&client, now: now)
    }

    // MARK: Comparison

    /// Handles the result of a read or of the discovery of services, and continues the comparison.
    private mutating func compare(
        _ result: Result<GATTClient.Outcome, GATTError>,
        _ client: inout GATTClient,
        _ now: Duration
    ) -> Progress {
        switch (step, result) {
        case (.services, .success(.services(let services))):
            var discovery = HIDDiscovery(services)
            let progress = discovery.begin(&client, now: now)
            step = .discovery(discovery)
            return take(progress, &client, now)
        case (.services, .failure(let error)): return .failed(error)
        case (.hash, .success(.values(let values))) where values.first?.value == kept?.databaseHash:
            return findMap(ofService: 0, &client, now)
        case (.mapHandle(let service), .success(.values(let values))):
            guard let handle = values.first?.handle else { return discoverAgain(&client, now) }
            step = .map(service: service)
            return start { () throws(GATTError) in try client.readLong(handle, now: now) }
        case (.map(let service), .success(.value(let map))) where map == kept?.services[service].map:
            return findMap(ofService: service + 1, &client, now)
        default: return discoverAgain(&client, now)
        }
    }

    private mutating func findMap(ofService index: Int, _ client: inout GATTClient, _ now: Duration) -> Progress {
        guard let kept else { return .underWay }
        guard index < kept.services.count else {
            isCompared = true
            return subscribe(to: kept, hasEarlier: true, &client, now)
        }
        step = .mapHandle(service: index)
        let range = kept.services[index].range
        return start { () throws(GATTError) in try client.read(HIDAttributeType.reportMap, in: range, now: now) }
    }

    private mutating func discoverAgain(_ client: inout GATTClient, _ now: Duration) -> Progress {
        step = .services
        return start { () throws(GATTError) in try client.discoverPrimaryServices(now: now) }
    }

    private mutating func start(_ begin: () throws(GATTError) -> GATTClient.ProcedureID) -> Progress {
        do throws(GATTError) {
            procedure = try begin()
            return .underWay
        } catch {
            return .failed(error)
        }
    }
}

extension HIDDevice {
    /// Handle of the first input report; invalid if there is none.
    package var firstInput: AttributeHandle { services.lazy.flatMap(\.inputs).first?.value ?? .invalid }

    /// Length of the longest input report, in bytes; 0 if there is none.
    package var longestInput: Int {
        services.compactMap { service in
            let map = try? ReportMap(service.map)
            return map?.reports.filter { $0.kind == .input }.map(\.bytes).max()
        }.max() ?? 0
    }
}
