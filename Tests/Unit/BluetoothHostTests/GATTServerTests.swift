// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport
import Testing

@Suite struct GATTServerTests {
    private static let uuid = BluetoothUUID(UInt16(0x2A00))

    @Test("T24, T26: random hostile clients: bounded answers, one response a request")
    func hostileClients() throws {
        let runs = RunCount.from("BLEWEDGE_HOSTILE_CLIENTS", usual: RunCount.isOptimized ? 100_000 : 10_000)
        var sum = [0, 0, 0, 0, 0, 0]
        var target = try GATTTarget(seed: 0)
        // A hundred runs for each database, because this test is not about building databases.
        for seed in 0..<UInt64(runs) {
            if seed % 100 == 0 { target = try GATTTarget(seed: seed) }
            var clients = GATTHostileClients(seed: seed, target: target)
            if let fault = clients.run() { Issue.record("seed \(seed): \(fault)") }
            let counts = [
                clients.requests, clients.responses, clients.errors, clients.updates, clients.questions,
                clients.failedLinks,
            ]
            for (index, count) in counts.enumerated() { sum[index] += count }
        }
        print(
            "T24: \(runs) runs, \(sum[0]) requests, \(sum[1]) responses, \(sum[2]) of them errors, \(sum[3]) updates,",
            "\(sum[4]) questions, \(sum[5]) links failed"
        )
        #expect(sum[1] > runs * 4)
        #expect(sum[1] - sum[2] > runs)
        #expect(sum[3] > runs / 50)
        #expect(sum[4] > runs / 10)
    }

    private static func server(
        _ properties: [GATTCharacteristicProperties],
        _ change: (inout GATTServer.Limits) -> Void = { _ in }
    ) throws -> (GATTServer, [AttributeHandle]) {
        var limits = GATTServer.Limits()
        change(&limits)
        var builder = GATTDatabaseBuilder()
        let definitions = properties.map {
            GATTCharacteristicDefinition(uuid: uuid, properties: $0, value: .dynamic)
        }
        let service = try builder.add(GATTServiceDefinition(uuid: uuid, characteristics: definitions))
        return (
            GATTServer(builder.database, limits: limits), service.characteristics.map { $0.characteristic.valueHandle }
        )
    }

    /// Sends a request that is answered immediately.
    private static func ask(
        _ server: inout GATTServer,
        _ peer: GATTServer.PeerID,
        _ pdu: ATTPDU,
        at time: Duration = .zero
    ) -> ATTPDU? {
        server.receive(pdu, from: peer, mtu: 23, now: time)
        return server.nextOutgoing(for: peer, mtu: 23, canIndicate: false)
    }

    private static func subscribe(_ server: inout GATTServer, _ peer: GATTServer.PeerID, _ value: AttributeHandle) {
        let descriptor = AttributeHandle(value.rawValue + 1)
        #expect(ask(&server, peer, .writeRequest(descriptor, value: [1, 0])) == .writeResponse)
        #expect(server.nextEvent() == .subscribed(peer, value, .notifications))
    }

    @Test("T24: the queue of prepared writes is bounded in entries and in bytes, for each peer by itself")
    func preparedQueue() throws {
        var (server, handles) = try Self.server([.write]) { limits in
            limits.preparedWrites = 3
            limits.preparedBytes = 20
        }
        let peer = server.connect()
        let other = server.connect()
        let small = ATTPDU.prepareWriteRequest(handles[0], offset: 0, value: [1])
        let full = ATTPDU.errorResponse(request: .prepareWriteRequest, handle: handles[0], error: .prepareQueueFull)
        let echo = ATTPDU.prepareWriteResponse(handles[0], offset: 0, value: [1])
        for _ in 0..<3 { #expect(Self.ask(&server, peer, small) == echo) }
        #expect(Self.ask(&server, peer, small) == full)
        #expect(Self.ask(&server, other, small) == echo)
        let big = [UInt8](repeating: 0, count: 18)
        #expect(
            Self.ask(&server, other, .prepareWriteRequest(handles[0], offset: 0, value: big))
                == .prepareWriteResponse(handles[0], offset: 0, value: big)
        )
        #expect(Self.ask(&server, other, .prepareWriteRequest(handles[0], offset: 0, value: [1, 2])) == full)
        #expect(server.deadline == .seconds(30))
        server.disconnect(peer)
        server.disconnect(other)
        #expect(server.deadline == nil)
    }

