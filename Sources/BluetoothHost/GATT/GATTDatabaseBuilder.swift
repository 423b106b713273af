// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Reason why a service cannot be published.
public enum GATTDatabaseError: Error, Equatable, Sendable {
    /// There is no free handle up to 0xFFFF, or the requested start is below the first free handle.
    case noHandle(BluetoothUUID)
    /// The value is longer than 512 bytes, or has a length that its definition does not allow.
    case invalidLength(BluetoothUUID, Int)
    /// The value is constant but defined as writable.
    case constantIsWritable(BluetoothUUID)
    /// The included service has not been added yet.
    case unknownInclude(GATTService)
    /// The descriptor has a type that the builder adds itself, or that is not a descriptor type.
    case reservedDescriptor(BluetoothUUID)
    /// The characteristic has a property that this server does not support: broadcasts or signed writes.
    case unsupportedProperty(BluetoothUUID)
}

extension GATTDatabaseError: CustomStringConvertible {
    /// Human-readable description in one line.
    public var description: String {
        switch self {
        case .noHandle(let uuid): "there is no free handle for \(uuid)"
        case .invalidLength(let uuid, let length): "\(uuid) does not allow a value of \(length) bytes"
        case .constantIsWritable(let uuid): "\(uuid) has a constant value but is writable"
        case .unknownInclude(let service): "the included service \(service.uuid) has not been added"
        case .reservedDescriptor(let uuid): "\(uuid) is not a descriptor that can be added"
        case .unsupportedProperty(let uuid): "\(uuid) has broadcasts or signed writes, which are not supported"
        }
    }
}

/// Builder of a server database: appends services and assigns a handle to each attribute.
///
/// The Generic Access and Generic Attribute services come first. Core 6.0, Vol 3, Part G, 3 and Part C, 12.
public struct GATTDatabaseBuilder: Sendable {
    private var services: [GATTServerDatabase.Service] = []
    private var attributes: [GATTAttribute] = []
    private var initialValues: [AttributeHandle: [UInt8]] = [:]

    /// Creates an empty database.
    public init() {}

    /// Creates a database with the Generic Access and Generic Attribute services.
    ///
    /// The Generic Access service contains the device name, with 0 to 248 bytes of UTF-8, and the appearance. The
    /// Service Changed characteristic of the Generic Attribute service is optional, because published services do not
    /// change. Core 6.0, Vol 3, Part C, 12.1 and 12.2; Part G, 7.
    public init(
        deviceName: String,
        appearance: UInt16 = 0x0000,
        hasServiceChanged: Bool = false
    ) throws(GATTDatabaseError) {
        let name = Array(deviceName.utf8)
        guard name.count <= Self.longestDeviceName else {
            throw .invalidLength(BluetoothUUID.deviceName, name.count)
        }
        try add(
            GATTServiceDefinition(
                uuid: .genericAccess,
                characteristics: [
                    GATTCharacteristicDefinition(
                        uuid: BluetoothUUID.deviceName,
                        properties: .read,
                        value: .constant(name)
                    ),
                    GATTCharacteristicDefinition(
                        uuid: BluetoothUUID.appearance,
                        properties: .read,
                        value: .constant([UInt8(truncatingIfNeeded: appearance), UInt8(appearance &>> 8)])
                    ),
                ]
            )
        )
        let serviceChanged = GATTCharacteristicDefinition(
            uuid: BluetoothUUID.serviceChanged,
            properties: .indicate,
            value: .dynamic
        )
        try add(
            GATTServiceDefinition(
                uuid: BluetoothUUID.genericAttribute,
                characteristics: hasServiceChanged ? [serviceChanged] : []
            )
        )
    }

    /// Maximum length of the device name, in bytes (Core 6.0, Vol 3, Part C, 3.2.2).
    public static let longestDeviceName = 248

    /// Database with the services published so far.
    public var database: GATTServerDatabase {
        GATTServerDatabase(services: services, attributes: attributes, initialValues: initialValues)
    }

