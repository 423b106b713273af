// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import LinuxIO

/// A remote device on the loop's thread: its connection, its running procedures, and its subscriptions.
///
/// Every method is called on the loop's thread.
final class PeripheralCore {
    /// A function that receives each value without a copy.
    typealias Sink = @Sendable (Span<UInt8>) -> Void

    /// A subscription to a characteristic's values, in this connection and in all later connections (CB-10).
    private struct Subscription {
        var identifier: UInt64
        var characteristic: GATTCharacteristic
        /// The UUID of the characteristic's service, used to find the characteristic again in a later connection.
        var service: BluetoothUUID?
        var kind: GATTSubscriptionKind
        var sink: Sink
        var onEnd: @Sendable (BluetoothError?) -> Void
    }

    /// A caller that is waiting for the connection, and its time-out.
    private struct Waiting {
        var reply: Reply<Void>
        var required: GATTLinkSecurity.Level
        var timer = LoopTimer()
    }

    /// A handler of a procedure's result.
    typealias Completion = (Result<GATTClient.Outcome, BluetoothError>) -> Void
    /// A function that starts a procedure and returns its identifier; the duration is the current time.
    typealias Begin = (inout GATTClient, Duration) throws(GATTError) -> GATTClient.ProcedureID

    let device: DeviceAddress
    private unowned let radio: RadioArbiter
    private let driver: LinkDriver
    /// The link; nil unless it is ready for procedures.
    private var link: ATTLink?
    private(set) var isConnected = false
    /// Number of connections made so far; it identifies the current connection.
    private(set) var connections: UInt64 = 0
    private var procedures: [GATTClient.ProcedureID: Completion] = [:]
    private var subscriptions: [Subscription] = []
    private var services: [GATTService] = []
    /// Characteristics found by their UUIDs in this connection.
    private var characteristics: [CharacteristicPath: GATTCharacteristic] = [:]
    /// Callers that are waiting for the connection; the keys are the identifiers passed to `connect`.
    private var waiting: [UInt64: Waiting] = [:]
    /// True from the first call of `connect` until the link is ready.
    private var isConnecting = false
    private var watchers: [UInt64: BoundedSequence<ConnectionEvent>.Source] = [:]

    init(_ device: DeviceAddress, _ radio: RadioArbiter) {
        self.device = device
        self.radio = radio
        driver = LinkDriver(on: radio)
        driver.onEvent = { [unowned self] event in take(event) }
    }

    /// The ATT_MTU of the connection in bytes; nil without a connection.
    var mtu: UInt16? { link?.mtu }

    var security: GATTLinkSecurity? { link?.security }

    /// The last known signal strength of the device in dBm; each time it is read, a new value is requested.
    var rssi: Int8? { link.flatMap { _ in radio.adapter?.quality(of: device)?.rssi } }

    /// Number of packets received in this connection that were dropped before they were read.
    var droppedPackets: UInt32 { link?.droppedPackets ?? 0 }

    /// Sends each connection and disconnection to `source`, until `unwatch` with this identifier.
    func watch(_ identifier: UInt64, _ source: BoundedSequence<ConnectionEvent>.Source) {
        watchers[identifier] = source
    }

    func unwatch(_ identifier: UInt64) { watchers[identifier] = nil }

    // MARK: The connection

    /// Connects (CB-6), or joins the attempt in progress; without a `timeout` there is no time limit.
    ///
    /// If the attempt in progress does not provide the `required` security, the reply is `notSecured`.
    func connect(
        _ identifier: UInt64,
        _ timeout: Duration?,
        _ required: GATTLinkSecurity.Level,
        _ reply: Reply<Void>
    ) {
        let caller = Waiting(reply: reply, required: required)
        guard !isConnected else { return answer(caller) }
        waiting[identifier] = caller
        caller.timer.set(on: radio.loop, at: timeout.map { MonotonicClock.now + $0 }) { [unowned self] in
            cancel(identifier)
            reply.give(.failure(.timedOut))
        }
        guard !isConnecting, link == nil else { return }
        isConnecting = true
        driver.open(device, .forever, requiring: required)
    }

    /// Removes a waiting caller; cancels the attempt if no other caller is waiting.
    func cancel(_ identifier: UInt64) {
        guard waiting.removeValue(forKey: identifier) != nil, isConnecting, waiting.isEmpty else { return }
        isConnecting = false
        driver.close {}
    }

