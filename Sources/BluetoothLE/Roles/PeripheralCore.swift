// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO

/// A remote device on the loop's thread: its connection, the procedures that run, and the subscriptions.
///
/// Every method is called on the loop's thread.
final class PeripheralCore {
    /// A function that receives each value without a copy.
    typealias Sink = @Sendable (Span<UInt8>) -> Void

    /// A subscription to a characteristic's values, in this connection and in every later one (CB-10).
    private struct Subscription {
        var identifier: UInt64
        var characteristic: GATTCharacteristic
        /// The UUID of the characteristic's service, by which it is found again in a later connection.
        var service: BluetoothUUID?
        var kind: GATTSubscriptionKind
        var sink: Sink
        var onEnd: @Sendable (BluetoothError?) -> Void
    }

    /// A caller that waits for the connection, and the end of its patience.
    private struct Waiting {
        var reply: Reply<Void>
        var required: GATTLinkSecurity.Level
        var timer = LoopTimer()
    }

    /// A handler of a procedure's result.
    typealias Completion = (Result<GATTClient.Outcome, BluetoothError>) -> Void
    /// A function that begins a procedure at the given time, and returns its number.
    typealias Begin = (inout GATTClient, Duration) throws(GATTError) -> GATTClient.ProcedureID

    let device: DeviceAddress
    private unowned let radio: RadioArbiter
    private let driver: LinkDriver
    /// The link from the moment it is ready for procedures to its end.
    private var link: ATTLink?
    private(set) var isConnected = false
    /// The number of connections that were made, by which one is told from the next.
    private(set) var connections: UInt64 = 0
    private var procedures: [GATTClient.ProcedureID: Completion] = [:]
    private var subscriptions: [Subscription] = []
    private var services: [GATTService] = []
    /// The characteristics that were looked for by their UUIDs, in this connection.
    private var characteristics: [CharacteristicPath: GATTCharacteristic] = [:]
    /// The callers that wait for the connection, by the numbers that `connect` was given, and the ends of their patience.
    private var waiting: [UInt64: Waiting] = [:]
    /// True from the first of those on, until the link is ready.
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

    /// The signal strength of the device in dBm, as the controller has said last; each call asks it again.
    var rssi: Int8? { link.flatMap { _ in radio.adapter?.quality(of: device)?.rssi } }

    /// The number of received packets that were dropped before they were read, in this connection.
    var droppedPackets: UInt32 { link?.droppedPackets ?? 0 }

    /// Sends each connection and disconnection to `source`, until `unwatch` with this number.
    func watch(_ identifier: UInt64, _ source: BoundedSequence<ConnectionEvent>.Source) {
        watchers[identifier] = source
    }

    func unwatch(_ identifier: UInt64) { watchers[identifier] = nil }

    // MARK: The connection

    /// Connects (CB-6), or joins the attempt under way; without a `timeout` there is no limit.
    ///
    /// A link that an attempt before has begun without the `required` security is not what the caller gets.
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

    /// Removes a caller that waits; the attempt is cancelled when none is left.
    func cancel(_ identifier: UInt64) {
        guard waiting.removeValue(forKey: identifier) != nil, isConnecting, waiting.isEmpty else { return }
        isConnecting = false
        driver.close {}
    }

