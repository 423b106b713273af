// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import SystemPackage
import Testing

@testable import BluetoothAdapters
@testable import BluetoothLE

@Suite(.timeLimit(.minutes(10))) struct PeripheralServerTests {
    private static let service = BluetoothUUID(UInt16(0xFFE0))
    private static let dynamic = BluetoothUUID(UInt16(0xFFE1))
    private static let notified = BluetoothUUID(UInt16(0xFFE2))

    /// Returns an advertising server to which a central is connected.
    private func serving(
        _ handlers: ServerHandlers = ServerHandlers()
    ) async throws -> (BluetoothAdapter, PeripheralServer, dynamic: AttributeHandle, notified: AttributeHandle) {
        let adapter = try await BluetoothAdapter.fake()
        var builder = try GATTDatabaseBuilder(deviceName: "test")
        let service = try builder.add(
            GATTServiceDefinition(
                uuid: Self.service,
                characteristics: [
                    .init(uuid: Self.dynamic, properties: [.read, .write], value: .dynamic),
                    .init(uuid: Self.notified, properties: [.notify], value: .dynamic),
                ]
            )
        )
        let server = PeripheralServer(adapter, database: builder.database, handlers: handlers)
        try await server.advertise(.init(localName: "test", services: [Self.service]))
        try await adapter.fake { $0.onConnection?($0.makeChannel(Script.device)) }
        return (
            adapter, server, try #require(service.value(of: Self.dynamic)),
            try #require(service.value(of: Self.notified))
        )
    }

    /// Returns a request with a handle.
    private static func pdu(_ opcode: UInt8, _ handle: AttributeHandle, _ rest: [UInt8] = []) -> [UInt8] {
        [opcode, UInt8(handle.rawValue & 0xFF), UInt8(handle.rawValue >> 8)] + rest
    }

    @Test(
        "CB-22: advertised data is divided over packets of 31 bytes; data that does not fit is refused with its sizes"
    )
    func advertising() async throws {
        let (adapter, server, _, _) = try await serving()
        let advertisement = try await adapter.fake { $0.advertisement }
        #expect(advertisement?.data == [2, 1, 6, 3, 3, 0xE0, 0xFF, 5, 9] + Array("test".utf8))
        #expect(advertisement?.isConnectable == true)
        let error = await #expect(throws: BluetoothError.self) {
            try await server.advertise(.init(localName: String(repeating: "x", count: 30)))
        }
        guard case .advertisementTooLong(let failure) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.needed == 32)
        await server.stopAdvertising()
        #expect(try await adapter.fake { $0.advertisement } == nil)
        let other = PeripheralServer(adapter, database: .empty)
        await #expect(throws: BluetoothError.serverExists) { try await other.advertise(.init()) }
        withExtendedLifetime(server) {}
    }

    @Test("What only an encrypted link may read is refused until the central has encrypted it")
    func encrypted() async throws {
        let adapter = try await BluetoothAdapter.fake()
        var builder = try GATTDatabaseBuilder(deviceName: "test")
        let characteristic = GATTCharacteristicDefinition(
            uuid: Self.dynamic,
            properties: [.read],
            value: .constant([0x2A]),
            read: .encrypted
        )
        let service = try builder.add(GATTServiceDefinition(uuid: Self.service, characteristics: [characteristic]))
        let handle = try #require(service.value(of: Self.dynamic))
        let server = PeripheralServer(adapter, database: builder.database)
        try await server.advertise(.init(localName: "test", services: [Self.service]))
        try await adapter.fake { $0.onConnection?($0.makeChannel(Script.device)) }
        let read = Self.pdu(0x0A, handle)
        let refusal: [UInt8] = [0x01] + read
        // Insufficient Authentication; Insufficient Encryption if there is a key; and the value.
        let answers: [(GATTLinkSecurity, [UInt8])] = [
            (GATTLinkSecurity(), refusal + [0x05]),
            (GATTLinkSecurity(isBonded: true), refusal + [0x0F]),
            (GATTLinkSecurity(level: .encrypted, isBonded: true), [0x0B, 0x2A]),
            (GATTLinkSecurity(), refusal + [0x05]),
        ]
        for (security, answer) in answers {
            try await adapter.fake {
                $0.channels[0].security = security
                $0.channels[0].deliver(read)
            }
            #expect(try await adapter.until { $0.channels[0].sent.last == answer })
        }
        withExtendedLifetime(server) {}
    }

    @Test("Each request is answered once, by what the handlers return or throw")
    func handlers() async throws {
        let (adapter, server, dynamic, _) = try await serving(
            ServerHandlers(
                read: { (_, _) throws(ATTError) in [0x41, 0x42] },
                write: { (_, writes) throws(ATTError) in
                    if writes.first?.value == [0xFF] { throw .valueNotAllowed }
                }
            )
        )
        try await adapter.fake { $0.channels[0].deliver(Self.pdu(0x0A, dynamic)) }
        #expect(try await adapter.until { $0.channels[0].sent == [[0x0B, 0x41, 0x42]] })
        try await adapter.fake { $0.channels[0].deliver(Self.pdu(0x0C, dynamic, [0x01, 0x00])) }
        #expect(try await adapter.until { $0.channels[0].sent.last == [0x0D, 0x42] })
        try await adapter.fake { $0.channels[0].deliver(Self.pdu(0x12, dynamic, [0x01])) }
        #expect(try await adapter.until { $0.channels[0].sent.last == [0x13] })
        try await adapter.fake { $0.channels[0].deliver(Self.pdu(0x12, dynamic, [0xFF])) }
        let refusal = Self.pdu(0x01, AttributeHandle(UInt16(0x12) | (dynamic.rawValue & 0xFF) << 8))
        #expect(try await adapter.until { $0.channels[0].sent.last == refusal + [0x00, 0x13] })
        #expect(try await adapter.fake { $0.channels[0].sent.count } == 4)
        withExtendedLifetime(server) {}
    }

    @Test("A value from a handler that is longer than any can be is answered with Unlikely Error")
    func longValue() async throws {
        let handlers = ServerHandlers(read: { (_, _) throws(ATTError) in [UInt8](repeating: 0x41, count: 513) })
        let (adapter, server, dynamic, _) = try await serving(handlers)
        try await adapter.fake { $0.channels[0].deliver(Self.pdu(0x0A, dynamic)) }
        let refusal = Self.pdu(0x01, AttributeHandle(UInt16(0x0A) | (dynamic.rawValue & 0xFF) << 8))
        #expect(try await adapter.until { $0.channels[0].sent == [refusal + [0x00, 0x0E]] })
        withExtendedLifetime(server) {}
    }

    @Test("CB-25: a central subscribes, gets values until its queue is full, is ready again, and disconnects")
    func updates() async throws {
        let (adapter, server, _, notified) = try await serving()
        var events = server.events.makeAsyncIterator()
        guard case .connected(let central) = try await events.next() else {
            Issue.record("no central")
            return
        }
        #expect(central.address == Script.device)
        let configuration = AttributeHandle(notified.rawValue + 1)
        try await adapter.fake { $0.channels[0].deliver(Self.pdu(0x12, configuration, [0x01, 0x00])) }
        #expect(try await events.next() == .subscribed(central, notified, .notifications))
        #expect(await server.subscribers(of: notified) == [central.id])
        #expect(try await server.updateValue([0x07], of: notified).isEmpty)
        #expect(try await adapter.fake { $0.channels[0].sent.last } == Self.pdu(0x1B, notified, [0x07]))

        // The channel accepts nothing: the queue fills up, reports this, and reports when there is room again.
        try await adapter.fake { $0.channels[0].isWritable = false }
        var sent = 0
        while try await server.updateValue([0x08], of: notified).isEmpty, sent < 1000 { sent += 1 }
        #expect((1..<1000).contains(sent))
        try await adapter.fake { adapter in
            adapter.channels[0].isWritable = true
            adapter.channels[0].onWritable?()
        }
        #expect(try await events.next() == .readyToUpdate(central.id))
        #expect(try await adapter.fake { adapter in adapter.channels[0].sent.count { $0.first == 0x1B } } == sent + 1)

        try await adapter.fake { $0.channels[0].lose(.system(.connectionReset)) }
        #expect(try await events.next() == .unsubscribed(central.id, notified))
        #expect(try await events.next() == .disconnected(central, .byPeer))
        #expect(await server.centrals.isEmpty)
    }
}
