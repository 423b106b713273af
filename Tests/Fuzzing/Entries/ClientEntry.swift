// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets

/// The input controls a GATT client step by step: it starts procedures, receives PDUs, and lets time pass.
struct ClientEntry {
    private var client: GATTClient
    private var now = Duration.zero
    private var submitted = 0
    private var ended = 0
    private var broken: String?

    static func fault(in bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        var entry = ClientEntry(localMTU: 23 + UInt16(input.byte()) * 2)
        while !input.isAtEnd, entry.broken == nil { entry.turn(&input) }
        return entry.broken ?? entry.finish()
    }

    private init(localMTU: UInt16) {
        var limits = GATTClient.Limits()
        limits.procedures = 8
        limits.commands = 4
        client = GATTClient(localMTU: localMTU, limits: limits)
    }

    private mutating func turn(_ input: inout FuzzInput) {
        switch input.below(8) {
        case 0, 1: if (try? ClientProcedures.submit(&client, &input, now: now)) != nil { submitted += 1 }
        case 2:
            now += .milliseconds(Int(input.byte()) * 50)
            client.handleDeadline(now: now)
        case 3:
            let value = input.bytes(30)
            try? client.writeWithoutResponse(value, to: AttributeHandle(input.word()), now: now)
        case 4 where input.byte() == 0xC1: client.close()
        default: receive(input.bytes(60))
        }
        take()
    }

    private mutating func receive(_ pdu: [UInt8]) {
        switch client.receive(pdu.span, now: now) {
        case .value: if pdu.count < 3 { broken = "a value out of \(pdu)" }
        case .handled, .ignored: break
        }
    }

    private mutating func take() {
        while let event = client.nextEvent() {
            ended += 1
            guard case .success(let outcome) = event.result else { continue }
            let size = ClientProcedures.size(outcome)
            if size > client.limits.attributes { broken = "an outcome of \(size)" }
        }
        while let pdu = client.nextOutgoing() {
            if pdu.count > Int(client.mtu) { broken = "sent \(pdu.count) bytes, MTU \(client.mtu)" }
            if (try? ATTPDU(pdu.span)) == nil { broken = "sent what nobody can read" }
        }
        if ended > submitted { broken = "\(ended) ends of \(submitted) procedures" }
        if client.subscriptions.count > submitted { broken = "more subscriptions than were asked for" }
        if client.failure == nil, !client.isIdle, client.deadline == nil { broken = "waits for ever" }
    }

    /// Checks that all procedures end if the server does not respond.
    private mutating func finish() -> String? {
        for _ in 0...submitted + 2 {
            guard !client.isIdle, let deadline = client.deadline else { break }
            now = max(now, deadline)
            client.handleDeadline(now: now)
            take()
        }
        if let broken { return broken }
        return client.isIdle && ended == submitted ? nil : "\(ended) ends of \(submitted), idle: \(client.isIdle)"
    }
}

/// Procedures of a client.
enum ClientProcedures {
    static func submit(_ client: inout GATTClient, _ input: inout FuzzInput, now: Duration) throws(GATTError) {
        let kind = input.below(14)
        let handle = AttributeHandle(input.word())
        let range = AttributeHandleRange(start: handle, end: input.chance(50) ? .last : AttributeHandle(input.word()))
        let service = GATTService(handles: range, uuid: GATTAttributeType.primaryService)
        let characteristic = GATTCharacteristic(
            declaration: AttributeHandle(handle.rawValue &- 1),
            valueHandle: handle,
            end: range.end,
            properties: GATTCharacteristicProperties(rawValue: input.byte()),
            uuid: GATTAttributeType.characteristic
        )
        switch kind {
        case 0: _ = try client.exchangeMTU(now: now)
        case 1: _ = try client.discoverPrimaryServices(now: now)
        case 2: _ = try client.discoverPrimaryServices(BluetoothUUID(input.word()), now: now)
        case 3: _ = try client.discoverIncludedServices(of: service, now: now)
        case 4: _ = try client.discoverCharacteristics(of: service, now: now)
        case 5: _ = try client.discoverDescriptors(of: characteristic, now: now)
        case 6: _ = try client.subscribe(characteristic, now: now)
        case 7: _ = try client.unsubscribe(characteristic, now: now)
        case 8: _ = try client.read(handle, now: now)
        case 9: _ = try client.readLong(handle, now: now)
        case 10: _ = try client.read(BluetoothUUID(input.word()), now: now)
        case 11: _ = try client.write(input.bytes(40), to: handle, now: now)
        case 12:
            _ = try client.writeLong(
                [UInt8](repeating: input.byte(), count: input.below(256) * 2),
                to: handle,
                now: now
            )
        default:
            let values = (0...input.below(3)).map { _ in
                ATTPDU.HandleValue(handle: AttributeHandle(input.word()), value: input.bytes(40))
            }
            _ = try client.writeReliably(values, now: now)
        }
    }

    /// Returns the number of attributes or bytes in an outcome.
    static func size(_ outcome: GATTClient.Outcome) -> Int {
        switch outcome {
        case .mtu, .done, .listening: 0
        case .services(let all): all.count
        case .includedServices(let all): all.count
        case .characteristics(let all): all.count
        case .descriptors(let all): all.count
        case .value(let value): value.count
        case .values(let all): all.count
        }
    }
}