    private func take(_ event: LinkDriver.Event) {
        switch event {
        // The device chooses between notifications and indications.
        case .connected(let link): link.onValue = { [weak self] value, bytes in self?.take(bytes, of: value.handle) }
        case .ready(let link):
            // End the procedures of a previous link that was not established.
            endProcedures(.outOfReach)
            isConnecting = false
            self.link = link
            connections &+= 1
            services = []
            characteristics = [:]
            subscribeAgain(0)
        case .procedure(let event):
            procedures.removeValue(forKey: event.procedure)?(event.result.mapError { .procedure($0) })
        case .notSecured:
            isConnecting = false
            let callers = waiting.values
            waiting = [:]
            // Answer the callers after the controller has ended this link, because the next attempt cannot start
            // earlier.
            driver.close { for caller in callers { caller.reply.give(.failure(.notSecured)) } }
        case .failed(let failure) where isConnecting && driver.link == nil: notConnected(failure)
        case .failed(let failure): closed(DisconnectReason(failure))
        }
    }

    private func notConnected(_ failure: LinkFailure) {
        isConnecting = false
        let error: BluetoothError =
            if case .adapterLost = failure { radio.absence } else { .connectionFailed(DisconnectReason(failure)) }
        answer(error)
    }

    private func answer(_ error: BluetoothError? = nil) {
        let callers = waiting.values
        waiting = [:]
        for caller in callers { if let error { caller.reply.give(.failure(error)) } else { answer(caller) } }
    }

    /// Reports success to a caller if the link has the required security, and `notSecured` otherwise.
    private func answer(_ caller: Waiting) {
        let level = link?.security.level ?? .none
        caller.reply.give(level < caller.required ? .failure(.notSecured) : .success(()))
    }

    private func finishSetup() {
        guard link != nil else { return }
        // The driver replaces a link that was not established; the watchers have not been notified of its end.
        let wasConnected = isConnected
        isConnected = true
        if !wasConnected { for watcher in watchers.values { watcher.send(.connected) } }
        answer()
    }

    /// True while there is a connection, even if the link is not ready yet.
    private var hasLink: Bool { link != nil || isConnecting && driver.link != nil }

    /// Closes and drops the link, which may have ended already.
    ///
    /// Procedures and waiting callers fail with the reason.
    func closed(_ reason: DisconnectReason) {
        guard hasLink else { return }
        driver.link?.close()
        isConnecting = false
        let wasConnected = isConnected
        isConnected = false
        services = []
        endProcedures(reason)
        answer(.disconnected(reason))
        if wasConnected { for watcher in watchers.values { watcher.send(.disconnected(reason)) } }
    }

    /// Drops the link; the procedures in progress fail with the reason.
    private func endProcedures(_ reason: DisconnectReason) {
        link = nil
        let ended = procedures.values
        procedures = [:]
        for completion in ended { completion(.failure(.disconnected(reason))) }
    }

    /// Ends the connection; `completion` is called when the controller has ended it.
    func disconnect(completion: @escaping () -> Void) {
        guard hasLink else { return completion() }
        closed(.requested)
        driver.close(completion: completion)
    }

    // MARK: Procedures

    /// Starts a procedure; `completion` is called once with its result.
    func run(_ begin: Begin, _ completion: @escaping Completion) {
        guard let link else { return completion(.failure(.notConnected)) }
        do throws(GATTError) {
            // The procedure can end before `perform` returns.
            try link.perform { (client, now) throws(GATTError) in
                procedures[try begin(&client, now)] = completion
            }
        } catch {
            completion(.failure(.procedure(error)))
        }
    }

    /// Calls `body` with the link's client, for an operation without a response.
    func perform(_ body: (inout GATTClient, Duration) throws(GATTError) -> Void) throws(BluetoothError) {
        guard let link else { throw .notConnected }
        do throws(GATTError) {
            try link.perform(body)
        } catch {
            throw .procedure(error)
        }
    }

    /// Stores discovered services, so that a subscription can look up the service of its characteristic.
    func note(_ found: [GATTService]) {
        for service in found where !services.contains(service) { services.append(service) }
    }

    /// Returns a characteristic found earlier in this connection; nil if there is none.
    func characteristic(_ path: CharacteristicPath) -> GATTCharacteristic? { isConnected ? characteristics[path] : nil }

    /// Stores a characteristic, if the connection with this number is still the current one.
    func note(_ found: GATTCharacteristic, _ path: CharacteristicPath, in connection: UInt64) {
        if connection == connections { characteristics[path] = found }
    }

    // MARK: Subscriptions

