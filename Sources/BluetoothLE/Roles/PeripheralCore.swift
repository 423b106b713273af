// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO

/// One device as the central's part knows it: its connection, its procedures, and what of it is subscribed to.
///
/// To be used on the loop's thread.
final class PeripheralCore {
    /// Takes each value in place.
    typealias Sink = @Sendable (Span<UInt8>) -> Void

    /// Somebody wants a characteristic's values, on this connection and on every later one (CB-10).
    private struct Subscription {
        var identifier: UInt64
        var characteristic: GATTCharacteristic
        /// The service that it belongs to, by which it is found again.
        var service: BluetoothUUID?
        var kind: GATTSubscriptionKind
        var sink: Sink
        var onEnd: @Sendable (BluetoothError?) -> Void
    }

    typealias Completion = (Result<GATTClient.Outcome, BluetoothError>) -> Void
    typealias Begin = (inout GATTClient, Duration) throws(GATTError) -> GATTClient.ProcedureID

    let device: DeviceAddress
    private unowned let radio: RadioArbiter
    private var link: ATTLink?
    private(set) var isConnected = false
    private var procedures: [GATTClient.ProcedureID: Completion] = [:]
    private var subscriptions: [Subscription] = []
    private var services: [GATTService] = []
    private var setupReplies: [Reply<Void>] = []
    private var watchers: [UInt64: BoundedSequence<ConnectionEvent>.Source] = [:]

    init(_ device: DeviceAddress, _ radio: RadioArbiter) {
        self.device = device
        self.radio = radio
    }

    /// The longest PDU that either side may send now; nil without a connection.
    var mtu: UInt16? { link?.mtu }

    var droppedPackets: UInt32 { link?.droppedPackets ?? 0 }

    func watch(_ identifier: UInt64, _ source: BoundedSequence<ConnectionEvent>.Source) {
        watchers[identifier] = source
    }

    func unwatch(_ identifier: UInt64) { watchers[identifier] = nil }

    // MARK: The connection

    /// Takes a fresh link, exchanges the MTU, subscribes again, and then answers.
    func connected(_ link: ATTLink, _ replies: [Reply<Void>]) {
        self.link = link
        services = []
        setupReplies = replies
        link.onEvent = { [weak self] event in
            guard let self, link === self.link else { return }
            switch event {
            case .procedure(let event):
                procedures.removeValue(forKey: event.procedure)?(event.result.mapError { .procedure($0) })
            case .closed(let failure): closed(DisconnectReason(failure))
            }
        }
        link.onValue = { [weak self] handle, kind, value in self?.take(value, of: handle, kind) }
        // A server that refuses the exchange keeps the 23 bytes that need none.
        run({ (client, now) throws(GATTError) in try client.exchangeMTU(now: now) }) { [weak self] _ in
            self?.subscribeAgain(0)
        }
    }

    private func finishSetup() {
        guard link != nil else { return }
        isConnected = true
        let replies = setupReplies
        setupReplies = []
        for watcher in watchers.values { watcher.send(.connected) }
        for reply in replies { reply.give(.success(())) }
    }

    /// The connection is no more, or is given up; all that waits for it ends.
    func closed(_ reason: DisconnectReason) {
        guard let link else { return }
        self.link = nil
        link.close()
        let wasConnected = isConnected
        isConnected = false
        services = []
        let waiting = Array(procedures.values)
        procedures = [:]
        let replies = setupReplies
        setupReplies = []
        for completion in waiting { completion(.failure(.disconnected(reason))) }
        for reply in replies { reply.give(.failure(.disconnected(reason))) }
        if wasConnected { for watcher in watchers.values { watcher.send(.disconnected(reason)) } }
    }

    /// Ends the connection.
    func disconnect(completion: @escaping () -> Void) {
        guard link != nil else { return completion() }
        closed(.requested)
        radio.disconnect(device, completion: completion)
    }

    // MARK: Procedures

    /// Runs a procedure; `completion` is called once.
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

    /// Does what needs no procedure.
    func perform(_ body: (inout GATTClient, Duration) throws(GATTError) -> Void) throws(BluetoothError) {
        guard let link else { throw .notConnected }
        do throws(GATTError) {
            try link.perform(body)
        } catch {
            throw .procedure(error)
        }
    }

    /// Keeps what was found, so that a subscription knows its service.
    func note(_ found: [GATTService]) {
        for service in found where !services.contains(service) { services.append(service) }
    }

    // MARK: Subscriptions

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
        // Before the server is told: the first value can come before its answer.
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

    /// Ends one subscription; the server is told when it was the last one of its characteristic.
    func endSubscription(_ identifier: UInt64) {
        guard let index = subscriptions.firstIndex(where: { $0.identifier == identifier }) else { return }
        let ended = subscriptions.remove(at: index)
        ended.onEnd(nil)
        let characteristic = ended.characteristic
        guard !subscriptions.contains(where: { $0.characteristic.value == characteristic.value }) else { return }
        run({ (client, now) throws(GATTError) in try client.unsubscribe(characteristic, now: now) }) { _ in }
    }

    /// Ends all subscriptions of a characteristic.
    func unsubscribe(_ characteristic: GATTCharacteristic, _ reply: Reply<Void>) {
        let ended = subscriptions.filter { $0.characteristic.value == characteristic.value }
        subscriptions.removeAll { $0.characteristic.value == characteristic.value }
        for subscription in ended { subscription.onEnd(nil) }
        run({ (client, now) throws(GATTError) in try client.unsubscribe(characteristic, now: now) }) { result in
            reply.give(result.map { _ in })
        }
    }

    private func take(_ value: Span<UInt8>, of handle: AttributeHandle, _ kind: GATTSubscriptionKind) {
        for subscription in subscriptions
        where subscription.characteristic.value == handle && subscription.kind == kind {
            subscription.sink(value)
        }
    }

    /// Makes the subscriptions again, one after another; what cannot be made again ends with the reason.
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
        // A link that was lost meanwhile is no reason: the next connection tries again.
        guard link != nil else { return }
        guard let index = subscriptions.firstIndex(where: { $0.identifier == subscription.identifier }) else {
            return finishSetup()
        }
        subscriptions.remove(at: index)
        subscription.onEnd(error ?? .procedure(.notSubscribable(subscription.characteristic.value)))
        subscribeAgain(index)
    }
}

/// What becomes of a connection.
public enum ConnectionEvent: Hashable, Sendable {
    /// It stands, and subscriptions are made again.
    case connected
    /// It is no more.
    case disconnected(DisconnectReason)
}
