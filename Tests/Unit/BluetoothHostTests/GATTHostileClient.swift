// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport

/// Targets of hostile clients.
struct GATTTarget {
    let database: GATTServerDatabase
    /// Handles of existing attributes.
    let handles: [AttributeHandle]
    /// Characteristics that support notifications or indications.
    let subscribable: [GATTCharacteristic]

    init(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        database = try GATTRandomDatabase.make(&random)
        handles = database.services.flatMap { service in
            [service.service.handles.start]
                + service.characteristics.flatMap { one in
                    [one.characteristic.declaration, one.characteristic.valueHandle] + one.descriptors.map { $0.handle }
                }
        }
        subscribable = database.services.flatMap { $0.characteristics }.map { $0.characteristic }
            .filter { !$0.properties.isDisjoint(with: [.notify, .indicate]) }
    }
}

/// Clients that send arbitrary PDUs to one server, whose application answers correctly, incorrectly, late or never.
struct GATTHostileClients {
    var random: SeededGenerator
    var server: GATTServer
    var now = Duration.zero
    /// Number of requests that were sent.
    var requests = 0
    var responses = 0
    /// Number of Error Responses among the responses.
    var errors = 0
    var updates = 0
    var failedLinks = 0
    var questions = 0
    private var links: [Link] = []
    private var open: [GATTServer.RequestID] = []
    private let handles: [AttributeHandle]
    private let subscribable: [GATTCharacteristic]

    private struct Link {
        var bearer = GATTClient()
        var peer: GATTServer.PeerID
        /// Request that has no response yet.
        var waiting: ATTOpcode?
    }

    init(seed: UInt64, target: GATTTarget) {
        let database = target.database
        handles = target.handles
        subscribable = target.subscribable
        random = SeededGenerator(seed: seed)
        var limits = GATTServer.Limits()
        limits.preparedWrites = 1 + random.below(8)
        limits.preparedBytes = 1 + random.below(100)
        limits.updates = 1 + random.below(4)
        limits.events = 4 + random.below(10)
        server = GATTServer(database, limits: limits)
        for _ in 0...random.below(2) { connect() }
    }

    private mutating func connect() {
        let level = GATTLinkSecurity.Level.allCases[random.below(3)]
        links.append(Link(peer: server.connect(security: GATTLinkSecurity(level: level))))
    }

    /// Sends PDUs; returns a description of the first incorrect response, or nil.
    mutating func run() -> String? {
        for _ in 0..<(5 + random.below(25)) {
            now += .milliseconds(random.below(100) == 0 ? random.below(40_000) : random.below(500))
            if let fault = send(random.below(links.count)) { return fault }
            if random.chance(90) { takeEvents() }
            if random.chance(60), !open.isEmpty { answer(open.remove(at: random.below(open.count))) }
            if random.chance(30), let characteristic = subscribable.randomElement(using: &random) {
                _ = try? server.update(random.bytes(random.below(600)), of: characteristic.valueHandle)
            }
            for index in links.indices {
                if let fault = receive(index) { return fault }
            }
            if let deadline = server.deadline, deadline <= now { server.handleDeadline(now: now) }
        }
        return finish()
    }

    /// Checks that every pending request gets a response before its deadline.
    private mutating func finish() -> String? {
        takeEvents()
        now += .seconds(20)
        server.handleDeadline(now: now)
        for index in links.indices {
            if let fault = receive(index) { return fault }
            if links[index].waiting != nil, links[index].bearer.failure == nil { return "a request without a response" }
            server.disconnect(links[index].peer)
        }
        takeEvents()
        if server.deadline != nil { return "a deadline without a peer" }
        return nil
    }

    private mutating func send(_ index: Int) -> String? {
        if links[index].bearer.failure != nil {
            failedLinks += 1
            server.disconnect(links[index].peer)
            links.remove(at: index)
            connect()
            return nil
        }
        let pdu = makePDU()
        let opcode = ATTOpcode(rawValue: pdu.first ?? 0)
        let isRequest = !pdu.isEmpty && !opcode.isCommand && (opcode.kind == .request || opcode.kind == nil)
        _ = links[index].bearer.receive(pdu.span, from: links[index].peer, for: &server, now: now)
        guard isRequest, links[index].bearer.failure == nil else { return nil }
        if links[index].waiting != nil { return "a second request was let through" }
        links[index].waiting = opcode
        requests += 1
        return nil
    }

