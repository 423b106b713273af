// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets

/// Database that contains every kind of attribute a client can find.
struct RichDatabase {
    static let service = uuid(0x00)
    // This UUID has 16 bits, because some clients cannot find included services with 128-bit UUIDs.
    static let included = BluetoothUUID(UInt16(0x180A))
    static let batteryService = BluetoothUUID(UInt16(0x180F))
    static let batteryLevel = BluetoothUUID(UInt16(0x2A19))

    let database: GATTServerDatabase
    let notified: AttributeHandle
    let indicated: AttributeHandle

    init(name: String) throws(GATTDatabaseError) {
        var builder = try GATTDatabaseBuilder(deviceName: name, hasServiceChanged: true)
        let inner = try builder.add(
            GATTServiceDefinition(
                uuid: Self.included,
                isPrimary: false,
                characteristics: [
                    .init(uuid: Self.uuid(0x11), properties: [.read], value: .constant(Array("included".utf8)))
                ]
            )
        )
        let service = try builder.add(
            GATTServiceDefinition(
                uuid: Self.service,
                includes: [inner.service],
                characteristics: [
                    .init(
                        uuid: Self.uuid(0x01),
                        properties: [.read, .write, .extendedProperties],
                        value: .stored((0..<512).map { UInt8($0 % 251) }, lengths: 0...512),
                        extendedProperties: .reliableWrite,
                        descriptors: [.userDescription("a long value")]
                    ),
                    .init(uuid: Self.uuid(0x02), properties: [.read, .write], value: .dynamic),
                    .init(
                        uuid: Self.uuid(0x03),
                        properties: [.notify],
                        value: .dynamic,
                        descriptors: [.presentationFormat(format: 0x1B, unit: 0x2700)]
                    ),
                    .init(uuid: Self.uuid(0x04), properties: [.indicate], value: .dynamic),
                    .init(uuid: Self.uuid(0x05), properties: [.writeWithoutResponse], value: .dynamic),
                    .init(
                        uuid: Self.uuid(0x06),
                        properties: [.read],
                        value: .constant(Array("secret".utf8)),
                        read: .encrypted
                    ),
                ]
            )
        )
        try builder.add(
            GATTServiceDefinition(
                uuid: Self.batteryService,
                characteristics: [.init(uuid: Self.batteryLevel, properties: [.read], value: .constant([87]))]
            )
        )
        database = builder.database
        notified = service.value(of: Self.uuid(0x03)) ?? .invalid
        indicated = service.value(of: Self.uuid(0x04)) ?? .invalid
    }

    private static func uuid(_ number: UInt64) -> BluetoothUUID {
        BluetoothUUID(high: 0x0000_AB00_1212_EFDE | number << 32, low: 0x1523_785F_EABC_D123)
    }

    /// Type, handle, UUID and properties of each attribute except declarations, one JSON object per line.
    var lines: [String] {
        database.services.flatMap { service in
            let kind = service.isPrimary ? "service" : "secondary"
            return [Self.line(kind, service.service.handles.start, service.service.uuid)]
                + service.includes.map { Self.line("include", $0.declaration, $0.service.uuid) }
                + service.characteristics.flatMap { item in
                    let properties = Int(item.characteristic.properties.rawValue)
                    return [
                        Self.line(
                            "characteristic",
                            item.characteristic.valueHandle,
                            item.characteristic.uuid,
                            properties
                        )
                    ] + item.descriptors.map { Self.line("descriptor", $0.handle, $0.uuid) }
                }
        }
    }

    private static func line(
        _ type: String,
        _ handle: AttributeHandle,
        _ uuid: BluetoothUUID,
        _ properties: Int = 0
    ) -> String {
        #"{"type":"\#(type)","handle":\#(handle.rawValue),"uuid":"\#(uuid)","properties":\#(properties)}"#
    }
}