    /// Subscribes to a characteristic's values; `onEnd` is called with the error if the subscription fails later.
    func subscribe(
        _ characteristic: GATTCharacteristic,
        _ kind: GATTSubscriptionKind?,
        identifier: UInt64,
        sink: @escaping Sink,
        onEnd: @escaping @Sendable (BluetoothError?) -> Void,
        reply: Reply<Void>
    ) {
        let usual: GATTSubscriptionKind = characteristic.properties.contains(.notify) ? .notifications : .indications
        let subscription = Subscription(
            identifier: identifier,
            characteristic: characteristic,
            service: services.first { $0.handles.contains(characteristic.declaration) }?.uuid,
            kind: kind ?? usual,
            sink: sink,
            onEnd: onEnd
        )
        guard link != nil else { return reply.give(.failure(.notConnected)) }
        // Add the subscription first, because the first value can arrive before the server's answer.
        subscriptions.append(subscription)
        run({ (client, now) throws(GATTError) in
            try client.subscribe(characteristic, kind: subscription.kind, now: now)
        }) { [weak self] result in
            if case .failure(let error) = result {
                self?.subscriptions.removeAll { $0.identifier == identifier }
                onEnd(error)
            }
            reply.give(result.map { _ in })
        }
    }

    /// Ends one subscription.
    ///
    /// If it was the last subscription to its characteristic, the device is told to stop sending values.
    func endSubscription(_ identifier: UInt64) {
        guard let index = subscriptions.firstIndex(where: { $0.identifier == identifier }) else { return }
        let ended = subscriptions.remove(at: index)
        ended.onEnd(nil)
        let characteristic = ended.characteristic
        guard !subscriptions.contains(where: { $0.characteristic.valueHandle == characteristic.valueHandle }) else {
            return
        }
        run({ (client, now) throws(GATTError) in try client.unsubscribe(characteristic, now: now) }) { _ in }
    }

    /// Ends all subscriptions to a characteristic.
    func unsubscribe(_ characteristic: GATTCharacteristic, _ reply: Reply<Void>) {
        let ended = subscriptions.filter { $0.characteristic.valueHandle == characteristic.valueHandle }
        subscriptions.removeAll { $0.characteristic.valueHandle == characteristic.valueHandle }
        for subscription in ended { subscription.onEnd(nil) }
        run({ (client, now) throws(GATTError) in try client.unsubscribe(characteristic, now: now) }) { result in
            reply.give(result.map { _ in })
        }
    }

    private func take(_ value: Span<UInt8>, of handle: AttributeHandle) {
        for subscription in subscriptions where subscription.characteristic.valueHandle == handle {
            subscription.sink(value)
        }
    }

    /// Renews the subscriptions one after another, beginning with the one at this index.
    ///
    /// A subscription that cannot be renewed ends with the error.
    private func subscribeAgain(_ index: Int) {
        guard link != nil else { return }
        guard index < subscriptions.count else { return finishSetup() }
        let subscription = subscriptions[index]
        guard let service = subscription.service else { return write(subscription, index) }
        run({ (client, now) throws(GATTError) in try client.discoverPrimaryServices(service, now: now) }) {
            [weak self] result in
            guard let self else { return }
            switch result {
            case .success(.services(let found)):
                note(found)
                guard let first = found.first else { return giveUp(subscription, nil) }
                find(subscription, in: first, index)
            case .success: giveUp(subscription, nil)
            case .failure(let error): giveUp(subscription, error)
            }
        }
    }

    private func find(_ subscription: Subscription, in service: GATTService, _ index: Int) {
        let uuid = subscription.characteristic.uuid
        run({ (client, now) throws(GATTError) in
            try client.discoverCharacteristics(of: service, uuid, now: now)
        }) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(.characteristics(let found)):
                let same = found.first { $0.valueHandle == subscription.characteristic.valueHandle }
                guard let characteristic = same ?? found.first else { return giveUp(subscription, nil) }
                var renewed = subscription
                renewed.characteristic = characteristic
                write(renewed, index)
            case .success: giveUp(subscription, nil)
            case .failure(let error): giveUp(subscription, error)
            }
        }
    }

    private func write(_ subscription: Subscription, _ index: Int) {
        guard let index = subscriptions.firstIndex(where: { $0.identifier == subscription.identifier }) else {
            return subscribeAgain(index)
        }
        subscriptions[index] = subscription
        let characteristic = subscription.characteristic
        run({ (client, now) throws(GATTError) in
            try client.subscribe(characteristic, kind: subscription.kind, now: now)
        }) { [weak self] result in
            switch result {
            case .success: self?.subscribeAgain(index + 1)
            case .failure(let error): self?.giveUp(subscription, error)
            }
        }
    }

    private func giveUp(_ subscription: Subscription, _ error: BluetoothError?) {
        // If the link was lost in the meantime, keep the subscription; it is renewed in the next connection.
        guard link != nil else { return }
        guard let index = subscriptions.firstIndex(where: { $0.identifier == subscription.identifier }) else {
            return finishSetup()
        }
        subscriptions.remove(at: index)
        subscription.onEnd(error ?? .procedure(.notSubscribable(subscription.characteristic.valueHandle)))
        subscribeAgain(index)
    }
}

/// The UUIDs that identify a characteristic.
struct CharacteristicPath: Hashable {
    var service: BluetoothUUID?
    var characteristic: BluetoothUUID
}
