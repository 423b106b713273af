// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// A service as a client found it.
///
/// Core 6.0, Vol 3, Part G, 3.1.
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

/// A service's include declaration: another service that it includes.
///
/// Core 6.0, Vol 3, Part G, 3.2.
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

/// The properties of a characteristic.
///
/// Core 6.0, Vol 3, Part G, 3.3.1.1.
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

/// A characteristic as a client found it.
///
/// Core 6.0, Vol 3, Part G, 3.3.
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

/// A descriptor as a client found it.
///
/// Core 6.0, Vol 3, Part G, 3.3.3.
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

/// The way a server sends a characteristic's value unasked.
///
/// Core 6.0, Vol 3, Part G, 3.3.3.3.
public enum GATTSubscriptionKind: UInt16, Sendable, CaseIterable {
    /// A notification: not confirmed.
    case notifications = 0x0001
    /// An indication: each value is confirmed.
    case indications = 0x0002
}