    private mutating func receive(_ index: Int) -> String? {
        links[index].bearer.handleDeadline(now: now)
        let mtu = Int(links[index].bearer.mtu)
        while let pdu = links[index].bearer.nextOutgoing(to: links[index].peer, from: &server, now: now) {
            if pdu.count > max(mtu, 23) { return "\(pdu.count) bytes, MTU \(mtu)" }
            let opcode = ATTOpcode(rawValue: pdu[0])
            switch opcode.kind {
            case .response:
                guard let request = links[index].waiting else { return "a response to nothing" }
                links[index].waiting = nil
                responses += 1
                if opcode == .errorResponse {
                    errors += 1
                    guard pdu.count == 5, pdu[1] == request.rawValue else { return "an error about another request" }
                } else {
                    guard opcode == request.answer else { return "\(opcode) to \(request)" }
                    // A single value can fill the response to a request for several values.
                    guard opcode == .readMultipleVariableResponse || (try? ATTPDU(pdu.span)) != nil else {
                        return "unreadable \(opcode)"
                    }
                }
            case .notification, .indication: updates += 1
            case .confirmation: break
            default: return "sent \(opcode)"
            }
        }
        return nil
    }

    private mutating func takeEvents() {
        while let event = server.nextEvent() {
            switch event {
            case .read(let id, _, _, _), .write(let id, _, _):
                questions += 1
                open.append(id)
            default: break
            }
        }
    }

    private mutating func answer(_ id: GATTServer.RequestID) {
        switch random.below(5) {
        case 0: try? server.respond(to: id, with: random.bytes(random.below(600)))
        case 1: try? server.accept(id)
        case 2: try? server.refuse(id, ATTError(rawValue: random.byte()))
        case 3:
            try? server.accept(id)
            try? server.respond(to: id, with: [])
            try? server.accept(id)
        default: break
        }
    }

    private mutating func handle() -> AttributeHandle {
        guard random.chance(85), let known = handles.randomElement(using: &random) else {
            return AttributeHandle(UInt16.random(in: .min ... .max, using: &random))
        }
        return known
    }

    private mutating func makePDU() -> [UInt8] {
        if random.chance(5) { return random.bytes(random.below(40)) }
        var pdu = makeRequest().encoded
        if random.chance(10) { pdu = Array(pdu.dropLast(1 + random.below(3))) }
        if random.chance(5) { pdu += random.bytes(random.below(20)) }
        if random.chance(5), !pdu.isEmpty { pdu[random.below(pdu.count)] = random.byte() }
        return pdu
    }

    private mutating func makeRequest() -> ATTPDU {
        let first = handle()
        let range = random.chance(50) ? .all : AttributeHandleRange(start: first, end: handle())
        let types: [UInt16] = [0x2800, 0x2801, 0x2802, 0x2803, 0x2901, 0x2902, 0x1900, 0x1901]
        let type = types[random.below(types.count)]
        switch random.below(17) {
        case 0: return .exchangeMTURequest(clientReceiveMTU: UInt16(random.below(600)))
        case 1: return .findInformationRequest(range)
        case 2: return .findByTypeValueRequest(range, type: type, value: random.bytes(2))
        case 3: return .readByTypeRequest(range, type: BluetoothUUID(type))
        case 4: return .readRequest(first)
        case 5: return .readBlobRequest(first, offset: UInt16(random.below(600)))
        case 6: return .readMultipleRequest([first, handle(), handle()])
        case 7: return .readMultipleVariableRequest([first, handle(), handle()])
        case 8: return .readByGroupTypeRequest(range, type: BluetoothUUID(type))
        case 9: return .writeRequest(first, value: random.chance(50) ? [UInt8(random.below(4)), 0] : random.bytes(8))
        case 10: return .writeCommand(first, value: random.bytes(random.below(18)))
        case 11, 12:
            let offset = random.chance(50) ? 0 : UInt16(random.below(600))
            return .prepareWriteRequest(first, offset: offset, value: random.bytes(random.below(18)))
        case 13: return .executeWriteRequest(random.chance(80) ? .write : .cancel)
        case 14 where random.chance(20): return .handleValueConfirmation
        default:
            guard let characteristic = subscribable.randomElement(using: &random) else {
                return .findInformationRequest(range)
            }
            let descriptor = AttributeHandle(characteristic.valueHandle.rawValue + 1)
            return .writeRequest(descriptor, value: [UInt8(random.below(4)), 0])
        }
    }
}
