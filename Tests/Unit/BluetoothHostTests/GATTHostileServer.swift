// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import TestSupport

extension SeededGenerator {
    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
    mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next()) }

    /// Returns random bytes, without the closure calls that make an unoptimized build slow.
    mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var place = 0
        while place < count {
            bytes[place] = byte()
            place += 1
        }
        return bytes
    }

    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}

/// Server that answers some requests plausibly and endlessly, and others arbitrarily.
struct GATTHostileServer {
    var random: SeededGenerator
    /// Percentage of plausible responses.
    var honesty: Int
    /// Percentage of silence among the other responses.
    var silence: Int
    /// True if values fill a Read Response; otherwise, they are 128-bit UUIDs.
    var hasLongValues = false
    private var offset: UInt16 = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        honesty = random.below(200) == 0 ? 100 : [0, 60, 90, 97, 99][random.below(5)]
        silence = [0, 10, 50][random.below(3)]
    }

    /// Returns the PDUs that answer a PDU of the client, in order; empty if the server is silent.
    mutating func answers(to bytes: [UInt8], mtu: Int) -> [[UInt8]] {
        guard let request = try? ATTPDU(bytes.span), request.opcode.kind == .request else { return [] }
        var all: [[UInt8]] = []
        if random.chance(10) { all += noise() }
        if random.chance(honesty) { return all + [plausible(request, mtu)] }
        if random.chance(silence) { return all }
        let response = request.opcode.answer?.rawValue ?? 0x01
        switch random.below(8) {
        case 0: all.append([response] + random.bytes(random.below(24)))
        case 1: all.append(random.bytes(random.below(24)))
        case 2: all.append([0x01, bytes[0], 0, 0, random.byte()])
        case 3: all.append([0x01, bytes[0]] + bytes.dropFirst().prefix(2) + [random.byte()])
        case 4: all.append([0x01] + random.bytes(4))
        case 5: all.append(Array(plausible(request, mtu).dropLast(1 + random.below(3))))
        case 6:
            var answer = plausible(request, mtu)
            let index = 1 + random.below(max(1, answer.count - 1))
            if index < answer.count { answer[index] = random.byte() }
            all.append(answer)
        default:
            all.append(plausible(request, mtu))
            if random.chance(20) { all.append(plausible(request, mtu)) }
        }
        return all
    }

    /// Returns notifications, indications and requests that are sent between the responses.
    private mutating func noise() -> [[UInt8]] {
        switch random.below(4) {
        case 0: [[0x1B, random.byte(), random.byte()] + random.bytes(random.below(20))]
        case 1: [[0x1D, random.byte(), random.byte()] + random.bytes(random.below(20))]
        case 2: [[[0x02, 0x04, 0x08, 0x0A, 0x10, 0x12, 0x18][random.below(7)]] + random.bytes(random.below(8))]
        default: [random.bytes(random.below(6))]
        }
    }

    /// Returns a well-formed response after which the client must always continue.
    private mutating func plausible(_ request: ATTPDU, _ mtu: Int) -> [UInt8] {
        let type = BluetoothUUID(UInt16(0x2A00))
        func low(_ handle: AttributeHandle, _ add: UInt16 = 0) -> UInt8 {
            UInt8(truncatingIfNeeded: handle.rawValue &+ add)
        }
        func high(_ handle: AttributeHandle, _ add: UInt16 = 0) -> UInt8 {
            UInt8(truncatingIfNeeded: (handle.rawValue &+ add) &>> 8)
        }
        switch request {
        case .exchangeMTURequest: return [0x03, random.byte(), 0x00]
        case .findInformationRequest(let range):
            return ATTPDU.findInformationResponse(format: .uuid16, [.init(handle: range.start, type: type)]).encoded
        case .findByTypeValueRequest(let range, _, _):
            return ATTPDU.findByTypeValueResponse([.init(start: range.start, end: range.start)]).encoded
        case .readByGroupTypeRequest(let range, _):
            return ATTPDU.readByGroupTypeResponse([
                .init(range: .init(start: range.start, end: range.start), value: [0x00, 0x18])
            ]).encoded
        case .readByTypeRequest(let range, let wanted):
            // A characteristic's declaration must follow the value of the previous characteristic.
            let handle =
                wanted == GATTAttributeType.characteristic ? range.start.next ?? range.start : range.start
            var value: [UInt8] = [1]
            if wanted == GATTAttributeType.characteristic {
                value = [0x10, low(handle, 1), high(handle, 1), 0x00, 0x2A]
            } else if wanted == GATTAttributeType.include {
                value = [low(handle), high(handle), low(handle), high(handle)]
            }
            return ATTPDU.readByTypeResponse([.init(handle: handle, value: value)]).encoded
        case .readRequest: return [0x0B] + random.bytes(hasLongValues ? mtu - 1 : 16)
        case .readBlobRequest: return [0x0D] + random.bytes(mtu - 1)
        case .writeRequest: return [0x13]
        case .prepareWriteRequest(let handle, let offset, let value):
            return ATTPDU.prepareWriteResponse(handle, offset: offset, value: value).encoded
        case .executeWriteRequest: return [0x19]
        default: return [0x01, request.opcode.rawValue, 0, 0, 6]
        }
    }
}