    @Test("CB-26: a full queue says so, for each peer by itself, and tells when there is room")
    func updateQueue() throws {
        var (server, handles) = try Self.server([.notify]) { $0.updates = 4 }
        let handle = handles[0]
        let slow = server.connect()
        let fast = server.connect()
        let bystander = server.connect()
        for peer in [slow, fast] { Self.subscribe(&server, peer, handle) }
        #expect(server.subscribers(of: handle) == [slow, fast])
        for _ in 0..<4 {
            #expect(try server.update([1], of: handle) == [])
            #expect(server.nextOutgoing(for: fast, mtu: 23, canIndicate: true) != nil)
        }
        #expect(try server.update([2], of: handle) == [slow])
        #expect(try server.update([3], of: handle, for: [fast, bystander]) == [])
        for expected in [[2], [3]] as [[UInt8]] {
            #expect(
                server.nextOutgoing(for: fast, mtu: 23, canIndicate: true)
                    == .handleValueNotification(handle, value: expected)
            )
        }
        #expect(server.nextEvent() == nil)
        #expect(server.nextOutgoing(for: slow, mtu: 23, canNotify: false, canIndicate: true) == nil)
        #expect(server.nextOutgoing(for: slow, mtu: 23, canIndicate: true) != nil)
        #expect(server.nextEvent() == nil)
        #expect(server.nextOutgoing(for: slow, mtu: 23, canIndicate: true) != nil)
        #expect(server.nextEvent() == .readyToUpdate(slow))
        #expect(server.nextOutgoing(for: bystander, mtu: 23, canIndicate: true) == nil)
        #expect(throws: GATTServerError.notSubscribable(AttributeHandle(1))) {
            try server.update([1], of: AttributeHandle(1))
        }
        #expect(throws: GATTServerError.invalidLength(handle, 513)) {
            try server.update([UInt8](repeating: 0, count: 513), of: handle)
        }
        server.disconnect(slow)
        #expect(server.nextEvent() == .unsubscribed(slow, handle))
        #expect(server.subscribers(of: handle) == [fast])
    }

    @Test("CB-25: each peer has its own subscriptions, which end with its link")
    func configurations() throws {
        var (server, handles) = try Self.server([[.notify, .indicate]])
        let first = server.connect()
        Self.subscribe(&server, first, handles[0])
        let second = server.connect()
        let descriptor = AttributeHandle(handles[0].rawValue + 1)
        #expect(Self.ask(&server, second, .readRequest(descriptor)) == .readResponse(value: [0, 0]))
        #expect(Self.ask(&server, first, .readRequest(descriptor)) == .readResponse(value: [1, 0]))
        _ = try server.update([1], of: handles[0])
        #expect(Self.ask(&server, first, .writeRequest(descriptor, value: [0, 0])) == .writeResponse)
        #expect(server.nextEvent() == .unsubscribed(first, handles[0]))
        // A queued value is not sent after the client has unsubscribed.
        #expect(server.nextOutgoing(for: first, mtu: 23, canIndicate: true) == nil)
    }

    @Test("A restored subscription is reported, can be read, and receives values without a request")
    func restoredSubscription() throws {
        var (server, handles) = try Self.server([.notify, .read])
        let peer = server.connect()
        try server.restoreSubscription(.notifications, to: handles[0], of: peer)
        #expect(server.nextEvent() == .subscribed(peer, handles[0], .notifications))
        let descriptor = AttributeHandle(handles[0].rawValue + 1)
        #expect(Self.ask(&server, peer, .readRequest(descriptor)) == .readResponse(value: [1, 0]))
        #expect(try server.update([7], of: handles[0]) == [])
        #expect(
            server.nextOutgoing(for: peer, mtu: 23, canIndicate: true)
                == .handleValueNotification(handles[0], value: [7])
        )
        #expect(throws: GATTServerError.notSubscribable(handles[0])) {
            try server.restoreSubscription(.indications, to: handles[0], of: peer)
        }
        #expect(throws: GATTServerError.notSubscribable(handles[1])) {
            try server.restoreSubscription(.notifications, to: handles[1], of: peer)
        }
        server.disconnect(peer)
        try server.restoreSubscription(.notifications, to: handles[0], of: peer)
        #expect(server.subscribers(of: handles[0]).isEmpty)
    }

    @Test("T25: an answer to a peer that has gone is refused, and its question is void")
    func disconnectedQuestion() throws {
        var (server, handles) = try Self.server([[.read, .write]])
        let peer = server.connect()
        server.receive(.readRequest(handles[0]), from: peer, mtu: 23, now: .zero)
        guard case .read(let id, _, _, _) = server.nextEvent() else {
            Issue.record("no question")
            return
        }
        #expect(server.deadline == .seconds(20))
        #expect(throws: GATTServerError.wrongAnswer(id)) { try server.accept(id) }
        #expect(throws: GATTServerError.invalidLength(handles[0], 513)) {
            try server.respond(to: id, with: [UInt8](repeating: 0, count: 513))
        }
        server.disconnect(peer)
        #expect(server.nextEvent() == .requestEnded(id))
        #expect(throws: GATTServerError.unknownRequest(id)) { try server.respond(to: id, with: []) }
        #expect(server.deadline == nil)
    }

    @Test("T24: while too many events wait, requests are refused and commands dropped")
    func events() throws {
        var (server, handles) = try Self.server([[.read, .writeWithoutResponse]]) { $0.events = 10 }
        let peer = server.connect()
        for _ in 0..<100 {
            server.receive(.writeCommand(handles[0], value: [1]), from: peer, mtu: 23, now: .zero)
        }
        #expect(
            Self.ask(&server, peer, .readRequest(handles[0]))
                == .errorResponse(request: .readRequest, handle: .invalid, error: .insufficientResources)
        )
        var count = 0
        while server.nextEvent() != nil { count += 1 }
        #expect(count == 10)
    }

    @Test("A Write Command subscribes nobody, and writes no value that takes requests only")
    func commands() throws {
        var (server, handles) = try Self.server([[.notify, .write]])
        let peer = server.connect()
        let descriptor = AttributeHandle(handles[0].rawValue + 1)
        server.receive(.writeCommand(descriptor, value: [1, 0]), from: peer, mtu: 23, now: .zero)
        server.receive(.writeCommand(handles[0], value: [1]), from: peer, mtu: 23, now: .zero)
        #expect(server.nextEvent() == nil)
        #expect(server.subscribers(of: handles[0]).isEmpty)
        Self.subscribe(&server, peer, handles[0])
    }
}
