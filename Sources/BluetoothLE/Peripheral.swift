// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
public import BluetoothHost
public import BluetoothPackets
import LinuxIO

/// A remote device in the peripheral role: its services, characteristics and connection.
///
/// `Central.connect` establishes the connection, and the object remains valid for later connections. Procedures run one
/// after another. A procedure continues if the task that waits for it is cancelled.
public actor Peripheral {
    /// The device's address.
    public nonisolated let address: DeviceAddress
    private nonisolated let adapter: BluetoothAdapter

    /// The executor of the adapter's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe adapter.unownedExecutor }

    init(_ address: DeviceAddress, _ adapter: BluetoothAdapter) {
        self.address = address
        self.adapter = adapter
    }

    private var core: PeripheralCore { adapter.roles.value.central.peripheral(address) }

    // MARK: The connection

    /// True while the device is connected.
    public var isConnected: Bool { core.isConnected }

    /// The connection's ATT_MTU in bytes: the maximum PDU length in either direction.
    ///
    /// The payload of a write is 3 bytes shorter. Nil if there is no connection.
    public var mtu: UInt16? { core.mtu }

    /// The security of the connection; nil if there is none.
    public var security: GATTLinkSecurity? { core.security }

    /// The last known signal strength of the device in dBm.
    ///
    /// An access requests a new value from the controller if the last request is at least 3 s old. Nil if there is no
    /// connection, and before the controller's first response.
    public var rssi: Int8? { core.rssi }

    /// Number of packets received in this connection that were dropped before they were read.
    public var droppedPackets: UInt32 { core.droppedPackets }

    /// Returns a sequence of this device's future connections and disconnections (CB-13).
    ///
    /// At most 64 events are buffered; on overflow the oldest is discarded.
    public func connectionEvents() -> BoundedSequence<ConnectionEvent> {
        let (identifier, end) = makeEnd { core, identifier in core.unwatch(identifier) }
        let events = BoundedSequence<ConnectionEvent>(capacity: 64, dropping: .oldest, onEnd: end)
        core.watch(identifier, events.source)
        return events
    }

    /// Ends the connection, and returns when the controller has ended it.
    public func disconnect() async {
        let reply = Reply<Void>()
        core.disconnect { reply.give(.success(())) }
        // A cancelled task does not wait for the controller.
        try? await reply.value()
    }

    // MARK: Discovery

    /// Discovers all primary services, or only those with a given UUID (CB-7).
    public func discoverServices(_ uuid: BluetoothUUID? = nil) async throws(BluetoothError) -> [GATTService] {
        let outcome = try await run { (client, now) throws(GATTError) in
            guard let uuid else { return try client.discoverPrimaryServices(now: now) }
            return try client.discoverPrimaryServices(uuid, now: now)
        }
        guard case .services(let found) = outcome else { return [] }
        core.note(found)
        return found
    }

    /// Discovers the services that a service includes (CB-7).
    public func discoverIncludedServices(
        of service: GATTService
    ) async throws(BluetoothError) -> [GATTIncludedService] {
        let outcome = try await run { (client, now) throws(GATTError) in
            try client.discoverIncludedServices(of: service, now: now)
        }
        guard case .includedServices(let found) = outcome else { return [] }
        return found
    }

    /// Discovers all characteristics of a service, or only those with a given UUID (CB-8).
    public func discoverCharacteristics(
        of service: GATTService,
        _ uuid: BluetoothUUID? = nil
    ) async throws(BluetoothError) -> [GATTCharacteristic] {
        let outcome = try await run { (client, now) throws(GATTError) in
            try client.discoverCharacteristics(of: service, uuid, now: now)
        }
        guard case .characteristics(let found) = outcome else { return [] }
        core.note([service])
        return found
    }

    /// Discovers the descriptors of a characteristic (CB-8).
    public func discoverDescriptors(
        of characteristic: GATTCharacteristic
    ) async throws(BluetoothError) -> [GATTDescriptor] {
        let outcome = try await run { (client, now) throws(GATTError) in
            try client.discoverDescriptors(of: characteristic, now: now)
        }
        guard case .descriptors(let found) = outcome else { return [] }
        return found
    }

    // MARK: Values

    /// Reads the value of a characteristic or descriptor: at most MTU − 1 bytes.
    public func read(_ handle: AttributeHandle) async throws(BluetoothError) -> [UInt8] {
        try await value { (client, now) throws(GATTError) in try client.read(handle, now: now) }
    }

    /// Reads the whole value of a characteristic or descriptor: at most 4,096 bytes (CB-9).
    public func readLong(_ handle: AttributeHandle) async throws(BluetoothError) -> [UInt8] {
        try await value { (client, now) throws(GATTError) in try client.readLong(handle, now: now) }
    }

    /// Writes at most MTU − 3 bytes, and returns when the device has confirmed the write (CB-11).
    public func write(_ value: [UInt8], to handle: AttributeHandle) async throws(BluetoothError) {
        _ = try await run { (client, now) throws(GATTError) in try client.write(value, to: handle, now: now) }
    }

    /// Writes at most MTU − 3 bytes without a confirmation; throws `procedure(.queueFull)` while too many writes
    /// are queued.
    public func writeWithoutResponse(_ value: [UInt8], to handle: AttributeHandle) throws(BluetoothError) {
        try core.perform { (client, now) throws(GATTError) in
            try client.writeWithoutResponse(value, to: handle, now: now)
        }
    }

    /// Writes at most 512 bytes as a series of prepared writes (CB-11).
    public func writeLong(_ value: [UInt8], to handle: AttributeHandle) async throws(BluetoothError) {
        _ = try await run { (client, now) throws(GATTError) in try client.writeLong(value, to: handle, now: now) }
    }

    /// Value to write, and the handle of its attribute.
    public typealias HandleValue = ATTPDU.HandleValue

    /// Writes several values as one reliable write: verifies the device's echo of each value, and writes either all
    /// values or none (CB-11).
    public func writeReliably(_ values: [HandleValue]) async throws(BluetoothError) {
        _ = try await run { (client, now) throws(GATTError) in try client.writeReliably(values, now: now) }
    }

    // MARK: Values by UUID

    /// Returns the first characteristic with this UUID, in any service or only in services with a given UUID (CB-8).
    ///
    /// The result is cached for the connection. Throws `noCharacteristic` if the device has no such characteristic.
    public func characteristic(
        _ uuid: BluetoothUUID,
        of service: BluetoothUUID? = nil
    ) async throws(BluetoothError) -> GATTCharacteristic {
        let path = CharacteristicPath(service: service, characteristic: uuid)
        if let known = core.characteristic(path) { return known }
        let connection = core.connections
        for service in try await discoverServices(service) {
            guard let found = try await discoverCharacteristics(of: service, uuid).first else { continue }
            core.note(found, path, in: connection)
            return found
        }
        throw .noCharacteristic(uuid, service: service)
    }

    /// Reads the whole value of the characteristic with a UUID (CB-9).
    public func read(
        _ uuid: BluetoothUUID,
        of service: BluetoothUUID? = nil
    ) async throws(BluetoothError) -> [UInt8] {
        let characteristic = try await characteristic(uuid, of: service)
        return try await readLong(characteristic.valueHandle)
    }

    /// Writes at most 512 bytes to the characteristic with a UUID (CB-11).
    ///
    /// A confirmed write is preferred if the characteristic supports it; a value longer than one PDU is then sent as
    /// prepared writes. An unconfirmed write has at most MTU − 3 bytes.
    public func write(
        _ value: [UInt8],
        to uuid: BluetoothUUID,
        of service: BluetoothUUID? = nil
    ) async throws(BluetoothError) {
        let characteristic = try await characteristic(uuid, of: service)
        let handle = characteristic.valueHandle
        if characteristic.properties.isDisjoint(with: .write), characteristic.properties.contains(.writeWithoutResponse)
        {
            return try writeWithoutResponse(value, to: handle)
        }
        let room = Int(core.mtu ?? 0) - 3
        if value.count > room { try await writeLong(value, to: handle) } else { try await write(value, to: handle) }
    }

    /// Subscribes to the characteristic with a UUID, like `subscribe(to:kind:capacity:)` (CB-10).
    public func subscribe(
        to uuid: BluetoothUUID,
        of service: BluetoothUUID? = nil,
        kind: GATTSubscriptionKind? = nil,
        capacity: Int = 1024
    ) async throws(BluetoothError) -> BoundedSequence<[UInt8]> {
        let characteristic = try await characteristic(uuid, of: service)
        return try await subscribe(to: characteristic, kind: kind, capacity: capacity)
    }

    /// Reads the Device Name of the Generic Access service (Core 6.0, Vol 3, Part C, 12.1).
    ///
    /// It may contain control characters; display `printable` instead.
    public func name() async throws(BluetoothError) -> LocalName {
        let value = try await read(.deviceName, of: .genericAccess)
        return LocalName(value.span, isComplete: true)
    }

    // MARK: Subscriptions

    /// Subscribes to a characteristic's values, in this connection and in all later connections (CB-10).
    ///
    /// Without a `kind`, notifications are preferred to indications. Values of either kind are delivered, even from a
    /// characteristic without a client configuration descriptor (D-36). At most `capacity` values are buffered; on
    /// overflow the newest is discarded and counted. The subscription ends when its sequence is released, by
    /// `unsubscribe`, or with an error if it cannot be renewed in a later connection.
    public func subscribe(
        to characteristic: GATTCharacteristic,
        kind: GATTSubscriptionKind? = nil,
        capacity: Int = 1024
    ) async throws(BluetoothError) -> BoundedSequence<[UInt8]> {
        let (identifier, end) = makeEnd { core, identifier in core.endSubscription(identifier) }
        let values = BoundedSequence<[UInt8]>(capacity: capacity, dropping: .newest, onEnd: end)
        let source = values.source
        let reply = Reply<Void>()
        core.subscribe(
            characteristic,
            kind,
            identifier: identifier,
            sink: { value in source.send([UInt8](copying: value)) },
            onEnd: { error in source.finish(error) },
            reply: reply
        )
        try await reply.value()
        return values
    }

    /// Subscribes like `subscribe(to:kind:capacity:)`, with a function that receives each value without a copy.
    ///
    /// `sink` is called on the adapter's thread before the next packet is read, so it must return quickly. The calls
    /// continue until `unsubscribe`, or until the subscription cannot be renewed in a later connection, which is not
    /// reported.
    public func subscribe(
        to characteristic: GATTCharacteristic,
        kind: GATTSubscriptionKind? = nil,
        sink: @escaping @Sendable (Span<UInt8>) -> Void
    ) async throws(BluetoothError) {
        let reply = Reply<Void>()
        core.subscribe(
            characteristic,
            kind,
            identifier: adapter.roles.value.central.makeIdentifier(),
            sink: sink,
            onEnd: { _ in },
            reply: reply
        )
        try await reply.value()
    }

    /// Ends all subscriptions to a characteristic, and the sequences of their values.
    public func unsubscribe(from characteristic: GATTCharacteristic) async throws(BluetoothError) {
        let reply = Reply<Void>()
        core.unsubscribe(characteristic, reply)
        try await reply.value()
    }

    private func run(_ begin: PeripheralCore.Begin) async throws(BluetoothError) -> GATTClient.Outcome {
        let reply = Reply<GATTClient.Outcome>()
        core.run(begin) { reply.give($0) }
        return try await reply.value()
    }

    private func value(_ begin: PeripheralCore.Begin) async throws(BluetoothError) -> [UInt8] {
        guard case .value(let value) = try await run(begin) else { return [] }
        return value
    }

    /// Returns an identifier for a sequence, and a function that calls `end` with it when the sequence is released.
    private func makeEnd(
        _ end: @escaping @Sendable (PeripheralCore, UInt64) -> Void
    ) -> (UInt64, @Sendable () -> Void) {
        let identifier = adapter.roles.value.central.makeIdentifier()
        let (bound, executor, address) = (adapter.roles, adapter.thread.executor, address)
        return (
            identifier,
            { [weak bound] in
                executor.submit { [weak bound] in
                    if let bound { end(bound.value.central.peripheral(address), identifier) }
                }
            }
        )
    }
}
