// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets

/// A GATT server with two clients; its application answers correctly, incorrectly, late or never.
struct ServerEntry {
    private struct Peer {
        var bearer = GATTClient()
        var id: GATTServer.PeerID
        /// Request that has no response yet.
        var waiting: ATTOpcode?
    }

    /// Stored, dynamic and constant values with all access rights, subscriptions and descriptors.
    private static let database: GATTServerDatabase? = {
        guard var builder = try? GATTDatabaseBuilder(deviceName: "fuzz") else { return nil }
        let values: [GATTValueSource] = [
            .stored([1, 2, 3], lengths: 0...512), .dynamic, .stored([0, 0, 0, 0], lengths: 4...8),
        ]
        let properties: GATTCharacteristicProperties = [.read, .write, .writeWithoutResponse, .notify, .indicate]
        for level in [GATTAccess.open, .encrypted] {
            var characteristics = values.enumerated().map { index, value in
                GATTCharacteristicDefinition(
                    uuid: BluetoothUUID(UInt16(0x2A10 + index)),
                    properties: properties,
                    value: value,
                    read: level,
                    write: level,
                    descriptors: [.userDescription("description")]
                )
            }
            characteristics.append(
                GATTCharacteristicDefinition(
                    uuid: BluetoothUUID(UInt16(0x2A20)),
                    properties: .read,
                    value: .constant([9])
                )
            )
            let service = GATTServiceDefinition(uuid: own, characteristics: characteristics)
            guard (try? builder.add(service)) != nil else { return nil }
        }
        return builder.database
    }()
    private static let values: [AttributeHandle] =
        database?.services.filter { $0.service.uuid == own }.flatMap {
            $0.characteristics.map(\.characteristic.valueHandle)
        }
        ?? []
    private static let own = BluetoothUUID(UInt16(0x1900))

    private var server: GATTServer
    private var peers: [Peer] = []
    private var now = Duration.zero
    private var open: [GATTServer.RequestID] = []
    private var broken: String?

    static func fault(in bytes: [UInt8]) -> String? {
        guard let database else { return "no database" }
        var input = FuzzInput(bytes)
        var entry = ServerEntry(database, input.byte())
        while !input.isAtEnd, entry.broken == nil { entry.turn(&input) }
        return entry.broken ?? entry.finish()
    }

    private init(_ database: GATTServerDatabase, _ kind: UInt8) {
        var limits = GATTServer.Limits()
        limits.preparedWrites = 6
        limits.preparedBytes = kind & 1 == 0 ? 40 : 1200
        limits.updates = 2
        limits.events = 8
        server = GATTServer(database, limits: limits)
        for level in [GATTLinkSecurity.Level.none, .authenticated] {
            peers.append(Peer(id: server.connect(security: GATTLinkSecurity(level: level))))
        }
    }

    private mutating func turn(_ input: inout FuzzInput) {
        let kind = input.byte()
        let index = Int(kind >> 7)
        switch kind % 16 {
        case 0: pass(.milliseconds(Int(input.byte()) * 100))
        case 1:
            guard !open.isEmpty else { break }
            answer(open.remove(at: input.below(open.count)), &input)
        case 2:
            let value = [UInt8](repeating: 7, count: Int(input.byte()) * 3)
            if !Self.values.isEmpty { _ = try? server.update(value, of: Self.values[input.below(Self.values.count)]) }
        case 3: reconnect(index)
        case 4, 5: prepare(index, &input)
        case 6: send(index, [0x18, input.byte() & 1])
        case 7: send(index, [0x0C, input.byte(), 0, input.byte(), input.byte() & 3])
        case 8: send(index, [0x0A, input.byte(), 0])
        default: send(index, input.bytes(60))
        }
        takeEvents()
        for index in peers.indices { receive(index) }
    }

    private mutating func prepare(_ index: Int, _ input: inout FuzzInput) {
        let handle = input.byte()
        let offset = input.byte()
        let high = input.byte() & 1
        send(index, [0x16, handle, 0, offset, high] + input.bytes(18))
    }

    private mutating func reconnect(_ index: Int) {
        server.disconnect(peers[index].id)
        peers[index] = Peer(id: server.connect())
    }

    private mutating func pass(_ time: Duration) {
        now += time
        server.handleDeadline(now: now)
        for index in peers.indices { peers[index].bearer.handleDeadline(now: now) }
    }

    private mutating func send(_ index: Int, _ pdu: [UInt8]) {
        if peers[index].bearer.failure != nil { reconnect(index) }
        let opcode = ATTOpcode(rawValue: pdu.first ?? 0)
        let isRequest = !pdu.isEmpty && !opcode.isCommand && (opcode.kind == .request || opcode.kind == nil)
        _ = peers[index].bearer.receive(pdu.span, from: peers[index].id, for: &server, now: now)
        guard isRequest, peers[index].bearer.failure == nil else { return }
        if peers[index].waiting != nil { broken = "a second request was let through" }
        peers[index].waiting = opcode
    }

    private mutating func receive(_ index: Int) {
        let mtu = max(23, Int(peers[index].bearer.mtu))
        while let pdu = peers[index].bearer.nextOutgoing(to: peers[index].id, from: &server, now: now) {
            if pdu.count > mtu { broken = "\(pdu.count) bytes, MTU \(mtu)" }
            let opcode = ATTOpcode(rawValue: pdu[0])
            guard opcode.kind == .response else { continue }
            guard let request = peers[index].waiting else { return broken = "a response to nothing" }
            peers[index].waiting = nil
            if opcode == .errorResponse {
                if pdu.count != 5 || pdu[1] != request.rawValue { broken = "an error about another request" }
            } else if opcode != request.answer {
                broken = "\(opcode) to \(request)"
            }
        }
    }

    private mutating func answer(_ id: GATTServer.RequestID, _ input: inout FuzzInput) {
        switch input.below(4) {
        case 0: try? server.respond(to: id, with: [UInt8](repeating: 5, count: Int(input.byte()) * 3))
        case 1: try? server.accept(id)
        case 2: try? server.refuse(id, ATTError(rawValue: input.byte()))
        default:
            try? server.accept(id)
            try? server.respond(to: id, with: [])
        }
    }

    private mutating func takeEvents() {
        while let event = server.nextEvent() {
            switch event {
            case .read(let id, _, _, _): open.append(id)
            case .write(let id, _, let writes):
                open.append(id)
                for write in writes where write.offset + write.value.count > 512 { broken = "a write past 512 bytes" }
            case .written(_, _, let value): if value.count > 512 { broken = "a value of \(value.count) bytes" }
            default: break
            }
        }
        if open.count > 64 { open.removeFirst(open.count - 64) }
    }

    /// Checks that every pending request gets a response after enough time, and that all values are allowed.
    private mutating func finish() -> String? {
        takeEvents()
        pass(.seconds(20))
        for index in peers.indices {
            receive(index)
            if broken == nil, peers[index].waiting != nil, peers[index].bearer.failure == nil {
                return "a request without a response"
            }
            server.disconnect(peers[index].id)
        }
        takeEvents()
        for (index, handle) in Self.values.enumerated() {
            guard let value = server.value(of: handle) else { continue }
            let lengths = [0...512, 0...512, 4...8, 1...1][index % 4]
            if !lengths.contains(value.count) { return "a value of \(value.count) bytes" }
        }
        return broken ?? (server.deadline == nil ? nil : "a deadline without a peer")
    }
}
