// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

extension GATTClient {
    /// Exchanges the MTU, at most once per connection; the outcome is `mtu` (Core 6.0, Vol 3, Part G, 4.3.1).
    public mutating func exchangeMTU(now: Duration) throws(GATTError) -> ProcedureID {
        guard !didAskForMTU else { throw .exchangedAlready }
        let id = try submit(.mtuExchange(GATTMTUExchange(localMTU: bearer.localMTU)), now: now)
        didAskForMTU = true
        return id
    }

    /// Discovers all primary services; the outcome is `services` (Core 6.0, Vol 3, Part G, 4.4.1).
    public mutating func discoverPrimaryServices(now: Duration) throws(GATTError) -> ProcedureID {
        try submit(.primaryServiceDiscovery(GATTPrimaryServiceDiscovery(limit: limits.attributes)), now: now)
    }

    /// Discovers the primary services with a given UUID; the outcome is `services` (Core 6.0, Vol 3, Part G, 4.4.2).
    public mutating func discoverPrimaryServices(
        _ uuid: BluetoothUUID,
        now: Duration
    ) throws(GATTError) -> ProcedureID {
        try submit(.serviceSearch(GATTServiceSearch(uuid: uuid, limit: limits.attributes)), now: now)
    }

    /// Discovers the services that a service includes; the outcome is `includedServices` (Core 6.0, Vol 3, Part G,
    /// 4.5.1).
    public mutating func discoverIncludedServices(
        of service: GATTService,
        now: Duration
    ) throws(GATTError) -> ProcedureID {
        let range = try valid(service.handles)
        return try submit(
            .includedServiceDiscovery(GATTIncludedServiceDiscovery(range: range, limit: limits.attributes)),
            now: now
        )
    }

    /// Discovers a service's characteristics, either all or those with a given UUID; the outcome is `characteristics`
    /// (Core 6.0, Vol 3, Part G, 4.6.1 and 4.6.2).
    public mutating func discoverCharacteristics(
        of service: GATTService,
        _ uuid: BluetoothUUID? = nil,
        now: Duration
    ) throws(GATTError) -> ProcedureID {
        let range = try valid(service.handles)
        return try submit(
            .characteristicDiscovery(GATTCharacteristicDiscovery(range: range, uuid: uuid, limit: limits.attributes)),
            now: now
        )
    }

    /// Discovers a characteristic's descriptors; the outcome is `descriptors` (Core 6.0, Vol 3, Part G, 4.7.1).
    public mutating func discoverDescriptors(
        of characteristic: GATTCharacteristic,
        now: Duration
    ) throws(GATTError) -> ProcedureID {
        guard let range = characteristic.descriptorHandles else {
            return try submit(.nothing(GATTNothing(outcome: .descriptors([]))), now: now)
        }
        return try submit(
            .descriptorDiscovery(GATTDescriptorDiscovery(range: valid(range), limit: limits.attributes)),
            now: now
        )
    }

    /// Subscribes to a characteristic; the outcome is `done` or `listening`.
    ///
    /// It is `listening` if the characteristic has no client configuration descriptor; the server may send values
    /// nevertheless. If no kind is requested, notifications are preferred to indications. Throws an error if the
    /// characteristic supports neither kind, or does not support the requested kind. `subscriptions` contains the
    /// characteristic from this call on, unless the procedure fails. Core 6.0, Vol 3, Part G, 3.3.3.3, 4.10 and 4.11.
    public mutating func subscribe(
        _ characteristic: GATTCharacteristic,
        kind: GATTSubscriptionKind? = nil,
        now: Duration
    ) throws(GATTError) -> ProcedureID {
        let properties = characteristic.properties
        let possible = GATTSubscriptionKind.allCases.filter {
            properties.contains($0 == .notifications ? .notify : .indicate)
        }
        guard let chosen = possible.first(where: { kind == nil || $0 == kind }) else {
            throw .notSubscribable(characteristic.valueHandle)
        }
        let subscription = Subscription(value: characteristic.valueHandle, kind: chosen)
        let before = subscriptions
        subscriptions.removeAll { $0.value == characteristic.valueHandle }
        subscriptions.append(subscription)
        do throws(GATTError) {
            return try submit(
                .configuration(GATTConfiguration(characteristic, bits: chosen.rawValue, limit: limits.attributes)),
                now: now,
                onFailure: subscription
            )
        } catch {
            subscriptions = before
            throw error
        }
    }

