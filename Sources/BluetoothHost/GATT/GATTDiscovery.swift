// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Procedure that discovers all primary services (Core 6.0, Vol 3, Part G, 4.4.1).
struct GATTPrimaryServiceDiscovery: GATTSearch {
    private var progress: GATTProgress
    private var services: [GATTService] = []

    init(limit: Int) {
        progress = GATTProgress(.all, limit: limit)
    }

    func next() -> GATTStep {
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

/// Procedure that discovers the primary services with a given UUID.
///
/// Some servers cannot find 128-bit UUIDs. If the server finds no services by UUID or does not support the request, all
/// services are therefore discovered and then filtered.
///
/// Core 6.0, Vol 3, Part G, 4.4.2 and 4.4.1.
struct GATTServiceSearch: GATTSearch {
    private let uuid: BluetoothUUID
    private var progress: GATTProgress
    private var services: [GATTService] = []
    private var all: GATTPrimaryServiceDiscovery
    /// True after the change to discovering all services.
    private var isOfAll = false

    init(uuid: BluetoothUUID, limit: Int) {
        self.uuid = uuid
        progress = GATTProgress(.all, limit: limit)
        all = GATTPrimaryServiceDiscovery(limit: limit)
    }

    func next() -> GATTStep {
        guard let rest = progress.rest else { return .finish(.services(services)) }
        var value = ByteWriter(reservingCapacity: 16)
        value.write(uuid)
        return .send(.findByTypeValueRequest(rest, type: GATTAttributeType.primaryService16, value: value.bytes))
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

    /// Removes services with other UUIDs from the result if all services were discovered.
    private func chosen(_ step: GATTStep) -> GATTStep {
        guard case .finish(.services(let found)) = step else { return step }
        return .finish(.services(found.filter { $0.uuid == uuid }))
    }
}

/// Procedure that discovers the services that a service includes; 128-bit UUIDs are read from the included services'
/// declarations (Core 6.0, Vol 3, Part G, 4.5.1).
struct GATTIncludedServiceDiscovery: GATTSearch {
    private var progress: GATTProgress
    private var found: [GATTIncludedService] = []
    /// Include declarations whose service UUIDs must still be read; the last element is read next.
    private var unread: [(declaration: AttributeHandle, handles: AttributeHandleRange)] = []

    init(range: AttributeHandleRange, limit: Int) {
        progress = GATTProgress(range, limit: limit)
    }

    func next() -> GATTStep {
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
        found.append(GATTIncludedService(declaration: declaration, service: GATTService(handles: handles, uuid: uuid)))
    }

    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep {
        guard unread.isEmpty, refusal.endsSearch(foundSome: !found.isEmpty) else { throw refusal.asError }
        return finish()
    }
}

/// Procedure that discovers a service's characteristics (Core 6.0, Vol 3, Part G, 4.6.1 and 4.6.2).
///
/// Characteristics with other UUIDs are removed only at the end, because their handles delimit the other
/// characteristics.
struct GATTCharacteristicDiscovery: GATTSearch {
    private let range: AttributeHandleRange
    private let uuid: BluetoothUUID?
    private var progress: GATTProgress
    private var found: [GATTCharacteristic] = []

    init(range: AttributeHandleRange, uuid: BluetoothUUID?, limit: Int) {
        self.range = range
        self.uuid = uuid
        progress = GATTProgress(range, limit: limit)
    }

    func next() -> GATTStep {
        guard let rest = progress.rest else { return finish() }
        return .send(.readByTypeRequest(rest, type: GATTAttributeType.characteristic))
    }

    private func finish() -> GATTStep {
        guard let uuid else { return .finish(.characteristics(found)) }
        return .finish(.characteristics(found.filter { $0.uuid == uuid }))
    }

    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep {
        guard case .readByTypeResponse(let items) = response else { throw unexpected(response) }
        for item in items {
            let bytes = item.value
            guard bytes.count == 5 || bytes.count == 19, let uuid = BluetoothUUID(attValue: bytes[3...]) else {
                throw .invalidItemLength(response.opcode, bytes.count &+ 2)
            }
            try progress.accept(item.handle)
            let value = AttributeHandle(low: bytes[1], high: bytes[2])
            guard value > item.handle, value <= range.end else {
                throw .handleOutOfOrder(value, expected: AttributeHandleRange(start: item.handle, end: range.end))
            }
            try closePrevious(before: item.handle)
            found.append(
                GATTCharacteristic(
                    declaration: item.handle,
                    valueHandle: value,
                    end: range.end,
                    properties: GATTCharacteristicProperties(rawValue: bytes[0]),
                    uuid: uuid
                )
            )
        }
        return next()
    }

    /// Sets the end of the last characteristic before the next declaration; throws an error if its value handle is not
    /// below that declaration's handle.
    private mutating func closePrevious(before handle: AttributeHandle) throws(GATTError) {
        guard let last = found.indices.last else { return }
        guard found[last].valueHandle < handle else {
            throw .handleOutOfOrder(
                handle,
                expected: AttributeHandleRange(start: found[last].valueHandle, end: range.end)
            )
        }
        found[last].end = AttributeHandle(handle.rawValue &- 1)
    }

    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep {
        guard refusal.endsSearch(foundSome: !found.isEmpty) else { throw refusal.asError }
        return finish()
    }
}

/// Procedure that discovers a characteristic's descriptors, up to the next declaration (Core 6.0, Vol 3, Part G,
/// 4.7.1).
struct GATTDescriptorDiscovery: GATTSearch {
    private var progress: GATTProgress
    private var found: [GATTDescriptor] = []
    /// Descriptor type at which the search stops; nil to find all descriptors.
    private let wanted: BluetoothUUID?

    init(range: AttributeHandleRange, wanted: BluetoothUUID? = nil, limit: Int) {
        self.wanted = wanted
        progress = GATTProgress(range, limit: limit)
    }

    func next() -> GATTStep {
        guard let rest = progress.rest else { return .finish(.descriptors(found)) }
        return .send(.findInformationRequest(rest))
    }

    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep {
        guard case .findInformationResponse(_, let items) = response else { throw unexpected(response) }
        for item in items {
            try progress.accept(item.handle)
            if GATTAttributeType.isDeclaration(item.type) { return .finish(.descriptors(found)) }
            found.append(GATTDescriptor(handle: item.handle, uuid: item.type))
            if item.type == wanted { return .finish(.descriptors(found)) }
        }
        return next()
    }

    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep {
        guard refusal.endsSearch(foundSome: !found.isEmpty) else { throw refusal.asError }
        return .finish(.descriptors(found))
    }
}

/// Procedure that writes the client characteristic configuration descriptor; it does nothing if there is no such
/// descriptor (Core 6.0, Vol 3, Part G, 3.3.3.3 and 4.12.3).
struct GATTConfiguration: GATTProcedure {
    var isSearch: Bool { true }
    private let bits: UInt16
    private var search: GATTDescriptorDiscovery?

    /// Creates the procedure; the value 0x0000 for `bits` unsubscribes.
    init(_ characteristic: GATTCharacteristic, bits: UInt16, limit: Int) {
        self.bits = bits
        search = characteristic.descriptorHandles.map {
            GATTDescriptorDiscovery(range: $0, wanted: GATTAttributeType.clientConfiguration, limit: limit)
        }
    }

    mutating func begin(mtu: Int) throws(GATTError) -> GATTStep {
        try search?.begin(mtu: mtu) ?? unconfigured
    }

    mutating func receive(_ response: ATTPDU, mtu: Int) throws(GATTError) -> GATTStep {
        if case .writeResponse = response { return .finish(.done) }
        guard let step = try search?.receive(response, mtu: mtu) else { throw unexpected(response) }
        return try write(after: step)
    }

    mutating func receive(_ refusal: GATTRefusal, mtu: Int) throws(GATTError) -> GATTStep {
        guard refusal.request == .findInformationRequest, let step = try search?.receive(refusal, mtu: mtu) else {
            throw refusal.asError
        }
        return try write(after: step)
    }

    /// Step if there is no descriptor: the procedure succeeds, because listening and unsubscribing do not need one.
    private var unconfigured: GATTStep { .finish(bits == 0x0000 ? .done : .listening) }

    private func write(after step: GATTStep) throws(GATTError) -> GATTStep {
        guard case .finish(.descriptors(let found)) = step else { return step }
        guard let descriptor = found.last, descriptor.uuid == GATTAttributeType.clientConfiguration else {
            return unconfigured
        }
        var writer = ByteWriter(reservingCapacity: 2)
        writer.write(bits)
        return .send(.writeRequest(descriptor.handle, value: writer.bytes))
    }
}