    private func take(_ event: LinkDriver.Event) {
        switch event {
        // The device chooses whether it notifies or indicates.
        case .connected(let link): link.onValue = { [weak self] handle, _, value in self?.take(value, of: handle) }
        case .ready(let link):
            // Those of a link that was not established.
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
            // The next attempt needs the controller to have ended this link.
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

    /// Answers a caller that the link is there, if it is as secure as that one wants.
    private func answer(_ caller: Waiting) {
        let level = link?.security.level ?? .none
        caller.reply.give(level < caller.required ? .failure(.notSecured) : .success(()))
    }

    private func finishSetup() {
        guard link != nil else { return }
        isConnected = true
        for watcher in watchers.values { watcher.send(.connected) }
        answer()
    }

    /// True from the connection to its end, whether the link is ready or not.
    private var hasLink: Bool { link != nil || isConnecting && driver.link != nil }

    /// Drops the link, after it was closed or when it is to be closed.
    ///
    /// Procedures and callers that wait fail with the reason.
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

    /// Drops the link; its procedures fail with the reason.
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

    /// Begins a procedure; `completion` is called once with its result.
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

    /// Calls `body` with the link's client, for an operation that has no response.
    func perform(_ body: (inout GATTClient, Duration) throws(GATTError) -> Void) throws(BluetoothError) {
        guard let link else { throw .notConnected }
        do throws(GATTError) {
            try link.perform(body)
        } catch {
            throw .procedure(error)
        }
    }

    /// Remembers discovered services, by which a subscription finds the service of its characteristic.
    func note(_ found: [GATTService]) {
        for service in found where !services.contains(service) { services.append(service) }
    }

    /// The characteristic that was found before, in this connection.
    func characteristic(_ path: CharacteristicPath) -> GATTCharacteristic? { isConnected ? characteristics[path] : nil }

    /// Remembers a characteristic for the connection with this number, if that is still the one.
    func note(_ found: GATTCharacteristic, _ path: CharacteristicPath, in connection: UInt64) {
        if connection == connections { characteristics[path] = found }
    }

    // MARK: Subscriptions

    /// Subscribes to a characteristic's values; `onEnd` is called with the error when the subscription fails later.
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
        // The subscription is added first, because the first value can arrive before the server's answer.
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

    /// Ends one subscription; the descriptor is written when it was the last one of its characteristic.
    func endSubscription(_ identifier: UInt64) {
        guard let index = subscriptions.firstIndex(where: { $0.identifier == identifier }) else { return }
        let ended = subscriptions.remove(at: index)
        ended.onEnd(nil)
        let characteristic = ended.characteristic
        guard !subscriptions.contains(where: { $0.characteristic.value == characteristic.value }) else { return }
        run({ (client, now) throws(GATTError) in try client.unsubscribe(characteristic, now: now) }) { _ in }
    }

    /// Ends all subscriptions to a characteristic.
    func unsubscribe(_ characteristic: GATTCharacteristic, _ reply: Reply<Void>) {
        let ended = subscriptions.filter { $0.characteristic.value == characteristic.value }
        subscriptions.removeAll { $0.characteristic.value == characteristic.value }
        for subscription in ended { subscription.onEnd(nil) }
        run({ (client, now) throws(GATTError) in try client.unsubscribe(characteristic, now: now) }) { result in
            reply.give(result.map { _ in })
        }
    }

    private func take(_ value: Span<UInt8>, of handle: AttributeHandle) {
        for subscription in subscriptions where subscription.characteristic.value == handle {
            subscription.sink(value)
        }
    }

    /// Makes the subscriptions again from this index on, one after another.
    ///
    /// One that cannot be made ends with the error.
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
                let same = found.first { $0.value == subscription.characteristic.value }
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
        // A link that was lost meanwhile does not end the subscription: it is made again in the next connection.
        guard link != nil else { return }
        guard let index = subscriptions.firstIndex(where: { $0.identifier == subscription.identifier }) else {
            return finishSetup()
        }
        subscriptions.remove(at: index)
        subscription.onEnd(error ?? .procedure(.notSubscribable(subscription.characteristic.value)))
        subscribeAgain(index)
    }
}

/// The UUIDs by which a characteristic is looked for.
struct CharacteristicPath: Hashable {
    var service: BluetoothUUID?
    var characteristic: BluetoothUUID
}

/// A change of a connection.
public enum ConnectionEvent: Hashable, Sendable {
    /// The connection is made, and the subscriptions of earlier ones are made again.
    case connected
    /// The connection has ended, for this reason.
    case disconnected(DisconnectReason)
}
