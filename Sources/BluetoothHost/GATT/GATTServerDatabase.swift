// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// One attribute of a server.
struct GATTAttribute: Sendable, Equatable {
    /// The source of the value.
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
    /// Write Commands are taken.
    var takesCommands = false
    var minimumKeySize = GATTCharacteristicDefinition.shortestKey
    /// The last handle of the group that this attribute declares; its own when it declares none.
    var groupEnd: AttributeHandle
    /// The ways in which a characteristic's value may be sent unasked.
    var subscribable: GATTCharacteristicProperties = []
}

/// The attributes of a server, which do not change any more; `GATTDatabaseBuilder` makes one.
///
/// Core 6.0, Vol 3, Part F, 3.2 and Part G, 2.5.
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
    /// The first contents of stored values.
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

    /// The attribute of a handle; nil when there is none.
    func attribute(_ handle: AttributeHandle) -> GATTAttribute? {
        let index = firstIndex(atOrAbove: handle)
        guard index < attributes.count, attributes[index].handle == handle else { return nil }
        return attributes[index]
    }

    /// The attributes of a range, by rising handles.
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
