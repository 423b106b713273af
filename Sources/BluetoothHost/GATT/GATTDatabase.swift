// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// A service as a client found it (Core 6.0, Vol 3, Part G, 3.1).
public struct GATTService: Hashable, Sendable {
    /// The handles from the declaration to the service's last attribute.
    public var handles: AttributeHandleRange
    /// The service's UUID.
    public var uuid: BluetoothUUID

    /// A service of these handles.
    public init(handles: AttributeHandleRange, uuid: BluetoothUUID) {
        self.handles = handles
        self.uuid = uuid
    }
}

/// A service's include declaration: another service that it includes (Core 6.0, Vol 3, Part G, 3.2).
public struct GATTIncludedService: Hashable, Sendable {
    /// The handle of the declaration.
    public var declaration: AttributeHandle
    /// The service that is included.
    public var service: GATTService

    /// An include declaration of a service.
    public init(declaration: AttributeHandle, service: GATTService) {
        self.declaration = declaration
        self.service = service
    }
}

/// The properties of a characteristic (Core 6.0, Vol 3, Part G, 3.3.1.1).
public struct GATTCharacteristicProperties: OptionSet, Hashable, Sendable {
    /// The byte of the declaration.
    public let rawValue: UInt8

    /// The properties of a byte.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The value may be broadcast.
    public static let broadcast = GATTCharacteristicProperties(rawValue: 0x01)
    /// The value can be read.
    public static let read = GATTCharacteristicProperties(rawValue: 0x02)
    /// The value can be written without a response.
    public static let writeWithoutResponse = GATTCharacteristicProperties(rawValue: 0x04)
    /// The value can be written with a response.
    public static let write = GATTCharacteristicProperties(rawValue: 0x08)
    /// The value can be notified.
    public static let notify = GATTCharacteristicProperties(rawValue: 0x10)
    /// The value can be indicated.
    public static let indicate = GATTCharacteristicProperties(rawValue: 0x20)
    /// The value can be written with a signature.
    public static let authenticatedSignedWrites = GATTCharacteristicProperties(rawValue: 0x40)
    /// There are further properties in a descriptor.
    public static let extendedProperties = GATTCharacteristicProperties(rawValue: 0x80)
}

/// A characteristic as a client found it (Core 6.0, Vol 3, Part G, 3.3).
public struct GATTCharacteristic: Hashable, Sendable {
    /// The handle of the declaration.
    public var declaration: AttributeHandle
    /// The handle of the value.
    public var value: AttributeHandle
    /// The last handle that can belong to it: the one before the next declaration, or the searched range's last.
    public var end: AttributeHandle
    /// Its properties.
    public var properties: GATTCharacteristicProperties
    /// Its UUID.
    public var uuid: BluetoothUUID

    /// A characteristic of these handles.
    public init(
        declaration: AttributeHandle,
        value: AttributeHandle,
        end: AttributeHandle,
        properties: GATTCharacteristicProperties,
        uuid: BluetoothUUID
    ) {
        self.declaration = declaration
        self.value = value
        self.end = end
        self.properties = properties
        self.uuid = uuid
    }

    /// The handles of its descriptors; nil where there is no room for any.
    public var descriptorHandles: AttributeHandleRange? {
        guard let start = value.next, start <= end else { return nil }
        return AttributeHandleRange(start: start, end: end)
    }
}

/// A descriptor as a client found it (Core 6.0, Vol 3, Part G, 3.3.3).
public struct GATTDescriptor: Hashable, Sendable {
    /// Its handle.
    public var handle: AttributeHandle
    /// Its UUID.
    public var uuid: BluetoothUUID

    /// A descriptor of this handle.
    public init(handle: AttributeHandle, uuid: BluetoothUUID) {
        self.handle = handle
        self.uuid = uuid
    }
}

/// The way a server sends a characteristic's value unasked (Core 6.0, Vol 3, Part G, 3.3.3.3).
public enum GATTSubscriptionKind: UInt16, Sendable, CaseIterable {
    case notifications = 0x0001
    /// An indication: each value is confirmed.
    case indications = 0x0002
}

