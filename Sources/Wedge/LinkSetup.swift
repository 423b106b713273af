// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE

/// From a fresh connection to the first value: MTU, the profile's service, its characteristic, the subscription.
///
/// A pure state machine over the client; nothing but the profile's own service is looked at (CB-31).
package struct LinkSetup: Sendable {
    /// How the setup stands.
    package enum Progress: Equatable, Sendable {
        /// A procedure runs.
        case underWay
        /// Values of this handle arrive from now on.
        case ready(AttributeHandle)
        /// The device answers, but is not one of this profile.
        case unsupported(String)
        /// A procedure failed.
        case failed(GATTError)
    }

    private enum Step: Sendable { case mtu, services, characteristics, subscription }

    private let profile: Profile
    private var step = Step.mtu
    private var procedure: GATTClient.ProcedureID?
    private var services: [GATTService] = []
    /// The characteristic that is subscribed to, known from the moment its subscription begins: the first value can come
    /// before the answer.
    package private(set) var characteristic: GATTCharacteristic?

    /// Whether a value that comes in this way on this handle is one of those that were subscribed to.
    package func isWanted(_ handle: AttributeHandle, _ kind: GATTSubscriptionKind) -> Bool {
        guard let characteristic, characteristic.value == handle else { return false }
        return kind == (characteristic.properties.contains(.notify) ? .notifications : .indications)
    }

    /// A setup for one connection.
    package init(profile: Profile) {
        self.profile = profile
    }

    /// The first procedure.
    package mutating func begin(_ client: inout GATTClient, now: Duration) -> Progress {
        Self.attempt { () throws(GATTError) in procedure = try client.exchangeMTU(now: now) }
    }

    /// Takes the end of a procedure and begins the next.
    package mutating func handle(
        _ event: GATTClient.Event,
        _ client: inout GATTClient,
        now: Duration
    ) -> Progress {
        guard event.procedure == procedure else { return .underWay }
        switch (step, event.result) {
        case (.mtu, .failure(.bearer(let failure))): return .failed(.bearer(failure))
        case (.mtu, _):
            // A server that refuses the exchange keeps the 23 bytes that need none.
            step = .services
            return Self.attempt { () throws(GATTError) in
                procedure = try client.discoverPrimaryServices(profile.service, now: now)
            }
        case (.services, .success(.services(let found))):
            services = found
            return nextService(&client, now)
        case (.characteristics, .success(.characteristics(let found))):
            guard let characteristic = found.first(where: { $0.uuid == profile.fromPeripheral }) else {
                return nextService(&client, now)
            }
            self.characteristic = characteristic
            step = .subscription
            return Self.attempt { () throws(GATTError) in procedure = try client.subscribe(characteristic, now: now) }
        case (.subscription, .success):
            return characteristic.map { .ready($0.value) } ?? .unsupported("no characteristic")
        case (.subscription, .failure(.noClientConfiguration)):
            return .unsupported("its characteristic \(profile.fromPeripheral) does not notify")
        case (_, .failure(let error)): return .failed(error)
        case (_, .success): return .underWay
        }
    }

    private mutating func nextService(_ client: inout GATTClient, _ now: Duration) -> Progress {
        guard !services.isEmpty else {
            let what = step == .services ? "no \(profile.name)" : "no characteristic \(profile.fromPeripheral)"
            return .unsupported("it has \(what)")
        }
        let service = services.removeFirst()
        step = .characteristics
        return Self.attempt { () throws(GATTError) in
            procedure = try client.discoverCharacteristics(of: service, profile.fromPeripheral, now: now)
        }
    }

    private static func attempt(_ begin: () throws(GATTError) -> Void) -> Progress {
        do throws(GATTError) {
            try begin()
            return .underWay
        } catch .notSubscribable(let handle) {
            return .unsupported("its characteristic \(handle) does not notify")
        } catch {
            return .failed(error)
        }
    }
}
