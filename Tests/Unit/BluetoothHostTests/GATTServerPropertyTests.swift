// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport
import Testing

@Suite struct GATTServerPropertyTests {
    @Test("Our client finds in 1,000 random databases of our server exactly what was built")
    func discovery() throws {
        var services = 0
        var descriptors = 0
        for seed in 0..<UInt64(RunCount.from("BLEWEDGE_RANDOM_DATABASES", usual: 1000)) {
            var random = SeededGenerator(seed: seed)
            let database = try GATTRandomDatabase.make(&random)
            let mtu = UInt16(23 + random.below(495))
            var pair = GATTPair(database, clientMTU: mtu)
            if random.chance(80) {
                #expect(try pair.run { client, now throws(GATTError) in try client.exchangeMTU(now: now) } == .mtu(mtu))
            }
            let primary = database.services.filter { $0.isPrimary }.map { $0.service }
            let found = try pair.run { client, now throws(GATTError) in try client.discoverPrimaryServices(now: now) }
            #expect(found == .services(primary), "seed \(seed)")
            for built in database.services {
                services += 1
                try Self.check(built, &pair, "seed \(seed)")
                descriptors += built.characteristics.reduce(0) { $0 + $1.descriptors.count }
            }
        }
        print("CB-21: \(services) services, \(descriptors) descriptors found as built")
        #expect(services > 2000)
        #expect(descriptors > 3000)
    }

    private static func check(
        _ built: GATTServerDatabase.Service,
        _ pair: inout GATTPair,
        _ seed: Comment
    ) throws {
        let database = pair.server.database
        let same = database.services.filter { $0.isPrimary && $0.service.uuid == built.service.uuid }
        let byUUID = try pair.run { client, now throws(GATTError) in
            try client.discoverPrimaryServices(built.service.uuid, now: now)
        }
        #expect(byUUID == .services(same.map { $0.service }), seed)
        let includes = try pair.run { client, now throws(GATTError) in
            try client.discoverIncludedServices(of: built.service, now: now)
        }
        #expect(includes == .includedServices(built.includes), seed)
        let characteristics = try pair.run { client, now throws(GATTError) in
            try client.discoverCharacteristics(of: built.service, now: now)
        }
        #expect(characteristics == .characteristics(built.characteristics.map { $0.characteristic }), seed)
        for one in built.characteristics {
            let descriptors = try pair.run { client, now throws(GATTError) in
                try client.discoverDescriptors(of: one.characteristic, now: now)
            }
            #expect(descriptors == .descriptors(one.descriptors), seed)
        }
    }

    @Test("Values of 0 to 512 bytes are the same after a long write and a long read")
    func longValues() throws {
        let uuid = BluetoothUUID(UInt16(0x2A00))
        var builder = GATTDatabaseBuilder()
        let definitions = [GATTValueSource.stored([], lengths: 0...512), .dynamic].map {
            GATTCharacteristicDefinition(uuid: uuid, properties: [.read, .write], value: $0)
        }
        let service = try builder.add(GATTServiceDefinition(uuid: uuid, characteristics: definitions))
        let handles = service.characteristics.map { $0.characteristic.valueHandle }
        var random = SeededGenerator(seed: 7)
        var compared = 0
        for mtu in [23, 24, 64, 185, 247, 257, 514, 515, 516, 517] as [UInt16] {
            var pair = GATTPair(builder.database, serverMTU: mtu)
            _ = try pair.run { client, now throws(GATTError) in try client.exchangeMTU(now: now) }
            for count in [0, 1, 17, 18, 19, 22, 100, 255, 256, 511, 512] {
                for handle in handles {
                    let value = random.bytes(count)
                    let written = try pair.run { client, now throws(GATTError) in
                        try client.writeLong(value, to: handle, now: now)
                    }
                    #expect(written == .done)
                    let read = try pair.run { client, now throws(GATTError) in
                        try client.readLong(handle, now: now)
                    }
                    #expect(read == .value(value), "MTU \(mtu), \(count) bytes")
                    compared += 1
                }
            }
        }
        #expect(compared == 220)
    }

    @Test("A reliable write of several values is all or nothing")
    func atomic() throws {
        let uuid = BluetoothUUID(UInt16(0x2A00))
        var builder = GATTDatabaseBuilder()
        let definitions = [512, 512, 3].map { longest in
            GATTCharacteristicDefinition(
                uuid: uuid,
                properties: [.read, .write],
                value: .stored([1], lengths: 0...longest)
            )
        }
        let service = try builder.add(GATTServiceDefinition(uuid: uuid, characteristics: definitions))
        let handles = service.characteristics.map { $0.characteristic.valueHandle }
        var pair = GATTPair(builder.database)
        let values = handles.map { ATTPDU.HandleValue(handle: $0, value: [9, 9, 9]) }
        let done = try pair.run { client, now throws(GATTError) in try client.writeReliably(values, now: now) }
        #expect(done == .done)
        #expect(handles.map { pair.server.value(of: $0) } == [[9, 9, 9], [9, 9, 9], [9, 9, 9]])
        let tooLong = handles.map { ATTPDU.HandleValue(handle: $0, value: [1, 2, 3, 4]) }
        #expect(
            throws: GATTError.errorResponse(
                request: .executeWriteRequest,
                handle: handles[2],
                error: .invalidAttributeValueLength
            )
        ) { try pair.run { client, now throws(GATTError) in try client.writeReliably(tooLong, now: now) } }
        #expect(handles.map { pair.server.value(of: $0) } == [[9, 9, 9], [9, 9, 9], [9, 9, 9]])
    }

    @Test("10,000 notifications and 10,000 indications arrive, each once and in order")
    func updates() throws {
        let uuid = BluetoothUUID(UInt16(0x2A00))
        var builder = GATTDatabaseBuilder()
        let definitions = [GATTCharacteristicProperties.notify, .indicate].map {
            GATTCharacteristicDefinition(uuid: uuid, properties: $0, value: .dynamic)
        }
        let service = try builder.add(GATTServiceDefinition(uuid: uuid, characteristics: definitions))
        for one in service.characteristics {
            let characteristic = one.characteristic
            var pair = GATTPair(builder.database)
            _ = try pair.run { client, now throws(GATTError) in try client.subscribe(characteristic, now: now) }
            var sent: UInt32 = 0
            var received: UInt32 = 0
            while received < 10_000 {
                while sent < 10_000 {
                    let value = withUnsafeBytes(of: sent.littleEndian) { Array($0) }
                    guard try pair.server.update(value, of: characteristic.valueHandle).isEmpty else { break }
                    sent += 1
                }
                let values = pair.pass()
                try #require(!values.isEmpty)
                for item in values {
                    try #require(item.handle == characteristic.valueHandle)
                    try #require(item.value == withUnsafeBytes(of: received.littleEndian) { Array($0) })
                    received += 1
                }
            }
            #expect(received == 10_000)
        }
    }
}
