// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Service discovered by a client (Core 6.0, Vol 3, Part G, 3.1).
public struct GATTService: Hashable, Sendable {
    /// Range of handles from the service's declaration to its last attribute.
    public var handles: AttributeHandleRange
    /// UUID of the service.
    public var uuid: BluetoothUUID

    /// Creates a service from its handles and UUID.
    public init(handles: AttributeHandleRange, uuid: BluetoothUUID) {
        self.handles = handles
        self.uuid = uuid
    }
}

/// Include declaration, which makes a service part of another service (Core 6.0, Vol 3, Part G, 3.2).
public struct GATTIncludedService: Hashable, Sendable {
    /// Handle of the declaration.
    public var declaration: AttributeHandle
    /// Included service.
    public var service: GATTService

    /// Creates an include declaration.
    public init(declaration: AttributeHandle, service: GATTService) {
        self.declaration = declaration
        self.service = service
    }
}

/// Properties of a characteristic (Core 6.0, Vol 3, Part G, 3.3.1.1).
public struct GATTCharacteristicProperties: OptionSet, Hashable, Sendable {
    /// Properties byte of the characteristic declaration.
    public let rawValue: UInt8

    /// Creates properties from the properties byte of the characteristic declaration.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Support for broadcasts of the value.
    public static let broadcast = GATTCharacteristicProperties(rawValue: 0x01)
    /// Support for reading the value.
    public static let read = GATTCharacteristicProperties(rawValue: 0x02)
    /// Support for writing the value without a response.
    public static let writeWithoutResponse = GATTCharacteristicProperties(rawValue: 0x04)
    /// Support for writing the value with a response.
    public static let write = GATTCharacteristicProperties(rawValue: 0x08)
    /// Support for notifications of the value.
    public static let notify = GATTCharacteristicProperties(rawValue: 0x10)
    /// Support for indications of the value.
    public static let indicate = GATTCharacteristicProperties(rawValue: 0x20)
    /// Support for writing the value with a signature.
    public static let authenticatedSignedWrites = GATTCharacteristicProperties(rawValue: 0x40)
    /// Presence of a descriptor that contains further properties.
    public static let extendedProperties = GATTCharacteristicProperties(rawValue: 0x80)
}

/// Characteristic discovered by a client (Core 6.0, Vol 3, Part G, 3.3).
public struct GATTCharacteristic: Hashable, Sendable {
    /// Handle of the declaration.
    public var declaration: AttributeHandle
    /// Handle of the value.
    public var valueHandle: AttributeHandle
    /// Last handle that can belong to the characteristic: the handle before the next declaration, or the end of the
    /// searched range.
    public var end: AttributeHandle
    /// Properties of the characteristic.
    public var properties: GATTCharacteristicProperties
    /// UUID of the characteristic.
    public var uuid: BluetoothUUID

    /// Creates a characteristic from its handles, properties and UUID.
    public init(
        declaration: AttributeHandle,
        valueHandle: AttributeHandle,
        end: AttributeHandle,
        properties: GATTCharacteristicProperties,
        uuid: BluetoothUUID
    ) {
        self.declaration = declaration
        self.valueHandle = valueHandle
        self.end = end
        self.properties = properties
        self.uuid = uuid
    }

    /// Range of handles in which the characteristic's descriptors can be; nil if the characteristic has no descriptors.
    public var descriptorHandles: AttributeHandleRange? {
        guard let start = valueHandle.next, start <= end else { return nil }
        return AttributeHandleRange(start: start, end: end)
    }
}

/// Descriptor discovered by a client (Core 6.0, Vol 3, Part G, 3.3.3).
public struct GATTDescriptor: Hashable, Sendable {
    /// Handle of the descriptor.
    public var handle: AttributeHandle
    /// UUID of the descriptor.
    public var uuid: BluetoothUUID

    /// Creates a descriptor from its handle and UUID.
    public init(handle: AttributeHandle, uuid: BluetoothUUID) {
        self.handle = handle
        self.uuid = uuid
    }
}

/// Method of sending value updates: notifications or indications (Core 6.0, Vol 3, Part G, 3.3.3.3).
public enum GATTSubscriptionKind: UInt16, Sendable, CaseIterable {
    case notifications = 0x0001
    /// Value updates that the client confirms individually.
    case indications = 0x0002
}