/// The attribute types by which GATT builds its hierarchy (Core 6.0, Vol 3, Part G, 3.4, Table 3.15; numbers from
/// Assigned Numbers, 3.5 and 3.7).
public enum GATTAttributeType {
    /// Declares a primary service.
    public static let primaryService: BluetoothUUID = 0x2800
    /// Declares a secondary service.
    public static let secondaryService: BluetoothUUID = 0x2801
    /// Declares that a service includes another.
    public static let include: BluetoothUUID = 0x2802
    /// Declares a characteristic.
    public static let characteristic: BluetoothUUID = 0x2803
    /// The Characteristic Extended Properties descriptor.
    public static let extendedProperties: BluetoothUUID = 0x2900
    /// The Characteristic User Description descriptor.
    public static let userDescription: BluetoothUUID = 0x2901
    /// The Client Characteristic Configuration descriptor, by which a client asks for notifications or indications.
    public static let clientConfiguration: BluetoothUUID = 0x2902
    /// The Server Characteristic Configuration descriptor, for broadcasts.
    public static let serverConfiguration: BluetoothUUID = 0x2903
    /// The Characteristic Presentation Format descriptor.
    public static let presentationFormat: BluetoothUUID = 0x2904

    /// The 16 bits of `primaryService`, as a Find By Type Value Request wants them.
    static let primaryService16: UInt16 = 0x2800

    /// True for a type that begins something new, so that no descriptor of the characteristic before it can follow.
    static func isDeclaration(_ type: BluetoothUUID) -> Bool {
        type == primaryService || type == secondaryService || type == include || type == characteristic
    }
}

struct GATTAttribute: Sendable, Equatable {
    enum Source: Sendable, Equatable {
        /// A value that never changes.
        case constant([UInt8])
        /// A value that the server keeps for all clients.
        case stored(lengths: ClosedRange<Int>)
        /// A value that the owner is asked for.
        case dynamic
        /// The configuration of each client for the characteristic value `value`; other bits than `allowed` are
        /// refused.
        case configuration(value: AttributeHandle, allowed: UInt16)
    }

    var handle: AttributeHandle
    var type: BluetoothUUID
    var source: Source
    var read = GATTAccess.open
    var write = GATTAccess.never
    /// Write and Prepare Write Requests are taken.
    var takesRequests = false
    var takesCommands = false
    var minimumKeySize = GATTCharacteristicDefinition.shortestKey
    /// The last handle of the group that this attribute declares; its own when it declares none.
    var groupEnd: AttributeHandle
    /// The ways in which a characteristic's value may be sent unasked.
    var subscribable: GATTCharacteristicProperties = []
}

/// The attributes of a server, which do not change any more; `GATTDatabaseBuilder` makes one (Core 6.0, Vol 3, Part F,
/// 3.2 and Part G, 2.5).
public struct GATTServerDatabase: Sendable {
    /// One service as it was published, in the form that a client discovers.
    public struct Service: Equatable, Sendable {
        /// Its handles and its UUID.
        public var service: GATTService
        /// False for one that makes sense only as part of another.
        public var isPrimary: Bool
        /// The services that it includes.
        public var includes: [GATTIncludedService]
        /// Its characteristics.
        public var characteristics: [Characteristic]

        /// The handle of the value of the first characteristic of a UUID.
        public func value(of uuid: BluetoothUUID) -> AttributeHandle? {
            characteristics.first { $0.characteristic.uuid == uuid }?.characteristic.value
        }
    }

    /// One characteristic as it was published.
    public struct Characteristic: Equatable, Sendable {
        /// Its handles, its properties and its UUID.
        public var characteristic: GATTCharacteristic
        /// Its descriptors, those among them that the builder added.
        public var descriptors: [GATTDescriptor]
    }

    /// Every service, by rising handles.
    public let services: [Service]
    /// Every attribute, by rising handles.
    let attributes: [GATTAttribute]
    let initialValues: [AttributeHandle: [UInt8]]

    init(services: [Service], attributes: [GATTAttribute], initialValues: [AttributeHandle: [UInt8]]) {
        self.services = services
        self.attributes = attributes
        self.initialValues = initialValues
    }

    /// A database without attributes.
    public static let empty = GATTServerDatabase(services: [], attributes: [], initialValues: [:])

    /// The number of attributes.
    public var attributeCount: Int { attributes.count }

    /// The first service of a UUID.
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