/// Run of a client with a hostile server, until all procedures have ended.
struct GATTHostileRun {
    var client = GATTClient()
    var server: GATTHostileServer
    var now = Duration.zero
    /// Number of requests of each procedure, in the order in which the procedures ended.
    var requests: [Int] = []
    var bytesSent = 0
    var longestAnswer = 0
    private var submitted = 0
    private var sinceLastEvent = 0

    init(seed: UInt64) {
        server = GATTHostileServer(seed: seed)
        for _ in 0...server.random.below(3) {
            // Mostly discoveries, because a server can prolong them.
            let kind = server.random.chance(40) ? server.random.below(12) : 1 + server.random.below(6)
            if (try? submit(kind)) != nil { submitted += 1 }
        }
    }

    private mutating func submit(_ kind: Int) throws(GATTError) {
        let handle = AttributeHandle(3)
        let service = GATTService(handles: .all, uuid: GATTAttributeType.primaryService)
        let characteristic = GATTCharacteristic(
            declaration: AttributeHandle(2),
            valueHandle: handle,
            end: .last,
            properties: .notify,
            uuid: GATTAttributeType.characteristic
        )
        switch kind {
        case 0: _ = try client.exchangeMTU(now: now)
        case 1: _ = try client.discoverPrimaryServices(now: now)
        case 2: _ = try client.discoverPrimaryServices(BluetoothUUID(UInt16(0x180A)), now: now)
        case 3: _ = try client.discoverIncludedServices(of: service, now: now)
        case 4: _ = try client.discoverCharacteristics(of: service, now: now)
        case 5: _ = try client.discoverDescriptors(of: characteristic, now: now)
        case 6: _ = try client.subscribe(characteristic, now: now)
        case 7: _ = try client.read(handle, now: now)
        case 8: _ = try client.readLong(handle, now: now)
        case 9: _ = try client.read(BluetoothUUID(UInt16(0x2A00)), now: now)
        case 10: _ = try client.write([1, 2, 3], to: handle, now: now)
        default: _ = try client.writeLong(server.random.bytes(server.random.below(513)), to: handle, now: now)
        }
    }

    /// Runs all procedures; returns a description of a violated limit, or nil.
    mutating func run() -> String? {
        var answers: [[UInt8]] = []
        for _ in 0..<20_000 {
            // Handles results first: the first request of the next procedure is already queued, and counts for that
            // procedure.
            while let event = client.nextEvent() {
                requests.append(sinceLastEvent)
                sinceLastEvent = 0
                if case .success(let outcome) = event.result { longestAnswer = max(longestAnswer, outcome.count) }
            }
            while let pdu = client.nextOutgoing() {
                bytesSent += pdu.count
                if pdu.count > Int(client.mtu) { return "sent \(pdu.count) bytes, MTU \(client.mtu)" }
                if (try? ATTPDU(pdu.span)) == nil { return "sent what nobody can read" }
                if ATTOpcode(rawValue: pdu[0]).kind == .request { sinceLastEvent += 1 }
                answers += server.answers(to: pdu, mtu: Int(client.mtu))
            }
            if client.isIdle { return check() }
            if answers.isEmpty {
                guard let deadline = client.deadline else { return "nothing to wait for" }
                now = deadline
                client.handleDeadline(now: now)
            } else {
                now += .milliseconds(server.random.below(100))
                let answer = answers.removeFirst()
                _ = client.receive(answer.span, now: now)
            }
        }
        return "no end"
    }

    private func check() -> String? {
        guard requests.count == submitted else { return "\(requests.count) events of \(submitted)" }
        guard requests.allSatisfy({ $0 <= client.limits.requests }) else { return "requests \(requests)" }
        guard longestAnswer <= client.limits.attributes else { return "\(longestAnswer) items" }
        guard now <= .seconds(150 * submitted) else { return "lasted \(now)" }
        return nil
    }
}

extension GATTClient.Outcome {
    /// Number of attributes or bytes in the outcome.
    var count: Int {
        switch self {
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