    /// Unsubscribes from a characteristic; the outcome is `done`.
    ///
    /// The characteristic is removed from `subscriptions` once the server has accepted the request.
    public mutating func unsubscribe(
        _ characteristic: GATTCharacteristic,
        now: Duration
    ) throws(GATTError) -> ProcedureID {
        try submit(
            .configuration(GATTConfiguration(characteristic, bits: 0x0000, limit: limits.attributes)),
            now: now,
            onSuccess: subscriptions.first { $0.value == characteristic.valueHandle }
        )
    }

    /// Reads at most MTU − 1 bytes of a value or descriptor; the outcome is `value` (Core 6.0, Vol 3, Part G, 4.8.1 and
    /// 4.12.1).
    public mutating func read(_ handle: AttributeHandle, now: Duration) throws(GATTError) -> ProcedureID {
        try submit(.read(GATTRead(handle: valid(handle))), now: now)
    }

    /// Reads a value or descriptor of up to 4,096 bytes; the outcome is `value` (Core 6.0, Vol 3, Part G, 4.8.3 and
    /// 4.12.2).
    public mutating func readLong(_ handle: AttributeHandle, now: Duration) throws(GATTError) -> ProcedureID {
        try submit(.longRead(GATTLongRead(handle: valid(handle), limit: Self.longestRead)), now: now)
    }

    /// Reads the values of one attribute type in a handle range; the outcome is `values`, or the error Attribute Not
    /// Found (Core 6.0, Vol 3, Part G, 4.8.2).
    public mutating func read(
        _ uuid: BluetoothUUID,
        in range: AttributeHandleRange = .all,
        now: Duration
    ) throws(GATTError) -> ProcedureID {
        try submit(.readByUUID(GATTReadByUUID(uuid: uuid, range: valid(range), limit: limits.attributes)), now: now)
    }

    /// Writes a value or descriptor of at most MTU − 3 bytes with a response; the outcome is `done` (Core 6.0, Vol 3,
    /// Part G, 4.9.3 and 4.12.3).
    public mutating func write(
        _ value: [UInt8],
        to handle: AttributeHandle,
        now: Duration
    ) throws(GATTError) -> ProcedureID {
        try submit(.write(GATTWrite(handle: valid(handle), value: value)), now: now)
    }

    /// Writes a value of at most MTU − 3 bytes without a response, independently of all procedures (Core 6.0, Vol 3,
    /// Part G, 4.9.1).
    public mutating func writeWithoutResponse(
        _ value: [UInt8],
        to handle: AttributeHandle,
        now: Duration
    ) throws(GATTError) {
        let target = try valid(handle)
        do throws(ATTBearer.Refusal) {
            try bearer.send(.writeCommand(target, value: value), now: now)
        } catch {
            if case .queueFull = error { throw .queueFull(limit: limits.commands) }
            throw GATTError(error)
        }
    }

    /// Writes a value or descriptor of at most 512 bytes in several parts; the outcome is `done` (Core 6.0, Vol 3, Part
    /// G, 4.9.4 and 4.12.4).
    public mutating func writeLong(
        _ value: [UInt8],
        to handle: AttributeHandle,
        now: Duration
    ) throws(GATTError) -> ProcedureID {
        try writeReliably([ATTPDU.HandleValue(handle: handle, value: value)], now: now)
    }

    /// Writes the values of one or more characteristics atomically, after the server has echoed each value; the outcome
    /// is `done`.
    ///
    /// The call accepts 1 to 32 values of up to 512 bytes each, so that even with the smallest MTU, the number of
    /// requests stays below the limit. Core 6.0, Vol 3, Part G, 4.9.5.
    public mutating func writeReliably(_ values: [ATTPDU.HandleValue], now: Duration) throws(GATTError) -> ProcedureID {
        guard !values.isEmpty, values.count <= Self.mostReliableWrites else {
            throw .tooManyAttributes(limit: Self.mostReliableWrites)
        }
        for item in values {
            _ = try valid(item.handle)
            guard item.value.count <= Self.longestValue else { throw .valueTooLong(limit: Self.longestValue) }
        }
        return try submit(.preparedWrite(GATTPreparedWrite(values)), now: now)
    }

    private func valid(_ range: AttributeHandleRange) throws(GATTError) -> AttributeHandleRange {
        guard range.isValid else { throw .invalidArgument(range) }
        return range
    }

    private func valid(_ handle: AttributeHandle) throws(GATTError) -> AttributeHandle {
        try valid(AttributeHandleRange(start: handle, end: handle)).start
    }
}

/// Procedure that sends no request.
struct GATTNothing: GATTProcedure {
    let outcome: GATTClient.Outcome

    mutating func begin(mtu: Int) throws(GATTError) -> GATTStep {
        .finish(outcome)
    }

    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep {
        throw unexpected(response)
    }
}