/// Attribute types of the GATT hierarchy (Core 6.0, Vol 3, Part G, 3.4, Table 3.15; the numbers are from Assigned
/// Numbers, 3.5 and 3.7).
public enum GATTAttributeType {
    /// Type of a primary service declaration.
    public static let primaryService: BluetoothUUID = 0x2800
    /// Type of a secondary service declaration.
    public static let secondaryService: BluetoothUUID = 0x2801
    /// Type of an include declaration.
    public static let include: BluetoothUUID = 0x2802
    /// Type of a characteristic declaration.
    public static let characteristic: BluetoothUUID = 0x2803
    /// Type of the Characteristic Extended Properties descriptor.
    public static let extendedProperties: BluetoothUUID = 0x2900
    /// Type of the Characteristic User Description descriptor.
    public static let userDescription: BluetoothUUID = 0x2901
    /// Type of the Client Characteristic Configuration descriptor, with which a client subscribes to notifications or
    /// indications.
    public static let clientConfiguration: BluetoothUUID = 0x2902
    /// Type of the Server Characteristic Configuration descriptor, for broadcasts.
    public static let serverConfiguration: BluetoothUUID = 0x2903
    /// Type of the Characteristic Presentation Format descriptor.
    public static let presentationFormat: BluetoothUUID = 0x2904

    /// 16-bit form of `primaryService` for a Find By Type Value Request.
    static let primaryService16: UInt16 = 0x2800

    /// Returns true if the type is that of a declaration; a declaration marks the end of the preceding characteristic.
    static func isDeclaration(_ type: BluetoothUUID) -> Bool {
        type == primaryService || type == secondaryService || type == include || type == characteristic
    }
}

struct GATTAttribute: Sendable, Equatable {
    enum Source: Sendable, Equatable {
        /// Value that never changes.
        case constant([UInt8])
        /// Value that the server stores and shares among all clients.
        case stored(lengths: ClosedRange<Int>)
        /// Value that the owner supplies on each request.
        case dynamic
        /// Client characteristic configuration, stored separately for each client.
        ///
        /// `value` is the handle of the characteristic's value; writes that set bits outside `allowed` are rejected.
        case configuration(value: AttributeHandle, allowed: UInt16)
    }

    var handle: AttributeHandle
    var type: BluetoothUUID
    var source: Source
    var read = GATTAccess.open
    var write = GATTAccess.never
    /// True if Write and Prepare Write Requests are accepted.
    var takesRequests = false
    var takesCommands = false
    var minimumKeySize = GATTCharacteristicDefinition.shortestKey
    /// Last handle of the group that this attribute declares, or its own handle if it does not declare a group.
    var groupEnd: AttributeHandle
    /// Kinds of value updates that clients can subscribe to: notify, indicate.
    var subscribable: GATTCharacteristicProperties = []
}

/// Immutable attributes of a server, built with `GATTDatabaseBuilder` (Core 6.0, Vol 3, Part F, 3.2 and Part G, 2.5).
public struct GATTServerDatabase: Sendable {
    /// Published service, as a client discovers it.
    public struct Service: Equatable, Sendable {
        /// Handles and UUID of the service.
        public var service: GATTService
        /// True for a primary service; false for a secondary service, which is only useful when included in another
        /// service.
        public var isPrimary: Bool
        /// Services that this service includes.
        public var includes: [GATTIncludedService]
        /// Characteristics of the service.
        public var characteristics: [Characteristic]

        /// Returns the value handle of the first characteristic with the UUID, or nil if there is none.
        public func value(of uuid: BluetoothUUID) -> AttributeHandle? {
            characteristics.first { $0.characteristic.uuid == uuid }?.characteristic.valueHandle
        }
    }

    /// Published characteristic.
    public struct Characteristic: Equatable, Sendable {
        /// Handles, properties and UUID of the characteristic.
        public var characteristic: GATTCharacteristic
        /// Descriptors, including those that the builder adds.
        public var descriptors: [GATTDescriptor]
    }

    /// Services, in ascending order of handles.
    public let services: [Service]
    /// Attributes, in ascending order of handles.
    let attributes: [GATTAttribute]
    let initialValues: [AttributeHandle: [UInt8]]

    init(services: [Service], attributes: [GATTAttribute], initialValues: [AttributeHandle: [UInt8]]) {
        self.services = services
        self.attributes = attributes
        self.initialValues = initialValues
    }

    /// Database without attributes.
    public static let empty = GATTServerDatabase(services: [], attributes: [], initialValues: [:])

    /// Number of attributes.
    public var attributeCount: Int { attributes.count }

    /// Returns the first service with the UUID, or nil if there is none.
    public func service(_ uuid: BluetoothUUID) -> Service? {
        services.first { $0.service.uuid == uuid }
    }

    func attribute(_ handle: AttributeHandle) -> GATTAttribute? {
        let index = firstIndex(atOrAbove: handle)
        guard index < attributes.count, attributes[index].handle == handle else { return nil }
        return attributes[index]
    }

    func attributes(in range: AttributeHandleRange) -> ArraySlice<GATTAttribute> {
        let start = firstIndex(atOrAbove: range.start)
        let end = range.end.next.map { firstIndex(atOrAbove: $0) } ?? attributes.count
        return start < end ? attributes[start..<end] : []
    }

    private func firstIndex(atOrAbove handle: AttributeHandle) -> Int {
        var low = 0
        var high = attributes.count
        while low < high {
            let middle = (low &+ high) / 2
            if attributes[middle].handle < handle { low = middle &+ 1 } else { high = middle }
        }
        return low
    }
}