    /// Publishes a service at the next free handle or at a higher one; adds nothing if it throws an error.
    @discardableResult
    public mutating func add(
        _ definition: GATTServiceDefinition,
        at start: AttributeHandle? = nil
    ) throws(GATTDatabaseError) -> GATTServerDatabase.Service {
        var copy = self
        let service = try copy.append(definition, at: start)
        self = copy
        return service
    }

    private mutating func append(
        _ definition: GATTServiceDefinition,
        at start: AttributeHandle?
    ) throws(GATTDatabaseError) -> GATTServerDatabase.Service {
        let type = definition.isPrimary ? GATTAttributeType.primaryService : GATTAttributeType.secondaryService
        let index = attributes.count
        let declaration = try append(type, .constant(Self.bytes(definition.uuid)), for: definition.uuid, at: start)
        var service = GATTServerDatabase.Service(
            service: GATTService(
                handles: AttributeHandleRange(start: declaration, end: declaration),
                uuid: definition.uuid
            ),
            isPrimary: definition.isPrimary,
            includes: [],
            characteristics: []
        )
        for included in definition.includes {
            guard services.contains(where: { $0.service == included }) else { throw .unknownInclude(included) }
            var value = ByteWriter(reservingCapacity: 6)
            value.write(included.handles.start.rawValue)
            value.write(included.handles.end.rawValue)
            // A 128-bit UUID is omitted; the client reads it from the included service's declaration.
            if let short = included.uuid.shortForm16 { value.write(short) }
            let handle = try append(GATTAttributeType.include, .constant(value.bytes), for: included.uuid)
            service.includes.append(GATTIncludedService(declaration: handle, service: included))
        }
        for characteristic in definition.characteristics {
            service.characteristics.append(try append(characteristic))
        }
        let end = attributes.last?.handle ?? declaration
        attributes[index].groupEnd = end
        service.service.handles.end = end
        services.append(service)
        return service
    }

    private mutating func append(
        _ definition: GATTCharacteristicDefinition
    ) throws(GATTDatabaseError) -> GATTServerDatabase.Characteristic {
        let properties = definition.properties
        guard properties.isDisjoint(with: [.broadcast, .authenticatedSignedWrites]) else {
            throw .unsupportedProperty(definition.uuid)
        }
        let index = attributes.count
        let declaration = try append(GATTAttributeType.characteristic, .constant([]), for: definition.uuid)
        let value = try appendValue(of: definition)
        var writer = ByteWriter(reservingCapacity: 19)
        writer.write(properties.rawValue)
        writer.write(value.rawValue)
        writer.write(definition.uuid)
        attributes[index].source = .constant(writer.bytes)
        var descriptors: [GATTDescriptor] = []
        if properties.contains(.extendedProperties) {
            let bits = definition.extendedProperties.rawValue
            let bytes = [UInt8(truncatingIfNeeded: bits), UInt8(bits &>> 8)]
            let type = GATTAttributeType.extendedProperties
            descriptors.append(GATTDescriptor(handle: try append(type, .constant(bytes), for: type), uuid: type))
        }
        if !properties.isDisjoint(with: [.notify, .indicate]) {
            descriptors.append(try appendConfiguration(of: definition, value: value))
        }
        for descriptor in definition.descriptors { descriptors.append(try append(descriptor)) }
        let end = attributes.last?.handle ?? value
        attributes[index].groupEnd = end
        return GATTServerDatabase.Characteristic(
            characteristic: GATTCharacteristic(
                declaration: declaration,
                valueHandle: value,
                end: end,
                properties: properties,
                uuid: definition.uuid
            ),
            descriptors: descriptors
        )
    }

    private mutating func appendValue(
        of definition: GATTCharacteristicDefinition
    ) throws(GATTDatabaseError) -> AttributeHandle {
        let properties = definition.properties
        let isWritable = !properties.isDisjoint(with: [.write, .writeWithoutResponse])
        let write = isWritable ? definition.write : .never
        let value = try append(definition.uuid, try source(of: definition.value, definition.uuid, write))
        setLast { attribute in
            attribute.read = properties.contains(.read) ? definition.read : .never
            attribute.write = write
            attribute.takesRequests = properties.contains(.write)
            attribute.takesCommands = properties.contains(.writeWithoutResponse)
            attribute.minimumKeySize = definition.minimumKeySize
            attribute.subscribable = properties.intersection([.notify, .indicate])
        }
        return value
    }

