// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import Configuration

/// State machine for one request on a ready link.
///
/// The request lists all attributes of a device, or it reads, writes or subscribes. The state machine does no input or
/// output itself, but uses a `GATTClient`. It always ends, whatever the device does, because the number of attributes
/// and the time are limited.
package struct GATTBrowser: Sendable {
    package enum Task: Equatable, Sendable {
        /// Discover the services, characteristics and descriptors.
        case tree
        /// Read the value of an attribute, or the values of all attributes of a type.
        case read(GATTTarget)
        case write(GATTTarget, [UInt8], withResponse: Bool)
        /// Subscribe to the values of a characteristic.
        case subscribe(GATTTarget)
    }

    package enum Progress: Equatable, Sendable {
        case underWay
        /// The services, characteristics and descriptors of the device.
        case tree(GATTTree)
        /// The complete values that were read.
        case values([ATTPDU.HandleValue])
        /// The value was written or, if no response was requested, has arrived at the device.
        case written
        /// The subscription is active; from now on, values of this characteristic arrive.
        case subscribed(GATTCharacteristic)
        case failed(Failure)
    }

    package enum Failure: Error, Equatable, Sendable {
        case procedure(GATTError)
        case missing(GATTTarget)
        case ambiguous(GATTTarget, [AttributeHandle])
    }

    package static let attributeLimit = 4096
    package static let timeLimit = Duration.seconds(120)

    private enum Step: Sendable {
        case start, services, includes, characteristics, descriptors, valuesByType, longValue, type, search, write
        case settle, subscription
    }

    private let task: Task
    private var step = Step.start
    private var procedure: GATTClient.ProcedureID?
    private var started = Duration.zero
    private var tree = GATTTree()
    private var service = 0
    private var characteristic = 0
    private var attributes = 0
    private var values: [ATTPDU.HandleValue] = []
    private var value = 0
    /// Type of the values that were read; nil if it is unknown.
    ///
    /// Only the report map is detected among the values that are read by their handle.
    package private(set) var valueType: BluetoothUUID?
    /// The characteristic subscribed to, set when the request is sent, because the first value can arrive before the
    /// response.
    private var subscribed: GATTCharacteristic?

    /// Length in bytes from which a value in a Read By Type Response may be truncated.
    ///
    /// Core 6.0, Vol 3, Part F, 3.4.4.2.
    private static let longestListedValue = 253

    package init(_ task: Task) {
        self.task = task
    }

    /// Returns true if this request has subscribed to the values of the handle (D-36).
    package func isWanted(_ handle: AttributeHandle) -> Bool { subscribed?.valueHandle == handle }

    package mutating func begin(_ client: inout GATTClient, now: Duration) -> Progress {
        started = now
        switch task {
        case .tree:
            return attempt(.services) { () throws(GATTError) in try client.discoverPrimaryServices(now: now) }
        case .read(.handle(let handle)):
            values = [ATTPDU.HandleValue(handle: handle, value: [])]
            return attempt(.longValue) { () throws(GATTError) in try client.readLong(handle, now: now) }
        case .read(.uuid(let uuid)):
            valueType = uuid
            return attempt(.valuesByType) { () throws(GATTError) in try client.read(uuid, now: now) }
        case .write(.handle(let handle), let value, let withResponse):
            return write(value, to: handle, withResponse: withResponse, &client, now)
        case .write(.uuid(let uuid), _, _), .subscribe(.uuid(let uuid)): return search(uuid, &client, now)
        case .subscribe(.handle): return search(nil, &client, now)
        }
    }

    /// Handles the end of a procedure, and begins the next procedure.
    package mutating func handle(_ event: GATTClient.Event, _ client: inout GATTClient, now: Duration) -> Progress {
        guard event.procedure == procedure else { return .underWay }
        guard now - started <= Self.timeLimit else { return .failed(.procedure(.tookTooLong(limit: Self.timeLimit))) }
        switch (step, event.result) {
        case (.valuesByType, .failure(.errorResponse(_, _, .attributeNotFound))):
            guard case .read(let target) = task else { return .underWay }
            return .failed(.missing(target))
        // The value has been read, even if its type is not found.
        case (.type, .failure): return .values(values)
        case (_, .failure(let error)): return .failed(.procedure(error))
        case (_, .success(let outcome)): return take(outcome, &client, now)
        }
    }

    private mutating func take(_ outcome: GATTClient.Outcome, _ client: inout GATTClient, _ now: Duration) -> Progress {
        switch (step, outcome) {
        case (.services, .services(let found)):
            guard count(found.count) else { return tooMany }
            tree.services = found.map { GATTTree.Service(service: $0) }
            return beginService(&client, now)
        case (.includes, .includedServices(let found)):
            guard count(found.count) else { return tooMany }
            let current = tree.services[service].service
            tree.services[service].includes = found
            return attempt(.characteristics) { () throws(GATTError) in
                try client.discoverCharacteristics(of: current, now: now)
            }
        case (.characteristics, .characteristics(let found)):
            guard count(found.count) else { return tooMany }
            tree.services[service].characteristics = found.map { GATTTree.Characteristic(characteristic: $0) }
            characteristic = 0
            return beginCharacteristic(&client, now)
        case (.descriptors, .descriptors(let found)):
            guard count(found.count) else { return tooMany }
            tree.services[service].characteristics[characteristic].descriptors = found
            characteristic &+= 1
            return beginCharacteristic(&client, now)
        case (.valuesByType, .values(let found)):
            values = found
            return nextLongValue(&client, now)
        case (.longValue, .value(let bytes)):
            values[value].value = bytes
            value &+= 1
            return nextLongValue(&client, now)
        case (.type, .characteristics(let found)):
            valueType = found.first { $0.valueHandle == values.first?.handle }?.uuid
            return .values(values)
        case (.search, .characteristics(let found)): return choose(found, &client, now)
        case (.write, .done), (.settle, .services): return .written
        case (.subscription, .done), (.subscription, .listening): return subscribed.map { .subscribed($0) } ?? .underWay
        default: return .underWay
        }
    }

    // MARK: The tree

    private mutating func beginService(_ client: inout GATTClient, _ now: Duration) -> Progress {
        guard service < tree.services.count else { return .tree(tree) }
        let current = tree.services[service].service
        return attempt(.includes) { () throws(GATTError) in try client.discoverIncludedServices(of: current, now: now) }
    }

    private mutating func beginCharacteristic(_ client: inout GATTClient, _ now: Duration) -> Progress {
        let characteristics = tree.services[service].characteristics
        guard characteristic < characteristics.count else {
            service &+= 1
            return beginService(&client, now)
        }
        let current = characteristics[characteristic].characteristic
        return attempt(.descriptors) { () throws(GATTError) in try client.discoverDescriptors(of: current, now: now) }
    }

    private mutating func count(_ found: Int) -> Bool {
        attributes &+= found
        return attributes <= Self.attributeLimit
    }

    private var tooMany: Progress { .failed(.procedure(.tooManyAttributes(limit: Self.attributeLimit))) }

    // MARK: Values

    /// Reads the complete value of each attribute whose value may be truncated in a Read By Type Response.
    private mutating func nextLongValue(_ client: inout GATTClient, _ now: Duration) -> Progress {
        let longest = min(Int(client.mtu) &- 4, Self.longestListedValue)
        while value < values.count, case .read(.uuid) = task, values[value].value.count < longest { value &+= 1 }
        guard value < values.count else { return findType(&client, now) }
        let handle = values[value].handle
        return attempt(.longValue) { () throws(GATTError) in try client.readLong(handle, now: now) }
    }

    /// Checks whether a value that was read by its handle is a report map, if it begins like one: with Usage Page.
    ///
    /// The declaration of a characteristic is directly before its value (Core 6.0, Vol 3, Part G, 3.3.1).
    private mutating func findType(_ client: inout GATTClient, _ now: Duration) -> Progress {
        guard valueType == nil, let read = values.first, let first = read.value.first, first & 0xFC == 0x04,
            read.handle.rawValue > 1
        else { return .values(values) }
        let handles = AttributeHandleRange(start: AttributeHandle(read.handle.rawValue &- 1), end: read.handle)
        let place = GATTService(handles: handles, uuid: .genericAccess)
        let progress = attempt(.type) { () throws(GATTError) in
            try client.discoverCharacteristics(of: place, .reportMap, now: now)
        }
        guard case .failed = progress else { return progress }
        return .values(values)
    }

    private mutating func write(
        _ bytes: [UInt8],
        to handle: AttributeHandle,
        withResponse: Bool,
        _ client: inout GATTClient,
        _ now: Duration
    ) -> Progress {
        guard withResponse else {
            return attempt(.settle) { () throws(GATTError) in
                try client.writeWithoutResponse(bytes, to: handle, now: now)
                // Request a service that every device has; its response shows that all earlier requests have arrived.
                return try client.discoverPrimaryServices(.genericAccess, now: now)
            }
        }
        // A Write Request has three bytes before the value: opcode and handle. Core 6.0, Vol 3, Part F, 3.4.5.1.
        let fits = bytes.count <= Int(client.mtu) &- 3
        return attempt(.write) { () throws(GATTError) in
            fits
                ? try client.write(bytes, to: handle, now: now)
                : try client.writeLong(bytes, to: handle, now: now)
        }
    }

    // MARK: Characteristics

    private mutating func search(_ uuid: BluetoothUUID?, _ client: inout GATTClient, _ now: Duration) -> Progress {
        let everything = GATTService(handles: .all, uuid: .genericAccess)
        return attempt(.search) { () throws(GATTError) in
            try client.discoverCharacteristics(of: everything, uuid, now: now)
        }
    }

    private mutating func choose(
        _ found: [GATTCharacteristic],
        _ client: inout GATTClient,
        _ now: Duration
    ) -> Progress {
        let target: GATTTarget
        switch task {
        case .write(let named, _, _), .subscribe(let named), .read(let named): target = named
        case .tree: return .underWay
        }
        var fitting = found.filter {
            switch target {
            case .handle(let handle): $0.valueHandle == handle
            case .uuid(let uuid): $0.uuid == uuid
            }
        }
        // Some devices use the same UUID twice, once for each direction.
        let able = fitting.filter { if case .write = task { $0.isWritable } else { $0.isSubscribable } }
        if !able.isEmpty { fitting = able }
        guard let chosen = fitting.first else { return .failed(.missing(target)) }
        guard fitting.count == 1 else { return .failed(.ambiguous(target, fitting.map(\.valueHandle))) }
        if case .write(_, let bytes, let withResponse) = task {
            return write(bytes, to: chosen.valueHandle, withResponse: withResponse, &client, now)
        }
        subscribed = chosen
        return attempt(.subscription) { () throws(GATTError) in try client.subscribe(chosen, now: now) }
    }

    private mutating func attempt(_ next: Step, _ begin: () throws(GATTError) -> GATTClient.ProcedureID) -> Progress {
        do throws(GATTError) {
            procedure = try begin()
            step = next
            return .underWay
        } catch {
            return .failed(.procedure(error))
        }
    }
}
