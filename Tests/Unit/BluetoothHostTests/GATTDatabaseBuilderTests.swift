// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

@Suite struct GATTDatabaseBuilderTests {
    private static let uuid = BluetoothUUID(UInt16(0x180A))
    private static let long = [UInt8](repeating: 0, count: 513)

    @Test(
        "The Generic Access and Generic Attribute services come first, with name, appearance and Service Changed"
    )
    func genericServices() throws {
        let builder = try GATTDatabaseBuilder(deviceName: "Kiosk", appearance: 0x03C1, hasServiceChanged: true)
        let services = builder.database.services
        #expect(services.map { $0.service.uuid } == [BluetoothUUID(UInt16(0x1800)), BluetoothUUID(UInt16(0x1801))])
        #expect(services.map { $0.service.handles.start.rawValue } == [1, 6])
        var pair = GATTPair(builder.database)
        for (uuid, value) in [(UInt16(0x2A00), Array("Kiosk".utf8)), (UInt16(0x2A01), [0xC1, 0x03])] {
            let handle = try #require(services[0].value(of: BluetoothUUID(uuid)))
            let read = try pair.run { client, now throws(GATTError) in try client.read(handle, now: now) }
            #expect(read == .value(value))
        }
        let changed = try #require(services[1].characteristics.first)
        #expect(changed.characteristic.properties == .indicate)
        #expect(changed.descriptors.map { $0.uuid } == [GATTAttributeType.clientConfiguration])
        #expect(throws: GATTDatabaseError.invalidLength(BluetoothUUID.deviceName, 249)) {
            _ = try GATTDatabaseBuilder(deviceName: String(repeating: "n", count: 249))
        }
    }

    private static func add(
        _ characteristic: GATTCharacteristicDefinition,
        to builder: inout GATTDatabaseBuilder
    ) throws(GATTDatabaseError) {
        try builder.add(GATTServiceDefinition(uuid: uuid, characteristics: [characteristic]))
    }

    @Test("An invalid GATT service is rejected, and leaves nothing behind")
    func refusals() throws {
        var builder = GATTDatabaseBuilder()
        let one = BluetoothUUID(UInt16(0x2A29))
        func definition(
            _ properties: GATTCharacteristicProperties,
            _ value: GATTValueSource,
            _ descriptors: [GATTDescriptorDefinition] = []
        ) -> GATTCharacteristicDefinition {
            GATTCharacteristicDefinition(uuid: one, properties: properties, value: value, descriptors: descriptors)
        }
        let configuration = GATTDescriptorDefinition(uuid: GATTAttributeType.clientConfiguration, value: .dynamic)
        let declaration = GATTDescriptorDefinition(uuid: GATTAttributeType.characteristic, value: .dynamic)
        let cases: [(GATTCharacteristicDefinition, GATTDatabaseError)] = [
            (definition(.read, .constant(Self.long)), .invalidLength(one, 513)),
            (definition(.read, .stored([], lengths: 0...513)), .invalidLength(one, 513)),
            (definition(.read, .stored([1], lengths: 2...3)), .invalidLength(one, 1)),
            (definition([.read, .write], .constant([])), .constantIsWritable(one)),
            (definition(.writeWithoutResponse, .constant([])), .constantIsWritable(one)),
            (definition(.broadcast, .dynamic), .unsupportedProperty(one)),
            (definition(.authenticatedSignedWrites, .dynamic), .unsupportedProperty(one)),
            (definition(.read, .dynamic, [configuration]), .reservedDescriptor(configuration.uuid)),
            (definition(.read, .dynamic, [declaration]), .reservedDescriptor(declaration.uuid)),
        ]
        for (definition, error) in cases {
            let thrown = #expect(throws: GATTDatabaseError.self) { try Self.add(definition, to: &builder) }
            #expect(thrown == error)
            #expect(builder.database.attributeCount == 0)
        }
        let stranger = GATTService(handles: .all, uuid: Self.uuid)
        #expect(throws: GATTDatabaseError.unknownInclude(stranger)) {
            try builder.add(GATTServiceDefinition(uuid: Self.uuid, includes: [stranger]))
        }
        #expect(builder.database.services.isEmpty)
    }

    @Test("Handles run upwards, end at 0xFFFF, and no service is cut in two")
    func handles() throws {
        var builder = GATTDatabaseBuilder()
        let service = GATTServiceDefinition(
            uuid: Self.uuid,
            characteristics: [GATTCharacteristicDefinition(uuid: Self.uuid, properties: .read, value: .dynamic)]
        )
        #expect(throws: GATTDatabaseError.noHandle(Self.uuid)) { try builder.add(service, at: .invalid) }
        #expect(throws: GATTDatabaseError.noHandle(Self.uuid)) { try builder.add(service, at: AttributeHandle(0xFFFE)) }
        #expect(builder.database.attributeCount == 0)
        let last = try builder.add(service, at: AttributeHandle(0xFFFD))
        #expect(last.service.handles.end == .last)
        #expect(throws: GATTDatabaseError.noHandle(Self.uuid)) { try builder.add(service) }
        #expect(throws: GATTDatabaseError.noHandle(Self.uuid)) { try builder.add(service, at: AttributeHandle(0x0010)) }
        #expect(builder.database.attributeCount == 3)
    }

    @Test("The descriptors that follow from the properties come before those that were asked for")
    func descriptors() throws {
        var builder = GATTDatabaseBuilder()
        let service = try builder.add(
            GATTServiceDefinition(
                uuid: Self.uuid,
                characteristics: [
                    GATTCharacteristicDefinition(
                        uuid: Self.uuid,
                        properties: [.read, .notify, .extendedProperties],
                        value: .dynamic,
                        extendedProperties: .reliableWrite,
                        descriptors: [
                            .userDescription("grams"), .presentationFormat(format: 0x0E, exponent: -3, unit: 0x2702),
                        ]
                    )
                ]
            )
        )
        let descriptors = service.characteristics[0].descriptors
        #expect(descriptors.map { $0.uuid.shortForm16 } == [0x2900, 0x2902, 0x2901, 0x2904])
        #expect(descriptors.map { $0.handle.rawValue } == [4, 5, 6, 7])
        var pair = GATTPair(builder.database)
        let values: [[UInt8]] = [[1, 0], [0, 0], Array("grams".utf8), [0x0E, 0xFD, 0x02, 0x27, 0x01, 0x00, 0x00]]
        for (descriptor, value) in zip(descriptors, values) {
            let read = try pair.run { client, now throws(GATTError) in try client.read(descriptor.handle, now: now) }
            #expect(read == .value(value))
        }
    }

    @Test("CB-27, T26: a table of every access over every kind of link: only the allowed ones are accepted")
    func accessTable() throws {
        var builder = GATTDatabaseBuilder()
        let definitions = GATTAccess.allCases.map {
            GATTCharacteristicDefinition(
                uuid: Self.uuid,
                properties: [.read, .write],
                value: .stored([], lengths: 0...1),
                read: $0,
                write: $0,
                minimumKeySize: 16,
                descriptors: [
                    GATTDescriptorDefinition(uuid: Self.uuid, value: .stored([], lengths: 0...1), read: $0, write: $0)
                ]
            )
        }
        let service = try builder.add(GATTServiceDefinition(uuid: Self.uuid, characteristics: definitions))
        let handles = service.characteristics.map { $0.characteristic.valueHandle }
        let descriptors = service.characteristics.flatMap { $0.descriptors.map(\.handle) }
        #expect(descriptors.count == handles.count)
        // Access never, without conditions, if encrypted, and if authenticated.
        let table: [(GATTLinkSecurity, [ATTError?])] = [
            (.init(), [nil, nil, .insufficientAuthentication, .insufficientAuthentication]),
            (.init(isBonded: true), [nil, nil, .insufficientEncryption, .insufficientEncryption]),
            (.init(level: .encrypted), [nil, nil, nil, .insufficientAuthentication]),
            (.init(level: .authenticated), [nil, nil, nil, nil]),
            (
                .init(level: .encrypted, keySize: 15),
                [nil, nil, .encryptionKeySizeTooShort, .insufficientAuthentication]
            ),
            (
                .init(level: .authenticated, keySize: 15),
                [nil, nil, .encryptionKeySizeTooShort, .encryptionKeySizeTooShort]
            ),
        ]
        for (security, errors) in table {
            for (place, handle) in (handles + descriptors).enumerated() {
                let index = place % handles.count
                // A descriptor accepts keys of any size.
                let allowed: [ATTError?] = place == index ? [] : [.encryptionKeySizeTooShort]
                let refusal = allowed.contains(errors[index]) ? nil : errors[index]
                var server = GATTServer(builder.database)
                let peer = server.connect(security: security)
                for pdu in [ATTPDU.readRequest(handle), .writeRequest(handle, value: [1])] {
                    let forbidden: ATTError = pdu.opcode == .readRequest ? .readNotPermitted : .writeNotPermitted
                    server.receive(pdu, from: peer, mtu: 23, now: .zero)
                    let answer = server.nextOutgoing(for: peer, mtu: 23, canIndicate: false)
                    if let error = index == 0 ? forbidden : refusal {
                        #expect(answer == .errorResponse(request: pdu.opcode, handle: handle, error: error))
                    } else {
                        #expect(answer?.opcode == pdu.opcode.answer)
                    }
                }
            }
        }
    }
}
