// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport

/// Creates random databases, as far as a builder allows.
enum GATTRandomDatabase {
    static func make(_ random: inout SeededGenerator) throws -> GATTServerDatabase {
        var builder = random.chance(50) ? GATTDatabaseBuilder() : try GATTDatabaseBuilder(deviceName: "random")
        var next = UInt16(builder.database.attributeCount + 1)
        for _ in 0..<random.below(7) {
            next += UInt16(random.below(3) == 0 ? random.below(300) : 0)
            let services = builder.database.services
            var definition = GATTServiceDefinition(uuid: uuid(&random), isPrimary: random.chance(75))
            definition.includes = services.filter { _ in random.chance(20) }.map { $0.service }
            definition.characteristics = (0..<random.below(6)).map { _ in characteristic(&random) }
            let service = try builder.add(definition, at: random.chance(50) ? AttributeHandle(next) : nil)
            next = service.service.handles.end.rawValue + 1
        }
        return builder.database
    }

    static func uuid(_ random: inout SeededGenerator) -> BluetoothUUID {
        // Few different short UUIDs, so that some occur twice.
        switch random.below(3) {
        case 0: BluetoothUUID(UInt16(0x1900) + UInt16(random.below(4)))
        case 1: BluetoothUUID(UInt32(0x0001_0000) + UInt32(random.below(4)))
        default: BluetoothUUID.random(using: &random)
        }
    }

    static func characteristic(_ random: inout SeededGenerator) -> GATTCharacteristicDefinition {
        let bits = random.byte() & 0xBE
        let properties = GATTCharacteristicProperties(rawValue: bits)
        let isWritable = !properties.isDisjoint(with: [.write, .writeWithoutResponse])
        let value: GATTValueSource =
            switch random.below(isWritable ? 2 : 3) {
            case 0: .dynamic
            case 1: .stored(random.bytes(random.below(513)), lengths: 0...512)
            default: .constant(random.bytes(random.below(513)))
            }
        var definition = GATTCharacteristicDefinition(uuid: uuid(&random), properties: properties, value: value)
        definition.read = access(&random)
        definition.write = access(&random)
        for _ in 0..<random.below(3) {
            definition.descriptors.append(
                random.chance(50)
                    ? .userDescription("description")
                    : GATTDescriptorDefinition(
                        uuid: uuid(&random),
                        value: .stored(random.bytes(random.below(40)), lengths: 0...512),
                        write: .open
                    )
            )
        }
        return definition
    }

    private static func access(_ random: inout SeededGenerator) -> GATTAccess {
        random.chance(70) ? .open : GATTAccess.allCases[random.below(4)]
    }
}

/// A client and a server, each with its own bearer, connected directly.
struct GATTPair {
    var client: GATTClient
    var server: GATTServer
    var link: GATTClient
    let peer: GATTServer.PeerID
    /// Dynamic values, which the application returns immediately.
    var dynamic: [AttributeHandle: [UInt8]] = [:]
    var now = Duration.zero
    /// Number of PDUs in both directions.
    var exchanged = 0

    init(_ database: GATTServerDatabase, clientMTU: UInt16 = 517, serverMTU: UInt16 = 517) {
        client = GATTClient(localMTU: clientMTU)
        server = GATTServer(database)
        link = GATTClient(localMTU: serverMTU)
        peer = server.connect(security: GATTLinkSecurity(level: .authenticated))
    }

    /// Runs a procedure until it ends.
    mutating func run(
        _ start: (inout GATTClient, Duration) throws(GATTError) -> GATTClient.ProcedureID
    ) throws(GATTError) -> GATTClient.Outcome {
        _ = try start(&client, now)
        for _ in 0..<10_000 {
            pass()
            if let event = client.nextEvent() { return try event.result.get() }
        }
        throw GATTError.tooManyRequests(limit: 10_000)
    }

    /// Transfers all pending PDUs in both directions, and returns the unsolicited values.
    @discardableResult
    mutating func pass() -> [ATTPDU.HandleValue] {
        var values: [ATTPDU.HandleValue] = []
        while let pdu = client.nextOutgoing() {
            exchanged += 1
            _ = link.receive(pdu.span, from: peer, for: &server, now: now)
        }
        while let event = server.nextEvent() { answer(event) }
        while let pdu = link.nextOutgoing(to: peer, from: &server, now: now) {
            exchanged += 1
            switch client.receive(pdu.span, now: now) {
            case .value(let value):
                values.append(ATTPDU.HandleValue(handle: value.handle, value: Array(pdu.dropFirst(3))))
            case .handled, .ignored: break
            }
        }
        return values
    }

    private mutating func answer(_ event: GATTServer.Event) {
        switch event {
        case .read(let id, _, let handle, _): try? server.respond(to: id, with: dynamic[handle] ?? [])
        case .write(let id, _, let writes):
            for write in writes {
                dynamic[write.handle] = Array((dynamic[write.handle] ?? []).prefix(write.offset)) + write.value
            }
            try? server.accept(id)
        case .command(_, let handle, let value): dynamic[handle] = value
        default: break
        }
    }
}
