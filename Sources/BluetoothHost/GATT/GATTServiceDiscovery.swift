// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Finds all primary services.
///
/// Core 6.0, Vol 3, Part G, 4.4.1.
struct GATTPrimaryServiceDiscovery: GATTProcedure {
    var isSearch: Bool { true }
    private var progress: GATTProgress
    private var services: [GATTService] = []

    init(limit: Int) {
        progress = GATTProgress(.all, limit: limit)
    }

    mutating func begin(mtu: Int) throws(GATTError) -> GATTStep {
        next()
    }

    private func next() -> GATTStep {
        guard let rest = progress.rest else { return .finish(.services(services)) }
        return .send(.readByGroupTypeRequest(rest, type: GATTAttributeType.primaryService))
    }

    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep {
        guard case .readByGroupTypeResponse(let items) = response else { throw unexpected(response) }
        for item in items {
            guard let uuid = BluetoothUUID(attValue: item.value) else {
                throw .invalidItemLength(response.opcode, item.value.count &+ 4)
            }
            try progress.accept(from: item.range.start, to: item.range.end)
            services.append(GATTService(handles: item.range, uuid: uuid))
        }
        return next()
    }

    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep {
        guard refusal.endsSearch(foundSome: !services.isEmpty) else { throw refusal.asError }
        return .finish(.services(services))
    }
}

/// Finds the primary services of one UUID.
///
/// Where a server finds none by their UUID, or has no such request, all services are looked through: some servers find
/// nothing by a UUID of 128 bits.
///
/// Core 6.0, Vol 3, Part G, 4.4.2 and 4.4.1.
struct GATTServiceSearch: GATTProcedure {
    var isSearch: Bool { true }
    private let uuid: BluetoothUUID
    private var progress: GATTProgress
    private var services: [GATTService] = []
    private var all: GATTPrimaryServiceDiscovery
    /// True once all services are looked through.
    private var isOfAll = false

    init(uuid: BluetoothUUID, limit: Int) {
        self.uuid = uuid
        progress = GATTProgress(.all, limit: limit)
        all = GATTPrimaryServiceDiscovery(limit: limit)
    }

    mutating func begin(mtu: Int) throws(GATTError) -> GATTStep {
        next()
    }

    private func next() -> GATTStep {
        guard let rest = progress.rest else { return .finish(.services(services)) }
        var value = ByteWriter(reservingCapacity: 16)
        value.write(uuid)
        return .send(
            .findByTypeValueRequest(rest, type: GATTAttributeType.primaryService16, value: value.bytes)
        )
    }

    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep {
        if isOfAll { return chosen(try all.receive(response, mtu: mtu)) }
        guard case .findByTypeValueResponse(let items) = response else { throw unexpected(response) }
        for item in items {
            try progress.accept(from: item.start, to: item.end)
            services.append(GATTService(handles: item, uuid: uuid))
        }
        return next()
    }

    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep {
        if isOfAll { return chosen(try all.receive(refusal, mtu: mtu)) }
        let isUnknown = refusal.error == .requestNotSupported
        guard isUnknown || refusal.endsSearch(foundSome: !services.isEmpty) else { throw refusal.asError }
        guard services.isEmpty else { return .finish(.services(services)) }
        isOfAll = true
        return try all.begin(mtu: mtu)
    }

    /// The step of the look through all services, whose result are those of the UUID.
    private func chosen(_ step: GATTStep) -> GATTStep {
        guard case .finish(.services(let found)) = step else { return step }
        return .finish(.services(found.filter { $0.uuid == uuid }))
    }
}

/// Finds the services that a service includes; a UUID of 128 bits is read from the included service's declaration.
///
/// Core 6.0, Vol 3, Part G, 4.5.1.
struct GATTIncludedServiceDiscovery: GATTProcedure {
    var isSearch: Bool { true }
    private var progress: GATTProgress
    private var found: [GATTIncludedService] = []
    /// Include declarations whose services' UUIDs are still to be read, the next one last.
    private var unread: [(declaration: AttributeHandle, handles: AttributeHandleRange)] = []

    init(range: AttributeHandleRange, limit: Int) {
        progress = GATTProgress(range, limit: limit)
    }

    mutating func begin(mtu: Int) throws(GATTError) -> GATTStep {
        next()
    }

    private func next() -> GATTStep {
        if let item = unread.last { return .send(.readRequest(item.handles.start)) }
        guard let rest = progress.rest else { return finish() }
        return .send(.readByTypeRequest(rest, type: GATTAttributeType.include))
    }

    private func finish() -> GATTStep {
        .finish(.includedServices(found.sorted { $0.declaration < $1.declaration }))
    }

    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep {
        switch response {
        case .readByTypeResponse(let items):
            for item in items { try accept(item) }
            unread.reverse()
        case .readResponse(let value):
            guard let item = unread.popLast() else { throw unexpected(response) }
            guard value.count == 16, let uuid = BluetoothUUID(attValue: value) else {
                throw .invalidValueLength(item.handles.start, value.count)
            }
            add(item.declaration, item.handles, uuid)
        default: throw unexpected(response)
        }
        return next()
    }

    private mutating func accept(_ item: ATTPDU.HandleValue) throws(GATTError) {
        let bytes = item.value
        guard bytes.count == 4 || bytes.count == 6 else {
            throw .invalidItemLength(.readByTypeResponse, bytes.count &+ 2)
        }
        let handles = AttributeHandleRange(
            start: AttributeHandle(low: bytes[0], high: bytes[1]),
            end: AttributeHandle(low: bytes[2], high: bytes[3])
        )
        guard handles.isValid else { throw .invalidRange(handles) }
        try progress.accept(item.handle)
        if bytes.count == 6, let uuid = BluetoothUUID(attValue: bytes[4...]) {
            add(item.handle, handles, uuid)
        } else {
            unread.append((item.handle, handles))
        }
    }

    private mutating func add(_ declaration: AttributeHandle, _ handles: AttributeHandleRange, _ uuid: BluetoothUUID) {
        found.append(
            GATTIncludedService(declaration: declaration, service: GATTService(handles: handles, uuid: uuid))
        )
    }

    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep {
        guard unread.isEmpty, refusal.endsSearch(foundSome: !found.isEmpty) else { throw refusal.asError }
        return finish()
    }
}