    private mutating func appendConfiguration(
        of definition: GATTCharacteristicDefinition,
        value: AttributeHandle
    ) throws(GATTDatabaseError) -> GATTDescriptor {
        let type = GATTAttributeType.clientConfiguration
        var allowed: UInt16 = 0
        if definition.properties.contains(.notify) { allowed |= GATTSubscriptionKind.notifications.rawValue }
        if definition.properties.contains(.indicate) { allowed |= GATTSubscriptionKind.indications.rawValue }
        let handle = try append(type, .configuration(value: value, allowed: allowed), for: type)
        setLast { attribute in
            attribute.write = definition.subscribe
            attribute.takesRequests = true
            attribute.minimumKeySize = definition.minimumKeySize
        }
        return GATTDescriptor(handle: handle, uuid: type)
    }

    private mutating func append(_ definition: GATTDescriptorDefinition) throws(GATTDatabaseError) -> GATTDescriptor {
        let type = definition.uuid
        guard !GATTAttributeType.isDeclaration(type), !Self.automatic.contains(type) else {
            throw .reservedDescriptor(type)
        }
        let handle = try append(type, try source(of: definition.value, type, definition.write))
        setLast { attribute in
            attribute.read = definition.read
            attribute.write = definition.write
            attribute.takesRequests = definition.write != .never
        }
        return GATTDescriptor(handle: handle, uuid: type)
    }

    /// Descriptor types that the builder adds for properties, and the descriptor type for broadcasts.
    private static let automatic = [
        GATTAttributeType.extendedProperties, GATTAttributeType.clientConfiguration,
        GATTAttributeType.serverConfiguration,
    ]

    private static func bytes(_ uuid: BluetoothUUID) -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: 16)
        writer.write(uuid)
        return writer.bytes
    }

    /// Returns the source of an attribute's value and, for a stored value, the initial value.
    private func source(
        of value: GATTValueSource,
        _ uuid: BluetoothUUID,
        _ write: GATTAccess
    ) throws(GATTDatabaseError) -> (GATTAttribute.Source, [UInt8]?) {
        switch value {
        case .constant(let bytes):
            guard write == .never else { throw .constantIsWritable(uuid) }
            guard bytes.count <= GATTClient.longestValue else { throw .invalidLength(uuid, bytes.count) }
            return (.constant(bytes), nil)
        case .stored(let bytes, let lengths):
            guard lengths.lowerBound >= 0, lengths.upperBound <= GATTClient.longestValue else {
                throw .invalidLength(uuid, lengths.upperBound)
            }
            guard lengths.contains(bytes.count) else { throw .invalidLength(uuid, bytes.count) }
            return (.stored(lengths: lengths), bytes)
        case .dynamic: return (.dynamic, nil)
        }
    }

    private mutating func append(
        _ type: BluetoothUUID,
        _ value: (source: GATTAttribute.Source, initial: [UInt8]?)
    ) throws(GATTDatabaseError) -> AttributeHandle {
        let handle = try append(type, value.source, for: type)
        initialValues[handle] = value.initial
        return handle
    }

    /// Appends an attribute; by default it is readable over every link and not writable.
    private mutating func append(
        _ type: BluetoothUUID,
        _ source: GATTAttribute.Source,
        for uuid: BluetoothUUID,
        at wanted: AttributeHandle? = nil
    ) throws(GATTDatabaseError) -> AttributeHandle {
        let free = attributes.last.map { $0.handle.next } ?? AttributeHandle.first
        guard let free else { throw .noHandle(uuid) }
        let handle = wanted ?? free
        guard handle >= free else { throw .noHandle(uuid) }
        attributes.append(GATTAttribute(handle: handle, type: type, source: source, groupEnd: handle))
        return handle
    }

    private mutating func setLast(_ change: (inout GATTAttribute) -> Void) {
        guard let index = attributes.indices.last else { return }
        change(&attributes[index])
    }
}
